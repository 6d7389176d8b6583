// The meaning of the operands, region parameters and results of a construct. The record of each
// construct describes it (OpConstruct::layout), so that passes, printers, executors and transforms
// handle loops and branches without naming them.
//
//                       operands   region parameters   results of a body and of the node
//     while             c v        c v                 c      and a condition on c v
//     fori_loop         f f c v    i c v               c
//     scan              c x v      c x v               c y
//     conditional       f v        v                   y
//     checkpoint        a v        a v                 y
//
// f fixed, i index, a arguments (counted as fixed and as index), c carry, x xs (of which a region
// gets the slice of the trip), v invariants, y ys (of a loop: stacked over the trips).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/field_text.h"
#include "ir/node.h"
#include "rondo/checkpoint.h"

namespace rondo {

/// The policy of a loop among its node's attributes: `online(8)`.
std::span<const std::string_view> field_words(Checkpoint::Policy policy);
void field_value(ir::FieldText& text, Checkpoint& checkpoint);

}  // namespace rondo

namespace rondo::ir {

/// What a loop that reverse mode created keeps for the backward pass.
struct Residuals {
  Checkpoint policy;  // the chosen one, never automatic
  std::int64_t arrays = 0;
  std::int64_t bytes = 0;
  /// The loop keeps them on a growing tape, and another loop makes the remaining trips. So this one
  /// may make no trip, if there are no growing tapes (passes/growing_tapes.h).
  bool may_make_none = false;
  bool operator==(const Residuals&) const = default;
};

/// How a loop corresponds to one of the user's, for reports of a run.
struct LoopSource {
  std::int64_t first = 0;                            // earlier carries were added by the lowering
  std::optional<std::int64_t> count = std::nullopt;  // the number of the user's carries; else all
  std::int64_t bodies = 1;                           // the user's trips in one trip
  bool operator==(const LoopSource&) const = default;
};

/// The layout of one node. Valid as long as the node exists.
struct RegionLayout {
  enum class Kind : std::uint8_t {
    kLoop,    // the bodies run once per trip, on the carry of the trip before
    kBranch,  // one of the regions runs, once; its results are the ys
    kCall,    // region 0 runs, once; others are derivative rules, with their own parameters
  };
  enum class Role : std::uint8_t { kFixed, kIndex, kArgument, kCarry, kX, kInvariant };
  enum class ResultRole : std::uint8_t { kPredicate, kCarry, kY };

  const Node* node = nullptr;
  Kind kind = Kind::kLoop;
  std::size_t fixed = 0;  // operands for the construct alone: bounds, a selector; of a call its
                          // arguments
  std::size_t index = 0;  // parameters that the construct makes; of a call those of its arguments
  std::size_t carries = 0;
  std::size_t xs = 0;
  std::size_t invariants = 0;
  std::size_t ys = 0;
  /// The region that returns the predicate, a pred of any shape, which decides when the loop ends.
  /// All other regions are bodies. A loop without one is counted.
  std::optional<std::size_t> condition;

  std::string_view name;                       // the user's; of a call, its construct's
  std::int64_t axis = 0;                       // of xs and ys
  bool reverse = false;                        // from the last index or slice to the first
  std::optional<std::int64_t> trip_count;      // if known
  std::optional<std::int64_t> max_trip_count;  // promised by the user
  std::optional<std::int64_t> promised;  // the promised number in the user's trips, if that differs
  bool ends_by_itself = false;           // the condition enforces max_trip_count
  bool runs_first = false;               // makes a trip before it evaluates its condition
  bool independent = false;              // no trip reads what another one writes
  const Residuals* residuals = nullptr;  // of a forward run for a backward pass
  LoopSource source;

  bool is_loop() const { return kind == Kind::kLoop; }
  bool is_branch() const { return kind == Kind::kBranch; }
  bool is_call() const { return kind == Kind::kCall; }
  /// Whether the predicate of a promised loop may still hold after the promised number of trips.
  bool has_open_promise() const;

  // Regions. What holds for parameters holds in each region, but in calls only in region 0.
  bool is_body(std::size_t region) const { return condition != region; }
  /// The first body: the only one of a loop.
  std::size_t body() const { return condition == std::size_t{0} ? 1 : 0; }
  std::size_t params() const { return index + carries + xs + invariants; }
  Role role_of_param(std::size_t param) const;
  /// Whether a parameter is an outer value, unchanged; true in the rules of calls too.
  bool is_invariant(std::size_t region, std::size_t param) const;
  /// The first parameter that is passed an operand, or slices of it.
  std::size_t first_given() const { return is_call() ? 0 : index; }
  /// The operand that a parameter initially gets, or whose slices it gets; not for an index.
  std::size_t operand_of_param(std::size_t param) const { return param - index + fixed; }
  std::size_t param_of_operand(std::size_t operand) const { return operand - fixed + index; }

  // Results of a body and of the node.
  std::size_t results() const { return carries + ys; }
  ResultRole role_of_result(std::size_t region, std::size_t result) const;

  // Operands of the node, or what replaces them elsewhere.
  std::size_t operands() const { return fixed + carries + xs + invariants; }
  Role role_of_operand(std::size_t operand) const;
  using Tensors = std::span<const Tensor>;
  Tensors fixed_of(Tensors operands) const { return operands.first(fixed); }
  Tensors carry_of(Tensors operands) const { return operands.subspan(fixed, carries); }
  Tensors xs_of(Tensors operands) const { return operands.subspan(fixed + carries, xs); }
  Tensors invariants_of(Tensors operands) const { return operands.last(invariants); }
};

/// Nullopt for ops that are no constructs.
std::optional<RegionLayout> region_layout(const Node* node);

/// How a loop counts its trips.
struct Induction {
  std::optional<std::size_t> carry = std::nullopt;   // the counter; nullopt if it is no carry
  std::int64_t step = 1;                             // what each trip adds to it
  std::optional<std::int64_t> trips = std::nullopt;  // if known from constants
  /// Otherwise the operand that limits the counter: a trip starts while the counter is less.
  std::optional<std::size_t> limit = std::nullopt;
};

/// For a loop whose record says how it counts.
std::optional<Induction> induction_of(const Node& node);
/// Whether executors run a loop that evaluates a condition as one that counts: its trip count is
/// known when it begins.
bool counts(const Node& node);
/// For a loop with a carried counter and an operand that limits it, so that its trip count is known
/// when it starts.
std::optional<Induction> runtime_counter(const Node& node);

/// A loop whose lanes stop one by one. Region 0 returns a pred for each lane from all operands,
/// region 1 the next carry from the preds of the running lanes and all operands, of which the carry
/// comes first. A lane whose pred is false is done, and keeps its carry. Values of rank 0 are the
/// same for all lanes, and advance with the running lanes.
struct LaneLoop {
  std::int64_t lanes = 0;
  std::string_view name;
  std::optional<std::int64_t> max_trip_count;  // more are an error
  std::optional<std::int64_t> promised;  // the promised number in the user's trips, if that differs
  /// It implements a branch: a lane makes at most one trip, which only the executor sees.
  bool predicated = false;
};

/// A counted loop whose index becomes an x: the op and attributes of that loop, with the operands
/// carry, indices, invariants; and the index of each trip, as slices.
struct LoopOverSlices {
  const OpDef* op;
  Attributes attributes;
  Tensor indices;
};

/// The parts of a changed construct. `ys` are the types of those results.
struct ConstructParts {
  Operands fixed;
  std::vector<Tensor> carries;
  std::vector<Tensor> xs;
  std::vector<Tensor> invariants;
  std::vector<TensorType> ys;
  std::vector<Function> regions;
};

/// A node of the same construct with other parts, whose types are not inferred; returns its first
/// result. What the layout has beside counts (name, axis, trip count, promise) goes into its
/// attributes as well.
Tensor rebuild(const RegionLayout& layout, ConstructParts parts);

/// The same node with another known trip count, for constructs that store one.
Tensor with_trip_count(const Node* node, std::int64_t trips);

/// The region that the selector of a conditional selects, as in HLO: the first for a pred that is
/// true, by number for an s32, the last for a number out of range.
std::size_t selected_region(const Literal& selector, std::size_t regions);

}  // namespace rondo::ir
