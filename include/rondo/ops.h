// All ops, a header for each family.
#pragma once

#include "rondo/ops/arrays.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/neural.h"
#include "rondo/ops/observe.h"
#include "rondo/ops/order.h"
#include "rondo/ops/random.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/search.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/shard.h"
#include "rondo/ops/slices.h"
#include "rondo/ops/spectra.h"
#include "rondo/ops/statistics.h"
#include "rondo/ops/windows.h"
