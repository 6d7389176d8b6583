// Identities of ops that move elements: they hold for every bit pattern.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ops/broadcast.h"
#include "ops/concatenate.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/slice.h"
#include "passes/identities.h"

namespace rondo::passes {

namespace {

using ir::Node;
using Axes = std::vector<std::int64_t>;

const Node* source_of_op(const Node& node, const ir::OpDef& op) {
  const Node* source = node.operands[0].node();
  return source->op == &op ? source : nullptr;
}

/// The operand, if it already has the node's type.
Tensor if_same_type(const Node& node) {
  return node.operand_type(0) == node.type() ? node.operands[0] : Tensor();
}

bool counts_up(const Axes& axes) {
  for (std::size_t i = 0; i < axes.size(); i++) {
    if (axes[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

/// If the first operand is the broadcast of a scalar, the scalar broadcast to the node's shape.
Tensor of_repeated_scalar(const Node& node) {
  const Node* source = source_of_op(node, ops::kBroadcastInDim);
  if (!source || source->operand_type(0).rank() != 0 || node.type().dtype != source->type().dtype)
    return {};
  if (source->type() == node.type()) return node.operands[0];
  return node.type().rank() == 0
             ? source->operands[0]
             : ops::broadcast_axes(source->operands[0], node.type().shape, {}, node.location());
}

Tensor reshape_reshaped(const Node& node) {
  const Node* source = source_of_op(node, ops::kReshape);
  return source ? ops::reshape_to(source->operands[0], node.type().shape, node.location())
                : Tensor();
}

Tensor broadcast_to_itself(const Node& node) {
  const bool same = node.operand_type(0) == node.type() &&
                    counts_up(node.attrs<ops::BroadcastAttributes>().dimensions);
  return same ? node.operands[0] : Tensor();
}

Tensor broadcast_broadcast(const Node& node) {
  const Node* source = source_of_op(node, ops::kBroadcastInDim);
  if (!source) return {};
  const Axes& outer = node.attrs<ops::BroadcastAttributes>().dimensions;
  Axes map = source->attrs<ops::BroadcastAttributes>().dimensions;
  for (std::int64_t& axis : map) axis = outer[static_cast<std::size_t>(axis)];
  return ops::broadcast_axes(source->operands[0], node.type().shape, std::move(map),
                             node.location());
}

Tensor transpose_to_itself(const Node& node) {
  return counts_up(node.attrs<ops::TransposeAttributes>().permutation) ? node.operands[0]
                                                                       : Tensor();
}

Tensor transpose_transposed(const Node& node) {
  const Node* source = source_of_op(node, ops::kTranspose);
  if (!source) return {};
  const Axes& inner = source->attrs<ops::TransposeAttributes>().permutation;
  Axes both = node.attrs<ops::TransposeAttributes>().permutation;
  for (std::int64_t& axis : both) axis = inner[static_cast<std::size_t>(axis)];
  return ops::transposed(source->operands[0], std::move(both), node.location());
}

Tensor reverse_nothing(const Node& node) {
  const Axes& axes = node.attrs<ops::ReverseAttributes>().axes;
  const auto is_short = [&](std::int64_t axis) { return node.type().shape[axis] <= 1; };
  return std::all_of(axes.begin(), axes.end(), is_short) ? node.operands[0] : Tensor();
}

Tensor reverse_reversed(const Node& node) {
  const Node* source = source_of_op(node, ops::kReverse);
  return source && source->attributes == node.attributes ? source->operands[0] : Tensor();
}

Tensor slice_sliced(const Node& node) {
  const Node* source = source_of_op(node, ops::kSlice);
  if (!source || node.type().elements() == 0) return {};
  const auto& inner = source->attrs<ops::SliceAttributes>();
  ops::SliceAttributes both = node.attrs<ops::SliceAttributes>();
  for (std::size_t i = 0; i < both.starts.size(); i++) {
    both.starts[i] = inner.starts[i] + both.starts[i] * inner.strides[i];
    both.strides[i] *= inner.strides[i];
    both.limits[i] = both.starts[i] + (node.type().shape[i] - 1) * both.strides[i] + 1;
  }
  return ir::make(ops::kSlice, {source->operands[0]}, std::move(both), node.location());
}

/// A slice of concatenated arrays that is exactly one of them.
Tensor slice_concatenated(const Node& node) {
  const Node* source = source_of_op(node, ops::kConcatenate);
  if (!source) return {};
  const auto axis = static_cast<std::size_t>(source->attrs<ops::ConcatenateAttributes>().axis);
  const auto& slice = node.attrs<ops::SliceAttributes>();
  std::int64_t at = 0;
  for (const Tensor& part : source->operands) {
    if (at == slice.starts[axis] && part.type() == node.type() && slice.strides[axis] == 1)
      return part;
    at += part.shape()[axis];
  }
  return {};
}

Tensor concatenate_one(const Node& node) {
  return node.operands.size() == 1 ? node.operands[0] : Tensor();
}

Tensor concatenate_with_nothing(const Node& node) {
  ir::Operands filled;
  for (const Tensor& operand : node.operands) {
    if (operand.type().elements() != 0) filled.push_back(operand);
  }
  if (filled.empty() || filled.size() == node.operands.size()) return {};
  return ir::make(ops::kConcatenate, std::move(filled), node.attributes, node.location());
}

Tensor pad_with_nothing(const Node& node) {
  const auto& pad = node.attrs<ops::PadAttributes>();
  const auto is_zero = [](std::int64_t n) { return n == 0; };
  const bool nothing = std::all_of(pad.low.begin(), pad.low.end(), is_zero) &&
                       std::all_of(pad.high.begin(), pad.high.end(), is_zero);
  return nothing ? if_same_type(node) : Tensor();
}

Tensor dynamic_slice_of_known_place(const Node& node) {
  const Shape& whole = node.operand_type(0).shape;
  ops::SliceAttributes slice;
  for (std::size_t i = 0; i < whole.size(); i++) {
    const Tensor& start = node.operands[i + 1];
    if (!ir::is_constant(start.node())) return {};
    const std::int64_t size = node.type().shape[i];
    const std::int64_t asked =
        ops::index_at(start.node()->attrs<ir::ConstantAttributes>().value, 0);
    const std::int64_t at = std::clamp<std::int64_t>(asked, 0, whole[i] - size);
    slice.starts.push_back(at);
    slice.limits.push_back(at + size);
    slice.strides.push_back(1);
  }
  return ir::make(ops::kSlice, {node.operands[0]}, std::move(slice), node.location());
}

Tensor update_everything(const Node& node) {
  return node.operand_type(1) == node.type() ? node.operands[1] : Tensor();
}

/// The scalar that all elements of a predicate are equal to; empty if they may differ.
Tensor one_predicate(const Tensor& predicate) {
  if (predicate.type().rank() == 0) return predicate;
  const Node* node = predicate.node();
  const bool repeats = node->op == &ops::kBroadcastInDim && node->operand_type(0).rank() == 0;
  return repeats ? node->operands[0] : Tensor();
}

/// An array, the updates by which it is made from another one, the last one first.
using Updates = absl::InlinedVector<const Node*, 4>;

// Threshold: Length of a chain of updates that is followed to select among them: compile time. Not
// measured.
constexpr std::size_t kMostUpdates = 16;

/// The updates by which the two choices are made from the same array, if there is one and they
/// write little of it. At least one choice is updated.
std::optional<std::pair<Updates, Updates>> updates_of_one_array(const Tensor& yes,
                                                                const Tensor& no) {
  // Threshold: A select between updates of an array becomes an update with what is selected, unless
  // the array may be in registers or the updates write a large share of it. Not measured alone; a
  // partition of 4000 elements went from 28 to 0.1 ms, backtracking with a stack of 7 from 106 to
  // 54 us.
  constexpr std::int64_t kFewElements = 4, kLeastRest = 2;
  if (yes.type().elements() <= kFewElements) return std::nullopt;
  absl::InlinedVector<Tensor, 4> states{yes};
  std::pair<Updates, Updates> found;
  const auto is_updated = [](const Tensor& x) { return x.node()->op == &ops::kDynamicUpdateSlice; };
  while (is_updated(states.back()) && states.size() <= kMostUpdates)
    states.push_back(states.back().node()->operands[0]);
  Tensor state = no;
  const auto common = [&] {
    return std::find_if(states.begin(), states.end(),
                        [&](const Tensor& x) { return x.same_as(state); });
  };
  while (common() == states.end()) {
    if (!is_updated(state) || found.second.size() == kMostUpdates) return std::nullopt;
    found.second.push_back(state.node());
    state = state.node()->operands[0];
  }
  for (auto x = states.begin(); x != common(); ++x) found.first.push_back(x->node());
  std::int64_t written = 0;
  for (const Updates& updates : {found.first, found.second}) {
    for (const Node* update : updates) written += update->operand_type(1).elements();
  }
  if (written == 0 || written * kLeastRest > yes.type().elements()) return std::nullopt;
  return found;
}

/// `predicate ? yes : no`, for a scalar predicate.
Tensor chosen(const Tensor& predicate, const Tensor& yes, const Tensor& no, SourceLocation at) {
  if (yes.same_as(no)) return yes;
  const Tensor holds = ops::broadcast_axes(predicate, yes.type().shape, {}, at);
  return ir::make(ops::kSelect, {holds, yes, no}, {}, at);
}

/// Updates at the same number of places with parts of the same types.
bool are_alike(const Updates& a, const Updates& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Node* left, const Node* right) {
                      return left->operand_type(1) == right->operand_type(1) &&
                             left->operand_type(2) == right->operand_type(2);
                    });
}

/// The node's choice, made in the updates of the array. `several`: both choices are updated. Where
/// the other one is chosen, an update writes what was there; or, if they are alike, one update
/// writes the chosen part at the chosen place.
Tensor choice_of_updates(const Node& node, bool several) {
  const Tensor predicate = one_predicate(node.operands[0]);
  if (predicate.empty()) return {};
  const auto both = updates_of_one_array(node.operands[1], node.operands[2]);
  if (!both || several == (both->first.empty() || both->second.empty())) return {};
  const auto& [yes, no] = *both;
  const SourceLocation at = node.location();
  Tensor x = (yes.empty() ? no : yes).back()->operands[0];
  if (are_alike(yes, no)) {
    for (std::size_t u = yes.size(); u-- > 0;) {
      ir::Operands operands{x};
      for (std::size_t i = 1; i < yes[u]->operands.size(); i++)
        operands.push_back(chosen(predicate, yes[u]->operands[i], no[u]->operands[i], at));
      x = ir::make(ops::kDynamicUpdateSlice, std::move(operands), yes[u]->attributes, at);
    }
    return x;
  }
  for (const bool holds : {true, false}) {
    const Updates& updates = holds ? yes : no;
    for (std::size_t u = updates.size(); u-- > 0;) {
      const Node& update = *updates[u];
      const Tensor& part = update.operands[1];
      ir::Operands from{x}, to{x, Tensor()};
      from.insert(from.end(), update.operands.begin() + 2, update.operands.end());
      to.insert(to.end(), update.operands.begin() + 2, update.operands.end());
      const Tensor there =
          ir::make(ops::kDynamicSlice, std::move(from),
                   ops::DynamicSliceAttributes{{part.shape().begin(), part.shape().end()}}, at);
      to[1] = holds ? chosen(predicate, part, there, at) : chosen(predicate, there, part, at);
      x = ir::make(ops::kDynamicUpdateSlice, std::move(to), update.attributes, at);
    }
  }
  return x;
}

Tensor select_updated(const Node& node) { return choice_of_updates(node, false); }
Tensor select_between_updates(const Node& node) { return choice_of_updates(node, true); }

// clang-format off
const Identity kShapeIdentities[] = {
    {&ops::kReshape, "reshape(x, shape of x) = x", "nothing moves", if_same_type},
    {&ops::kReshape, "reshape(reshape(x)) = reshape(x)", "the row-major order is kept by both", reshape_reshaped},
    {&ops::kReshape, "reshape(broadcast(scalar)) = broadcast(scalar)", "all elements are the same", of_repeated_scalar},
    {&ops::kBroadcastInDim, "broadcast(x, shape of x) = x", "each axis goes to its own place", broadcast_to_itself},
    {&ops::kBroadcastInDim, "broadcast(broadcast(x)) = broadcast(x)", "axes go where the second sends the places of the first", broadcast_broadcast},
    {&ops::kTranspose, "transpose(x, 0 1 2) = x", "each axis stays", transpose_to_itself},
    {&ops::kTranspose, "transpose(transpose(x)) = transpose(x)", "permutations compose", transpose_transposed},
    {&ops::kTranspose, "transpose(broadcast(scalar)) = broadcast(scalar)", "all elements are the same", of_repeated_scalar},
    {&ops::kReverse, "reverse(x, no axis) = x", "an axis of one element is its own reverse", reverse_nothing},
    {&ops::kReverse, "reverse(reverse(x)) = x", "along the same axes", reverse_reversed},
    {&ops::kReverse, "reverse(broadcast(scalar)) = broadcast(scalar)", "all elements are the same", of_repeated_scalar},
    {&ops::kSlice, "slice(x, everything) = x", "as many elements of each axis as there are, in order", if_same_type},
    {&ops::kSlice, "slice(slice(x)) = slice(x)", "starts and strides compose", slice_sliced},
    {&ops::kSlice, "slice(concatenate(x, y), x) = x", "just one of the parts", slice_concatenated},
    {&ops::kSlice, "slice(broadcast(scalar)) = broadcast(scalar)", "all elements are the same", of_repeated_scalar},
    {&ops::kConcatenate, "concatenate(x) = x", "nothing follows", concatenate_one},
    {&ops::kConcatenate, "concatenate(x, empty) = concatenate(x)", "no element is added", concatenate_with_nothing},
    {&ops::kPad, "pad(x, 0, 0, 0) = x", "nothing is added", pad_with_nothing},
    {&ops::kDynamicSlice, "dynamic_slice(x, i, shape of x) = x", "the start is clamped to 0", if_same_type},
    {&ops::kDynamicSlice, "dynamic_slice(broadcast(scalar)) = broadcast(scalar)", "all elements are the same", of_repeated_scalar},
    {&ops::kDynamicSlice, "dynamic_slice(x, 3, size) = slice(x, 3, 3 + size)", "the start is known, and clamped here", dynamic_slice_of_known_place},
    {&ops::kDynamicUpdateSlice, "dynamic_update_slice(x, y of x's shape, i) = y", "the start is clamped to 0", update_everything},
    {&ops::kSelect, "p ? update(x, y, i) : x = update(x, p ? y : x at i, i)", "p is one for all elements; where it fails the part is what it was", select_updated},
    {&ops::kSelect, "p ? update(x, y, i) : update(x, z, j) = update(x, p ? y : z, p ? i : j)", "p is one for all elements; other updates follow one another", select_between_updates},
};
// clang-format on

}  // namespace

std::span<const Identity> shape_identities() { return kShapeIdentities; }

}  // namespace rondo::passes
