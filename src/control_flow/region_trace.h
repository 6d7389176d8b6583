// Tracing a region of a construct from a lambda.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/region.h"
#include "rondo/loops.h"

namespace rondo::control_flow {

using detail::Leaves;
using detail::RegionCallable;

/// "while_loop 'solve'".
std::string construct_name(const char* construct, const std::string& name);

/// `slab` of `carry.slab`, for names of parameters.
std::vector<std::string> short_names(std::span<const std::string> paths);

std::vector<TensorType> types_of(std::span<const Tensor> tensors);

/// Traces a lambda on fresh parameters. The region stays open until the captures of its sibling
/// regions are known.
class RegionTrace {
 public:
  RegionTrace(std::string name, const std::string& what, std::span<const TensorType> types,
              std::span<const std::string> names, const RegionCallable& callable,
              SourceLocation at);
  /// What the lambda returned; checks may change it before finish().
  Leaves& out() { return out_; }
  ir::OpenRegion finish();

 private:
  std::unique_ptr<ir::RegionTracer> tracer_;
  Leaves out_;
};

/// Closes the regions of one construct over the union of their captures, and creates its node on
/// `operands` followed by the captures, its invariants.
std::vector<Tensor> make_construct(const ir::OpDef& op, ir::Operands operands,
                                   ir::Attributes attributes, std::vector<ir::OpenRegion> regions,
                                   SourceLocation at);

}  // namespace rondo::control_flow
