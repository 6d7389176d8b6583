// Loops and branches. Each runs its lambdas once, under the trace, and records one node; the
// lambdas may use tensors from outside. Under an EagerScope the lambdas run on each trip instead.
//
// Carries, xs, ys and operands are trees (rondo/tree.h). A lambda takes a tuple-like state whole or
// spread: [](State s) is tried before [](Tensor a, Tensor b). The same holds for the element of
// tuple-like xs, in scan as in map.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/call_with.h"
#include "rondo/detail/branches.h"
#include "rondo/detail/loops.h"
#include "rondo/loop_options.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// What while_scan returns: `count` trips (s32[]) were made; rows of ys from there on are zero.
template <class Carry, class Ys>
struct WhileScan {
  Carry carry;
  Ys ys;
  Tensor count;
};

/// while (cond(state)) state = body(state). `cond` returns one scalar pred, `body` a state of the
/// same structure, shapes and dtypes. Zero trips return init. Throws TraceError if the body changes
/// the carry's types, listing all leaves that differ.
template <class State, class Cond, class Body>
[[nodiscard("rondo: a loop changes nothing in place: it returns the last carry; use it")]] detail::
    loop_tree_t<State, Cond, Body>
    while_loop(Cond&& cond, Body&& body, const State& init, const WhileOptions& options = {},
               SourceLocation at = SourceLocation::current()) {
  using Traced = detail::loop_tree_t<State, Cond, Body>;
  if constexpr (detail::check_lambdas<detail::body_fault<Body, Traced>(),
                                      detail::condition_fault<Cond, Traced>()>()) {
    const detail::Leaves start = detail::leaves_of(init, "carry", at);
    detail::check_no_null_pointer(body, "while_loop", at);
    const detail::RegionCallable on_leaves = [&](std::span<const Tensor> leaves) {
      const detail::CarryOrigins origins(leaves, start);
      auto next = call_with(body, detail::whole_tree_from(init, leaves));
      return detail::leaves_of(tree_cast<Traced>(std::move(next), at), "carry", at);
    };
    return detail::whole_tree_from(
        init, detail::while_loop(detail::condition_on_leaves(cond, init, start, "while_loop", at),
                                 on_leaves, start, options, at));
  } else {
    return {};
  }
}

/// for (i = lower; i < upper; i += step) state = body(i, state). Bounds are C++ integers or integer
/// scalar tensors of one dtype; ForiOptions::index gives the index's dtype. C++ integers give a
/// loop with a known trip count. upper <= lower returns init. Throws TraceError if the body changes
/// the carry's types, for other bounds, and for a step or an unroll below 1.
template <class State, class Body>
[[nodiscard("rondo: a loop changes nothing in place: it returns the last carry; use it")]] detail::
    loop_tree_t<State, Body>
    fori_loop(const Operand& lower, const Operand& upper, Body&& body, const State& init,
              const ForiOptions& options = {}, SourceLocation at = SourceLocation::current()) {
  using Traced = detail::loop_tree_t<State, Body>;
  if constexpr (detail::check_lambdas<detail::body_fault<Body, Traced, Tensor>()>()) {
    const detail::Leaves start = detail::leaves_of(init, "carry", at);
    detail::check_no_null_pointer(body, "fori_loop", at);
    const detail::RegionCallable on_leaves = [&](std::span<const Tensor> leaves) {
      const detail::CarryOrigins origins(leaves.subspan(1), start);
      auto next = call_with(body, leaves[0], detail::whole_tree_from(init, leaves.subspan(1)));
      return detail::leaves_of(tree_cast<Traced>(std::move(next), at), "carry", at);
    };
    return detail::whole_tree_from(init,
                                   detail::fori_loop(lower, upper, on_leaves, start, options, at));
  } else {
    return {};
  }
}

/// for each x of xs, along an axis: (carry, y) = f(carry, x); the ys are returned stacked. f
/// returns std::pair{carry, y}. A tuple, pair or array as carry or x is passed whole, or else
/// spread: f(carry, a, b). Without xs (an empty tuple), .length is required; f then takes the carry
/// alone. An empty tuple as y means no ys. The structure, shapes and dtypes of the carry do not
/// change. Throws TraceError if they do, and if the lengths of xs differ, listing all of them.
template <class Carry, class Xs, class F>
[[nodiscard("rondo: a loop changes nothing in place: it returns the last carry; use it")]] auto
scan(F&& f, const Carry& init, const Xs& xs, const ScanOptions& options = {},
     SourceLocation at = SourceLocation::current()) {
  using Traced = detail::loop_tree_t<Carry, F>;
  using Element = detail::loop_tree_t<Xs, F>;
  if constexpr (detail::check_lambdas<detail::scan_fault<F, Traced, Element>()>()) {
    using Result = std::decay_t<call_trailing_result_t<F, Traced, Element>>;
    using Ys = traced_t<std::tuple_element_t<1, Result>>;
    std::optional<Ys> y_prototype;
    const detail::Leaves start = detail::leaves_of(init, "carry", at);
    detail::check_no_null_pointer(f, "scan", at);
    auto call = [&](std::span<const Tensor> leaves) {
      const detail::CarryOrigins origins(leaves, start);
      const auto carry = detail::tree_from(init, leaves);
      return call_with_trailing(f, carry, detail::tree_from(xs, leaves));
    };
    const std::vector<Tensor> results =
        detail::scan(detail::step_on_leaves<Traced, Ys>(call, y_prototype, "scan", at), start,
                     detail::leaves_of(xs, "xs", at), options, at);
    std::span<const Tensor> leaves(results);
    Traced carry = detail::tree_from(init, leaves);
    return std::pair<Traced, Ys>(std::move(carry), detail::tree_from(*y_prototype, leaves));
  } else {
    return std::pair<Traced, Tensor>();
  }
}

/// A scan that can stop early: while (cond(carry)) { (carry, y) = f(carry); }, for at most
/// max_trip_count trips. ys have max_trip_count rows, zero from `count` on. Throws TraceError if f
/// changes the carry's types, if cond returns no scalar pred, and for a negative max_trip_count.
template <class Carry, class Cond, class F>
[[nodiscard("rondo: a loop changes nothing in place: it returns the last carry; use it")]] auto
while_scan(Cond&& cond, F&& f, const Carry& init, const WhileScanOptions& options,
           SourceLocation at = SourceLocation::current()) {
  using Traced = detail::loop_tree_t<Carry, Cond, F>;
  if constexpr (detail::check_lambdas<detail::while_scan_fault<F, Traced>(),
                                      detail::condition_fault<Cond, Traced>()>()) {
    using Result = std::decay_t<call_result_t<F, Traced>>;
    using Ys = traced_t<std::tuple_element_t<1, Result>>;
    std::optional<Ys> y_prototype;
    const detail::Leaves start = detail::leaves_of(init, "carry", at);
    detail::check_no_null_pointer(f, "while_scan", at);
    auto call = [&](std::span<const Tensor> leaves) {
      const detail::CarryOrigins origins(leaves, start);
      return call_with(f, detail::tree_from(init, leaves));
    };
    const std::vector<Tensor> results =
        detail::while_scan(detail::condition_on_leaves(cond, init, start, "while_scan", at),
                           detail::step_on_leaves<Traced, Ys>(call, y_prototype, "while_scan", at),
                           start, options, at);
    std::span<const Tensor> leaves(results);
    Traced carry = detail::tree_from(init, leaves);
    Ys ys = detail::tree_from(*y_prototype, leaves);
    return WhileScan<Traced, Ys>{std::move(carry), std::move(ys), leaves[0]};
  } else {
    return WhileScan<Traced, Tensor>();
  }
}

/// f(x) for each x of xs along axis 0, stacked: a scan without a carry. A tuple, pair or array as x
/// is passed whole, or else spread. With a batch size, each trip computes that many of them like
/// vmap, and the remaining ones follow the last trip: faster, for the memory of a batch. Throws
/// TraceError if the lengths of xs differ and for a batch size below 1.
template <class Xs, class F>
[[nodiscard("rondo: map returns the stacked results; use them")]] auto map(
    F&& f, const Xs& xs, const MapOptions& options = {},
    SourceLocation at = SourceLocation::current()) {
  using Element = detail::loop_tree_t<Xs, F>;
  if constexpr (detail::check_lambdas<detail::map_fault<F, Element>()>()) {
    detail::check_no_null_pointer(f, "map", at);
    auto step = [&f](const std::tuple<>&, const Element& x) {
      return std::pair(std::tuple<>(), call_with(f, x));
    };
    using Ys = traced_t<std::decay_t<call_result_t<F, Element>>>;
    const detail::Leaves all = detail::leaves_of(xs, "xs", at);
    detail::check_map(all, options, at);
    if (options.batch_size.value_or(1) == 1) {
      ScanOptions scan_options;
      scan_options.name = options.name;
      return Ys(scan(step, std::tuple<>(), xs, scan_options, at).second);
    }
    std::optional<Ys> prototype;
    const auto of_one = [&](std::span<const Tensor> leaves) {
      prototype = tree_cast<Ys>(call_with(f, detail::tree_from(xs, leaves)), at);
      return detail::leaves_of(*prototype, "y", at);
    };
    const std::vector<Tensor> results = detail::map_in_batches(of_one, all, options, at);
    std::span<const Tensor> leaves(results);
    return Ys(detail::tree_from(*prototype, leaves));
  } else {
    return Tensor();
  }
}

/// pred ? true_fn(operands...) : false_fn(operands...). Both are traced; one runs. Their results
/// must agree in structure, shapes and dtypes; otherwise TraceError names both branches, the path
/// and both types.
template <class TrueFn, class FalseFn, class... Operands>
[[nodiscard("rondo: cond changes nothing in place: it returns a branch's result; use it")]] auto
cond(const Operand& pred, TrueFn&& true_fn, FalseFn&& false_fn, const Operands&... operands) {
  if constexpr (detail::check_branch<detail::branch_fault<TrueFn, Operands...>()>()) {
    using Out = detail::branch_result_t<TrueFn, Operands...>;
    if constexpr (detail::check_later_branch<FalseFn, Out, Operands...>()) {
      std::optional<Out> prototype;
      const detail::RegionCallable branches[] = {
          detail::branch_on_leaves<Out>(true_fn, prototype, "cond", pred.at(), operands...),
          detail::branch_on_leaves<Out>(false_fn, prototype, "cond", pred.at(), operands...)};
      const std::vector<Tensor> results =
          detail::branch(pred, detail::BranchKind::kCond, branches,
                         detail::operand_leaves(pred.at(), operands...));
      return detail::whole_tree_from(*prototype, results);
    } else {
      return Out();
    }
  } else {
    return Tensor();
  }
}

/// branches[index](operands...), with the index clamped to the first and the last branch. The index
/// is an integer scalar, `branches` a tuple or a vector of callables. Throws TraceError if their
/// results differ, naming both branches, and for no branches.
template <class Branches, class... Operands>
[[nodiscard("rondo: switch_case returns a branch's result; use it")]] auto switch_case(
    const Operand& index, Branches&& branches, const Operands&... operands) {
  auto run = [&]<class Out>(std::type_identity<Out>, auto&& for_each_branch) {
    std::optional<Out> prototype;
    std::vector<detail::RegionCallable> callables;
    for_each_branch([&](auto& branch) {
      if constexpr (detail::check_later_branch<decltype(branch), Out, Operands...>()) {
        callables.push_back(detail::branch_on_leaves<Out>(branch, prototype, "switch_case",
                                                          index.at(), operands...));
      }
    });
    const std::vector<Tensor> results =
        detail::branch(index, detail::BranchKind::kSwitchCase, callables,
                       detail::operand_leaves(index.at(), operands...));
    return detail::whole_tree_from(*prototype, results);
  };
  if constexpr (requires { branches.begin(); }) {
    using First = decltype(*branches.begin());
    if constexpr (detail::check_branch<detail::branch_fault<First, Operands...>()>()) {
      return run(std::type_identity<detail::branch_result_t<First, Operands...>>{},
                 [&](auto&& add) {
                   for (auto& branch : branches) add(branch);
                 });
    } else {
      return Tensor();
    }
  } else if constexpr (!requires { std::tuple_size<std::remove_cvref_t<Branches>>::value; }) {
    static_assert(!sizeof(Branches),
                  "rondo: switch_case takes its branches as one std::tuple or std::vector: "
                  "switch_case(index, std::tuple(f, g), operands...)");
    return Tensor();
  } else if constexpr (std::tuple_size_v<std::remove_cvref_t<Branches>> == 0) {
    static_assert(!sizeof(Branches), "rondo: switch_case needs a branch");
    return Tensor();
  } else {
    using First = decltype(std::get<0>(branches));
    if constexpr (detail::check_branch<detail::branch_fault<First, Operands...>()>()) {
      return run(
          std::type_identity<detail::branch_result_t<First, Operands...>>{},
          [&](auto&& add) { std::apply([&](auto&... each) { (add(each), ...); }, branches); });
    } else {
      return Tensor();
    }
  }
}

/// All prefixes elems[0], combine(elems[0], elems[1]), ... along an axis, in logarithmic depth.
/// `combine` is associative; it gets slices stacked along the axis and must work elementwise there.
/// Throws TraceError if the lengths of elems differ or combine changes a type.
template <class T, class Combine>
[[nodiscard("rondo: associative_scan returns the prefixes; use them")]] traced_t<T>
associative_scan(Combine&& combine, const T& elems, const AssociativeScanOptions& options = {},
                 SourceLocation at = SourceLocation::current()) {
  using Traced = traced_t<T>;
  static_assert(
      std::is_invocable_v<Combine&, Traced, Traced>,
      "rondo: combine of associative_scan takes two trees like elems, and returns a third");
  detail::check_has_function(combine, "associative_scan", at);
  auto on_leaves = [&](std::span<const Tensor> a, std::span<const Tensor> b) {
    auto result = combine(detail::whole_tree_from(elems, a), detail::whole_tree_from(elems, b));
    static_assert(TreeConvertible<decltype(result), Traced>,
                  "rondo: combine must return a tree like its arguments");
    detail::Leaves out = detail::leaves_of(tree_cast<Traced>(std::move(result), at), "elems", at);
    detail::check_same_structure("associative_scan: the result of combine",
                                 TreeStructure::of(elems), out.structure, "elems", at);
    return out.values;
  };
  return detail::whole_tree_from(
      elems,
      detail::associative_scan(on_leaves, detail::leaves_of(elems, "elems", at), options, at));
}

}  // namespace rondo
