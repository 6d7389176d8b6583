// What the constructs share: tracing a region from a user's lambda, and checking what it returned.
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

/// Compares what came out of a region with what went in (paths, dtypes, shapes), after giving C++
/// scalars their dtype. Throws TraceError that lists every leaf that differs. `what` begins the
/// message: "the body of while_loop 'solve' changes the carry".
void check_carry(const std::string& what, const Leaves& in, Leaves& out, SourceLocation at);

/// Where a value comes from, for messages: "made by add at house.cc:12", "the C++ scalar 0.5".
std::string origin(const Tensor& tensor);

/// Throws TraceError naming the first leaf that is an empty Tensor. `what` begins the message: "the
/// init of while_loop 'solve'".
void check_not_empty(const std::string& what, const Leaves& leaves, SourceLocation at);

/// A scalar pred, or TraceError.
void check_predicate(const std::string& what, const Tensor& predicate, SourceLocation at);

/// Runs a lambda on fresh parameters. The region is left open until the captures of its siblings
/// are known.
class RegionTrace {
 public:
  RegionTrace(std::string name, const std::string& what, std::span<const TensorType> types,
              std::span<const std::string> names, const RegionCallable& callable,
              SourceLocation at);
  /// What the lambda returned; checks may change it before close().
  Leaves& out() { return out_; }
  ir::OpenRegion finish();

 private:
  std::unique_ptr<ir::RegionTracer> tracer_;
  Leaves out_;
};

/// TraceError for a checkpoint policy with fewer than one slot or period, or more than fit.
void check_slots(const std::string& what, const Checkpoint& policy, SourceLocation at);
/// TraceError: the loop has the policy Checkpoint::none().
[[noreturn]] void refuse_reverse(const std::string& what, SourceLocation at);

std::vector<TensorType> types_of(std::span<const Tensor> tensors);
/// The values of lazy tensors, so that an EagerScope's loop can run on them.
void evaluate_all(Leaves& leaves, SourceLocation at);

}  // namespace rondo::control_flow
