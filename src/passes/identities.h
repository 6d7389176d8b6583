// Expressions that are equal to simpler ones: exactly, for every value of every dtype that a row
// admits, signed zeros, infinities and NaN included.
#pragma once

#include <span>
#include <string_view>

#include "ir/node.h"

namespace rondo::passes {

/// A row of the table.
struct Identity {
  const ir::OpDef* op;
  std::string_view says;  // "x * 1 = x"
  std::string_view why;   // it is exact
  /// What the node is equal to: an operand, an operand's operand, a constant, or one new node;
  /// empty where the row does not apply.
  Tensor (*apply)(const ir::Node&);
};

/// Arithmetic, bits, comparisons, choice and dtypes.
std::span<const Identity> arithmetic_identities();
/// Ops that move elements.
std::span<const Identity> shape_identities();

/// The first row that applies; empty where none does.
Tensor simplify(const ir::Node* node);

}  // namespace rondo::passes
