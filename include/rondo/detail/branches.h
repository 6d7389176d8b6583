// Branches on leaves, what is wrong with one, and the messages about it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_with.h"
#include "rondo/detail/lambda_checks.h"
#include "rondo/detail/leaves.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo::detail {

/// Which construct has the branches: its selector is a pred or an index.
enum class BranchKind { kCond, kSwitchCase };

/// The branches of a cond are {true, false}.
RONDO_API std::vector<Tensor> branch(const Operand& selector, BranchKind kind,
                                     std::span<const RegionCallable> branches, Leaves operands);

/// Branches on leaves, all with the result structure `Out`; the last one called stores its tree as
/// the prototype.
template <class Out, class F, class... Operands>
RegionCallable branch_on_leaves(F& f, std::optional<Out>& prototype, const char* called,
                                SourceLocation at, const Operands&... operands) {
  check_no_null_pointer(f, called, at);
  return [&f, &prototype, at, &operands...]([[maybe_unused]] std::span<const Tensor> leaves) {
    const std::tuple<traced_t<Operands>...> arguments{tree_from(operands, leaves)...};
    prototype = tree_cast<Out>(std::apply(f, arguments), at);
    return leaves_of(*prototype, "result", at);
  };
}

template <class F, class... Operands>
using branch_result_t = traced_t<std::invoke_result_t<F&, const traced_t<Operands>&...>>;

enum class BranchFault { kNone, kTensor, kNotTaken, kNumber, kVoid, kNoTree, kBody };

template <class F, class... Operands>
constexpr BranchFault branch_fault() {
  using Branch = std::remove_reference_t<F>;
  if constexpr (kIsTree<std::remove_cv_t<Branch>>) {
    return BranchFault::kTensor;
  } else if constexpr (!kTakes<Branch, const traced_t<Operands>&...>) {
    return not_taken<F>() == LambdaFault::kNumber ? BranchFault::kNumber : BranchFault::kNotTaken;
  } else if constexpr (!std::is_invocable_v<Branch&, const traced_t<Operands>&...>) {
    return BranchFault::kBody;
  } else {
    using Result = std::invoke_result_t<Branch&, const traced_t<Operands>&...>;
    if constexpr (std::is_void_v<Result>)
      return BranchFault::kVoid;
    else if constexpr (!kIsTree<std::remove_cvref_t<Result>>)
      return BranchFault::kNoTree;
    else
      return BranchFault::kNone;
  }
}

/// Does not compile if there is a fault, with the reason; like check_call.
template <BranchFault kFault>
constexpr bool check_branch() {
  static_assert(kFault != BranchFault::kTensor,
                "rondo: cond takes two functions, and switch_case a tuple of them; for tensors use "
                "where: rondo::where(pred, x, y)");
  static_assert(kFault != BranchFault::kNotTaken,
                "rondo: a branch does not take the operands: it needs one parameter per operand, "
                "by value or by reference to const; without operands it has none and captures what "
                "it uses");
  static_assert(kFault != BranchFault::kNumber,
                "rondo: a parameter of a branch is a C++ number, and it is called with Tensors: "
                "write rondo::Tensor in its place");
  static_assert(kFault != BranchFault::kVoid,
                "rondo: a branch must return a tree of tensors: this one returns nothing; add a "
                "return statement");
  static_assert(kFault != BranchFault::kNoTree,
                "rondo: a branch must return a tree of tensors: what this one returns is none");
  return kFault == BranchFault::kNone;
}

/// Does not compile unless a branch returns the same structure as the first one.
template <class F, class Out, class... Operands>
constexpr bool check_later_branch() {
  if constexpr (check_branch<branch_fault<F, Operands...>()>()) {
    constexpr bool same =
        TreeConvertible<std::invoke_result_t<F&, const traced_t<Operands>&...>, Out>;
    static_assert(same, "rondo: all branches must return the same tree: this one returns another");
    return same;
  } else {
    return false;
  }
}

template <class... Operands>
Leaves operand_leaves(SourceLocation at, const Operands&... operands) {
  Leaves all;
  std::size_t index = 0;
  [[maybe_unused]] auto add = [&](const auto& operand) {
    append(all, leaves_of(operand, "operand[" + std::to_string(index++) + "]", at));
  };
  (add(operands), ...);
  return all;
}

}  // namespace rondo::detail
