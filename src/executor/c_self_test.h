// What a program that is written as C gives on the arguments of its test.
#pragma once

#include "c/self_test.h"
#include "lower/program.h"
#include "rondo/function.h"

namespace rondo::executor {

/// `program`: the loops that the C has, with all mathematics inlined. Throws TraceError if the
/// function fails or does not end on those arguments.
c::SelfTest self_test_of(const Function& function, lower::Program program);

}  // namespace rondo::executor
