// The loops on leaves, and their lambdas.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rondo/call_with.h"
#include "rondo/detail/lambda_checks.h"
#include "rondo/detail/leaves.h"
#include "rondo/loop_options.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo::detail {

/// While one exists, an error about the dtype of one of these parameters can name the initial value
/// that it comes from.
class RONDO_API CarryOrigins {
 public:
  CarryOrigins(std::span<const Tensor> parameters, const Leaves& init);
  ~CarryOrigins();
  CarryOrigins(const CarryOrigins&) = delete;
  CarryOrigins& operator=(const CarryOrigins&) = delete;
};

RONDO_API std::vector<Tensor> while_loop(const RegionCallable& cond, const RegionCallable& body,
                                         Leaves init, const WhileOptions& options,
                                         SourceLocation at);
RONDO_API std::vector<Tensor> fori_loop(const Operand& lower, const Operand& upper,
                                        const RegionCallable& body, Leaves init,
                                        const ForiOptions& options, SourceLocation at);
/// `body` returns the carry's leaves, then the y's.
RONDO_API std::vector<Tensor> scan(const RegionCallable& body, Leaves init, Leaves xs,
                                   const ScanOptions& options, SourceLocation at);
/// Like scan, with the count as the last result.
RONDO_API std::vector<Tensor> while_scan(const RegionCallable& cond, const RegionCallable& body,
                                         Leaves init, const WhileScanOptions& options,
                                         SourceLocation at);
/// Throws TraceError unless the batch size of a map is positive and its xs have one length.
RONDO_API void check_map(const Leaves& xs, const MapOptions& options, SourceLocation at);
/// f, which takes the leaves of one element, applied to batches of them.
RONDO_API std::vector<Tensor> map_in_batches(const RegionCallable& f, const Leaves& xs,
                                             const MapOptions& options, SourceLocation at);
RONDO_API std::vector<Tensor> associative_scan(
    const std::function<std::vector<Tensor>(std::span<const Tensor>, std::span<const Tensor>)>&
        combine,
    Leaves elems, const AssociativeScanOptions& options, SourceLocation at);

/// The condition of a while, on leaves.
template <class State, class Cond>
RegionCallable condition_on_leaves(Cond& cond, const State& prototype, const Leaves& init,
                                   const char* loop, SourceLocation at) {
  check_no_null_pointer(cond, loop, at);
  return [&cond, &prototype, &init, at](std::span<const Tensor> leaves) -> Leaves {
    const CarryOrigins origins(leaves, init);
    return leaves_of(call_with(cond, whole_tree_from(prototype, leaves)), "condition", at);
  };
}

/// A scan's lambda on leaves: returns carry and y, and keeps the last y as the prototype of ys.
/// `called` names the loop in errors.
template <class Traced, class Ys, class Call>
RegionCallable step_on_leaves(Call call, std::optional<Ys>& y_prototype, const char* called,
                              SourceLocation at) {
  return [call, &y_prototype, called, at](std::span<const Tensor> leaves) {
    auto result = call(leaves);
    auto& [carry, y] = result;
    Leaves out = leaves_of(tree_cast<Traced>(std::move(carry), at), "carry", at);
    Ys next_y = tree_cast<Ys>(std::move(y), at);
    Leaves ys = leaves_of(next_y, "y", at);
    if (y_prototype) {
      check_same_structure(std::string(called) + ": the y of a later trip",
                           TreeStructure::of(*y_prototype), ys.structure, "y", at);
    }
    y_prototype = std::move(next_y);
    append(out, std::move(ys));
    return out;
  };
}

}  // namespace rondo::detail
