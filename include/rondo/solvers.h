// Solvers: loops that programs would write again and again, as functions of trees.
#pragma once

#include "rondo/solvers/linear.h"
#include "rondo/solvers/minimize.h"
#include "rondo/solvers/ode.h"
#include "rondo/solvers/roots.h"
