// Functions as nodes: checkpointed ones, which store less for their derivative, and those with a
// custom derivative.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "control_flow/carry.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// A traced lambda whose captures are further parameters.
struct ClosedCall {
  Function function;
  std::vector<Tensor> captures;
  bool keeps = false;  // something in it runs even if its results are unused
};
ClosedCall close_call(const std::string& name, const std::string& what, const Leaves& arguments,
                      const RegionCallable& callable, SourceLocation at);

/// Operands: the arguments, then the captures. Region: the function.
extern const ir::OpDef kCheckpointCall;
/// Regions: the function, and the rule on (arguments, tangents of those that have one, captures),
/// which returns the function's results and then the tangents of those that have one.
extern const ir::OpDef kCustomJvp;
/// Regions: the function, fwd (the results, then the residuals), bwd on (residuals, cotangents of
/// the results that have one, captures), which returns one cotangent per argument.
extern const ir::OpDef kCustomVjp;

struct CustomCallAttributes {
  std::int64_t arguments = 0;  // operands before the captures
  std::string name;
  bool operator==(const CustomCallAttributes&) const = default;
};

}  // namespace rondo::control_flow
