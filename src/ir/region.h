// Tracing a region: from a lambda that has run to a closed Function.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// A region between the run of its lambda and its closing: it still refers to outer tensors
/// directly.
struct OpenRegion {
  std::string name;
  std::vector<Tensor> params;
  std::vector<Tensor> results;
  std::vector<std::string> result_names;
  std::vector<const Node*> body;  // in id order, kept alive by the results
  /// Outer tensors that the body uses, in id order; small constants are not among them. A lazy
  /// tensor always is.
  std::vector<Tensor> captures;
  bool keeps = false;  // keep() was called in it
};

/// Creates the parameters of a region and finds its body. While it exists, its parameters count as
/// being traced; tensors that depend on them may not be used afterwards.
class RegionTracer {
 public:
  /// `what` names the region in errors: "the body of while_loop 'solve'".
  RegionTracer(std::string name, std::string what, SourceLocation at);
  RegionTracer(const RegionTracer&) = delete;
  RegionTracer& operator=(const RegionTracer&) = delete;
  ~RegionTracer();

  Tensor param(TensorType type, std::string name);
  /// The lambda has returned: only finish() may use its parameters from now on.
  void seal() noexcept;
  /// Walks back from what the lambda returned. One of the results is made to depend on observers
  /// that no result needs. Throws TraceError for a tensor that escaped from another region.
  OpenRegion finish(std::vector<Tensor> results, std::vector<std::string> result_names = {});

 private:
  friend void keep(const Tensor& tensor);
  /// The lambda has returned: nodes created from now on, perhaps other regions, are not visited.
  void note_end() noexcept;

  std::string name_;
  std::shared_ptr<RegionToken> token_;
  std::vector<Tensor> params_;
  std::uint64_t made_before_;           // number of nodes of this thread
  std::uint64_t end_id_ = 0;            // the id of the next node, when the lambda returned
  std::uint64_t made_ = 0;              // nodes of this thread until then
  std::optional<BuildScope> building_;  // until it is finished
  bool sealed_ = false;
  RegionTracer* outer_ = nullptr;  // the enclosing one of this thread
  std::vector<Tensor> kept_;
};

/// Keeps an observer, or a construct with one in it, that a user's function creates: the region
/// that is being traced computes it in each run, whether its results need it or not. Does nothing
/// outside traces, where a lazy value runs when it is requested.
void keep(const Tensor& tensor);

/// " (house.cc:12)", or empty if the location is unknown; for messages.
std::string in_brackets(SourceLocation at);

/// Whether this thread is inside the lambda of a trace.
bool tracing() noexcept;

/// The captures of several regions of one node, each once, in id order.
std::vector<Tensor> union_captures(std::span<const OpenRegion> regions);

/// Closes a region over `captures` (a superset of its own), which become further parameters, in
/// this order.
Function close_region(OpenRegion region, std::span<const Tensor> captures);

/// Closes a region over the values of its captures, which become constants. Throws TraceError,
/// naming `user`, if one depends on a parameter.
Function close_over_values(OpenRegion region, SourceLocation at, const std::string& user);

/// Traces `fn` on parameters of the given types into a closed region that may capture only values:
/// a reducer, a comparator. Throws TraceError naming `what` if it captures a tensor of a trace.
Function trace_closed(std::string name, std::string what, std::span<const TensorType> types,
                      const std::function<std::vector<Tensor>(std::span<const Tensor>)>& fn,
                      SourceLocation at);

/// The most elements of a constant that is copied into a region instead of being captured.
inline constexpr std::int64_t kCopiedConstantElements = 16;

}  // namespace rondo::ir
