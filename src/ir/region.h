// Tracing a region: from a lambda that was just run to a closed Function.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// A region between the run of its lambda and its closing: it still names outer tensors directly.
struct OpenRegion {
  std::string name;
  std::vector<Tensor> params;
  std::vector<Tensor> results;
  std::vector<std::string> result_names;
  std::vector<const Node*> body;  // in id order, kept alive by the results
  /// Outer tensors that the body uses, in id order; small constants are none. A lazy tensor is
  /// always one.
  std::vector<Tensor> captures;
  bool keeps = false;  // keep() was called in it
};

/// Makes the parameters of a region and finds its body. While it lives, its parameters count as
/// being traced; tensors that depend on them may not be used after it.
class RegionTracer {
 public:
  /// `what` names the region in errors: "the body of while_loop 'solve'".
  RegionTracer(std::string name, std::string what, SourceLocation at);
  RegionTracer(const RegionTracer&) = delete;
  RegionTracer& operator=(const RegionTracer&) = delete;
  ~RegionTracer();

  Tensor param(TensorType type, std::string name);
  /// The lambda has returned: from now on its parameters may be used by finish() alone.
  void seal() noexcept;
  /// Walks back from what the lambda returned. What is kept and no result needs, one of the results
  /// comes after. Throws TraceError for a tensor that escaped from another region.
  OpenRegion finish(std::vector<Tensor> results, std::vector<std::string> result_names = {});

 private:
  friend void keep(const Tensor& tensor);
  /// The lambda has returned: what is made from now on, other regions maybe, costs nothing here.
  void note_end() noexcept;

  std::string name_;
  std::shared_ptr<RegionToken> token_;
  std::vector<Tensor> params_;
  std::uint64_t made_before_;           // nodes of this thread
  std::uint64_t end_id_ = 0;            // the number of the next node, when the lambda returned
  std::uint64_t made_ = 0;              // nodes of this thread until then
  std::optional<BuildScope> building_;  // until it is finished
  bool sealed_ = false;
  RegionTracer* outer_ = nullptr;  // of this thread, around this one
  std::vector<Tensor> kept_;
};

/// For what a user's function makes that the outside sees (an observer, a construct with one in
/// it): the region that is being traced computes it in each run, whether its results need it or
/// not. Outside traces nothing is done: what is lazy runs when it is asked for.
void keep(const Tensor& tensor);

/// " (house.cc:12)", or nothing where the place is not known: for messages.
std::string in_brackets(SourceLocation at);

/// True while this thread is inside the lambda of a trace.
bool tracing() noexcept;

/// The captures of several regions of one node, each once, in id order.
std::vector<Tensor> union_captures(std::span<const OpenRegion> regions);

/// Closes a region over `captures` (a superset of its own): they become parameters after its own
/// ones, in this order.
Function close_region(OpenRegion region, std::span<const Tensor> captures);

/// Closes a region over the values of its captures, which it has as constants then. Throws
/// TraceError, naming `user`, where one depends on a parameter.
Function close_over_values(OpenRegion region, SourceLocation at, const std::string& user);

/// Traces `fn` on parameters of the given types into a closed region that may use nothing from
/// outside but values: a reducer, a comparator. Throws TraceError naming `what` if it captures a
/// tensor of a trace.
Function trace_closed(std::string name, std::string what, std::span<const TensorType> types,
                      const std::function<std::vector<Tensor>(std::span<const Tensor>)>& fn,
                      SourceLocation at);

/// The most elements of a constant that is copied into a region in place of being captured.
inline constexpr std::int64_t kCopiedConstantElements = 16;

}  // namespace rondo::ir
