// Checks of what the user's lambdas take and return.
#pragma once

#include <string>

#include "control_flow/region_trace.h"

namespace rondo::control_flow {

/// Compares the results of a region with its inputs (paths, dtypes, shapes), after C++ scalars got
/// their dtypes. Throws TraceError that lists every leaf that differs. `what` begins the message:
/// "the body of while_loop 'solve' changes the carry".
void check_carry(const std::string& what, const Leaves& in, Leaves& out, SourceLocation at);

/// Where a value comes from, for messages: "made by add at house.cc:12", "the C++ scalar 0.5".
std::string origin(const Tensor& tensor);

/// Throws TraceError naming the first leaf that is an empty Tensor. `what` begins the message: "the
/// init of while_loop 'solve'".
void check_not_empty(const std::string& what, const Leaves& leaves, SourceLocation at);

/// Throws TraceError unless it is a scalar pred.
void check_predicate(const std::string& what, const Tensor& predicate, SourceLocation at);

}  // namespace rondo::control_flow
