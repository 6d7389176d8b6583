// Loops and branches. Each runs its lambdas once, under the trace, and records one node; the
// lambdas may use tensors from outside. Under an EagerScope the lambdas run on each trip instead.
//
// Carries, xs, ys and operands are trees (rondo/tree.h). A lambda takes a tuple-like state whole or
// spread: [](State s) is tried before [](Tensor a, Tensor b). The same holds for the element of
// tuple-like xs, in scan as in map.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/call_with.h"
#include "rondo/checkpoint.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// For `.unroll`: unrolls the loop completely.
inline constexpr std::int64_t kUnrollAll = -1;

struct WhileOptions {
  /// A promise: more trips are an ExecutionError, and NaN in emitted text.
  std::optional<std::int64_t> max_trip_count = std::nullopt;
  Checkpoint checkpoint = {};
  std::string name = {};
};

struct ForiOptions {
  std::int64_t step = 1;    // positive
  std::int64_t unroll = 1;  // bodies per trip, or kUnrollAll
  bool reverse = false;     // the same indices, from the last to the first
  Checkpoint checkpoint = {};
  std::string name = {};
  /// The index's dtype, an integer one, to which the bounds are converted. Default: that of bounds
  /// that are tensors; for C++ integers, whatever their type, s32 if both fit, else s64.
  std::optional<DType> index = std::nullopt;
};

struct ScanOptions {
  std::optional<std::int64_t> length = std::nullopt;  // needed without xs
  bool reverse = false;                               // from the end; ys[i] still belongs to xs[i]
  std::int64_t unroll = 1;                            // bodies per trip, or kUnrollAll
  std::int64_t axis = 0;                              // of xs and ys
  Checkpoint checkpoint = {};
  std::string name = {};
};

struct MapOptions {
  std::optional<std::int64_t> batch_size = std::nullopt;  // elements per trip, as lanes of a vmap
  std::string name = {};
};

struct AssociativeScanOptions {
  bool reverse = false;
  std::int64_t axis = 0;
};

struct WhileScanOptions {
  std::int64_t max_trip_count = -1;  // the most trips, and the leading size of ys; required
  Checkpoint checkpoint = {};
  std::string name = {};
};

/// What while_scan returns: `count` trips (s32[]) were made; rows of ys from there on are zero.
template <class Carry, class Ys>
struct WhileScan {
  Carry carry;
  Ys ys;
  Tensor count;
};

namespace detail {

/// The leaves of a tree.
struct Leaves {
  std::vector<Tensor> values;
  std::vector<std::string> paths;
  TreeStructure structure = {};  // of the tree that a user passed or returned; else empty
};
/// Appends the values and paths of `more`.
RONDO_API void append(Leaves& all, Leaves more);
/// While one exists, an error about the dtype of one of these parameters can name the initial value
/// that it comes from.
class RONDO_API CarryOrigins {
 public:
  CarryOrigins(std::span<const Tensor> parameters, const Leaves& init);
  ~CarryOrigins();
  CarryOrigins(const CarryOrigins&) = delete;
  CarryOrigins& operator=(const CarryOrigins&) = delete;
};

/// A user's lambda on leaves.
using RegionCallable = std::function<Leaves(std::span<const Tensor>)>;

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
/// The branches of a cond are {true, false}.
RONDO_API std::vector<Tensor> branch(const Operand& selector, bool is_switch,
                                     std::span<const RegionCallable> branches, Leaves operands);
RONDO_API std::vector<Tensor> associative_scan(
    const std::function<std::vector<Tensor>(std::span<const Tensor>, std::span<const Tensor>)>&
        combine,
    Leaves elems, const AssociativeScanOptions& options, SourceLocation at);

/// Literals and C++ scalars among the leaves are recorded as created at `at`.
template <class Tree>
Leaves leaves_of(const Tree& tree, std::string_view root, SourceLocation at) {
  Leaves leaves;
  for_each_leaf(tree, [&]<class Leaf>(const Leaf& leaf) {
    if constexpr (std::is_same_v<Leaf, Tensor>)
      leaves.values.push_back(leaf);
    else
      leaves.values.push_back(Tensor(leaf, at));
  });
  leaves.structure = TreeStructure::of(tree);
  leaves.paths = leaves.structure.leaf_paths(root);
  return leaves;
}

/// A tree like `prototype` from the leaves at `next`, which is advanced past them.
template <class Tree>
auto tree_from(const Tree& prototype, std::span<const Tensor>& next) {
  return rebuild_tree<Tensor>(prototype, [&] {
    Tensor leaf = next.front();
    next = next.subspan(1);
    return leaf;
  });
}
template <class Tree>
auto whole_tree_from(const Tree& prototype, std::span<const Tensor> leaves) {
  return tree_from(prototype, leaves);
}

template <class T>
inline constexpr bool kIsPair = false;
template <class A, class B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;
template <class A, class B>
inline constexpr bool kIsPair<std::tuple<A, B>> = true;

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

// Errors in a lambda of a loop.
enum class LambdaFault {
  kNone,
  kNoFunction,
  kNotTaken,
  kXsNotTaken,       // of a scan that takes the carry
  kElementNotTaken,  // of a map
  kNumber,
  kVoid,
  kAnotherTree,
  kNoPair,
  kNoPredicate,
};

// A lambda that cannot be called with these trees, because of the types or the number of its
// parameters.
template <class F>
constexpr LambdaFault not_taken() {
  using Parameters = parameters_t<std::decay_t<F>>;
  if constexpr (!std::is_void_v<Parameters>) {
    if constexpr (any_number(Parameters{})) return LambdaFault::kNumber;
  }
  return LambdaFault::kNotTaken;
}

// A tree where a function is expected: arguments in another order.
template <class F>
inline constexpr bool kIsNoFunction = kIsTree<std::decay_t<F>>;

// The traced form of a tree that is passed to a loop. If a function is none, any type will do, so
// that this is the only error.
template <class Tree, class... Functions>
using loop_tree_t =
    typename std::conditional_t<(kIsNoFunction<Functions> || ...), std::type_identity<Tensor>,
                                Replacement<std::decay_t<Tree>, Tensor>>::type;

template <class F, class State, class... Leading>
constexpr LambdaFault body_fault() {
  if constexpr (kIsNoFunction<F>) {
    return LambdaFault::kNoFunction;
  } else if constexpr (!CallableWith<F, Leading..., State>) {
    return not_taken<F>();
  } else {
    using Result = call_result_t<F, Leading..., State>;
    if constexpr (std::is_void_v<Result>)
      return LambdaFault::kVoid;
    else if constexpr (!TreeConvertible<Result, State>)
      return LambdaFault::kAnotherTree;
    else
      return LambdaFault::kNone;
  }
}

template <class F, class State>
constexpr LambdaFault condition_fault() {
  if constexpr (kIsNoFunction<F>) {
    return LambdaFault::kNoFunction;
  } else if constexpr (!CallableWith<F, State>) {
    return not_taken<F>();
  } else if constexpr (!std::is_convertible_v<call_result_t<F, State>, Tensor>) {
    return LambdaFault::kNoPredicate;
  } else {
    return LambdaFault::kNone;
  }
}

/// Does not compile if there is a fault, with the reason; like check_call.
template <LambdaFault kBody, LambdaFault kCondition = LambdaFault::kNone>
constexpr bool check_lambdas() {
  static_assert(kCondition != LambdaFault::kNoFunction && kBody != LambdaFault::kNoFunction,
                "rondo: a tree of tensors stands where a loop takes a function: functions come "
                "first, as in while_loop(cond, body, init), fori_loop(lower, upper, body, init), "
                "scan(f, init, xs), map(f, xs)");
  static_assert(kCondition != LambdaFault::kNotTaken,
                "rondo: the condition does not take the state: give it one parameter of the "
                "state's type, by value or by reference to const, or one for each element of a "
                "tuple state");
  static_assert(kCondition != LambdaFault::kNumber && kBody != LambdaFault::kNumber,
                "rondo: a parameter of a loop's lambda is a C++ number, and it is called with "
                "Tensors, which have no value while it is traced: write rondo::Tensor in its "
                "place");
  static_assert(kCondition != LambdaFault::kNoPredicate,
                "rondo: the condition of a while_loop must return one tensor, a scalar pred");
  static_assert(kBody != LambdaFault::kNotTaken,
                "rondo: the body does not take the state: give it (after the index of a "
                "fori_loop, before the element of a scan) one parameter of the state's type, by "
                "value or by reference to const, or one for each element of a tuple state; a "
                "std::vector is a tree of its elements: rondo::constant(v) makes one Tensor of "
                "numbers");
  static_assert(kBody != LambdaFault::kXsNotTaken,
                "rondo: the function of a scan takes the carry but not the element of xs after it: "
                "give it one parameter more of the type of that element, by value or by reference "
                "to const, or one for each element of tuple xs (none where xs are an empty tuple); "
                "a std::vector is a tree of its elements: rondo::constant(v) makes one Tensor of "
                "numbers");
  static_assert(kBody != LambdaFault::kElementNotTaken,
                "rondo: the function of map does not take an element of xs: give it one parameter "
                "of the type of that element, by value or by reference to const, or one for each "
                "element of tuple xs; a std::vector is a tree of its elements: rondo::constant(v) "
                "makes one Tensor of numbers");
  static_assert(kBody != LambdaFault::kVoid,
                "rondo: the body must return the carry's type: this one returns nothing; add a "
                "return statement");
  static_assert(kBody != LambdaFault::kAnotherTree,
                "rondo: the body must return the carry's type: this one returns another tree than "
                "init");
  static_assert(kBody != LambdaFault::kNoPair,
                "rondo: the body must return the carry's type: the function of a scan returns "
                "std::pair{carry, y}, with a carry like init");
  return kBody == LambdaFault::kNone && kCondition == LambdaFault::kNone;
}

}  // namespace detail

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

namespace detail {

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

template <class Result, class Traced>
constexpr LambdaFault step_result_fault() {
  if constexpr (!kIsPair<Result>)
    return LambdaFault::kNoPair;
  else if constexpr (!TreeConvertible<std::tuple_element_t<0, Result>, Traced>)
    return LambdaFault::kNoPair;
  else
    return LambdaFault::kNone;
}

template <class F, class Carry, class Xs>
constexpr LambdaFault scan_fault() {
  using Parameters = parameters_t<F>;
  constexpr bool takes_carry = kBeginsWith<Parameters, Arguments<Carry>> ||
                               kBeginsWith<Parameters, typename Spread<Carry>::Elements>;
  if constexpr (kIsNoFunction<F>)
    return LambdaFault::kNoFunction;
  else if constexpr (!CallableWithTrailing<F, Carry, Xs>)
    return takes_carry && not_taken<F>() == LambdaFault::kNotTaken ? LambdaFault::kXsNotTaken
                                                                   : not_taken<F>();
  else
    return step_result_fault<std::decay_t<call_trailing_result_t<F, Carry, Xs>>, Carry>();
}

template <class F, class Xs>
constexpr LambdaFault map_fault() {
  if constexpr (kIsNoFunction<F>)
    return LambdaFault::kNoFunction;
  else if constexpr (!CallableWith<F, Xs>)
    return not_taken<F>() == LambdaFault::kNotTaken ? LambdaFault::kElementNotTaken
                                                    : not_taken<F>();
  else
    return std::is_void_v<call_result_t<F, Xs>> ? LambdaFault::kVoid : LambdaFault::kNone;
}

template <class F, class Carry>
constexpr LambdaFault while_scan_fault() {
  if constexpr (kIsNoFunction<F>)
    return LambdaFault::kNoFunction;
  else if constexpr (!CallableWith<F, Carry>)
    return not_taken<F>();
  else
    return step_result_fault<std::decay_t<call_result_t<F, Carry>>, Carry>();
}

}  // namespace detail

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

namespace detail {

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

}  // namespace detail

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
          detail::branch(pred, false, branches, detail::operand_leaves(pred.at(), operands...));
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
        detail::branch(index, true, callables, detail::operand_leaves(index.at(), operands...));
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
