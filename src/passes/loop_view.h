// One description of while, scan, fori and conditional, so that a pass is written once.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::passes {

/// How operands, region parameters and results of a construct belong together:
/// - operands: fixed (fori's bounds, a conditional's selector), carry, xs, invariants;
/// - region parameters: index (fori's), carry, xs, invariants;
/// - results of a body, and of the node: carry, ys.
///
/// A conditional is one without carry whose regions are all bodies, its arguments invariants, its
/// results ys.
struct LoopView {
  const ir::Node* node = nullptr;
  std::size_t fixed = 0;
  std::size_t index = 0;
  std::size_t carries = 0;
  std::size_t xs = 0;
  std::size_t invariants = 0;
  std::size_t ys = 0;
  /// The region that gives the predicate; all others are bodies.
  std::optional<std::size_t> condition;

  /// Nothing for other nodes.
  static std::optional<LoopView> of(const ir::Node* node);

  bool is_conditional() const { return node->op->kind == ir::OpKind::kConditional; }
  bool is_body(std::size_t region) const { return condition != region; }
  std::size_t params() const { return index + carries + xs + invariants; }
  std::size_t results() const { return carries + ys; }

  enum class Role { kIndex, kCarry, kX, kInvariant };
  Role role_of_param(std::size_t param) const;
  /// The operand that a region parameter gets at first; not for the index.
  std::size_t operand_of_param(std::size_t param) const { return param - index + fixed; }

  /// How often the bodies run, where that is known.
  std::optional<std::int64_t> trip_count() const;
};

/// The parts of a changed construct. Types of the ys stay those of the results that they come from.
struct LoopParts {
  ir::Operands fixed;
  std::vector<Tensor> carries;
  std::vector<Tensor> xs;
  std::vector<Tensor> invariants;
  std::vector<TensorType> ys;
  std::vector<Function> regions;
};

/// A node of the same construct with other parts; returns its first result.
Tensor remake(const LoopView& view, LoopParts parts);

/// The same node with another trip count.
Tensor with_trip_count(const ir::Node* node, std::int64_t trips);

}  // namespace rondo::passes
