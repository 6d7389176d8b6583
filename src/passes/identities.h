// Algebraic identities that hold exactly, for every value of every dtype that a row admits,
// including signed zeros, infinities and NaN.
#pragma once

#include <span>
#include <string_view>

#include "ir/node.h"

namespace rondo::passes {

/// A row of the table.
struct Identity {
  const ir::OpDef* op;
  std::string_view says;  // "x * 1 = x"
  std::string_view why;   // why it is exact
  /// The simpler form: an operand, an operand's operand, a constant, or one new node; empty if the
  /// row does not apply.
  Tensor (*apply)(const ir::Node&);
};

/// Arithmetic, bits, comparisons, selection and dtypes.
std::span<const Identity> arithmetic_identities();
/// Ops that move elements.
std::span<const Identity> shape_identities();

/// The result of the first row that applies; empty if none does.
Tensor simplify(const ir::Node* node);

}  // namespace rondo::passes
