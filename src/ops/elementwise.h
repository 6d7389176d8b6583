// Records of the elementwise family that other files build or recognize (a record that only its
// file uses needs no declaration), and shared parts of the family's public functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"
#include "ops/support.h"

namespace rondo::ops {

// Arithmetic.
extern const OpDef kAdd, kSubtract, kMultiply, kDivide, kRemainder, kMaximum, kMinimum, kPower;
extern const OpDef kNegate, kAbs, kSign, kFloor, kCeil, kRound, kRoundAway, kClamp;
/// A clamp of indices to [0, operand 2] that represents the user's op: an index that it changes is
/// out of range.
extern const OpDef kClampIndex;
// Exponentials and what belongs to them.
extern const OpDef kSqrt;
// Circular and hyperbolic functions.
extern const OpDef kSin;
// Bits.
extern const OpDef kAnd, kOr, kXor, kNot, kShiftLeft, kShiftRightLogical, kShiftRightArithmetic,
    kPopcount, kCountLeadingZeros;
// Complex numbers.
extern const OpDef kReal, kImag, kComplex;
// Predicates, selection and dtypes.
extern const OpDef kCompare, kSelect, kConvert, kBitcastConvert;

enum class Direction { kEq, kNe, kLt, kLe, kGt, kGe };

struct CompareAttributes {
  Direction direction;
  /// Floats by IEEE 754's totalOrder: -NaN < -inf < ... < -0 < 0 < ... < inf < NaN.
  bool total_order = false;
  bool operator==(const CompareAttributes&) const = default;
};
/// Operands of one dtype; broadcasts. Complex numbers have only kEq and kNe here.
Tensor compare(const Operand& a, const Operand& b, Direction direction, bool total_order = false);

/// For convert and bitcast_convert.
struct ConvertAttributes {
  DType dtype;
  bool operator==(const ConvertAttributes&) const = default;
};

/// For an index that is clamped for an op which would clamp it differently.
struct ClampIndexAttributes {
  std::string op;     // as the user wrote it
  std::int64_t axis;  // as in ir::IndexRange
  std::int64_t size;
  bool operator==(const ClampIndexAttributes&) const = default;
};
/// Integers, clamped to [0, last], which has their dtype and broadcasts.
Tensor clamp_index(const Operand& index, const Operand& last, ClampIndexAttributes meant);

// How public functions create nodes.
Tensor unary_op(const OpDef& op, const Operand& x);
/// Operands of one dtype; broadcasts.
Tensor matched_op(const OpDef& op, const Operand& a, const Operand& b);
/// The same; operands of one type, the usual case, take a fast path.
inline Tensor binary_op(const OpDef& op, const Operand& a, const Operand& b) {
  const bool tensors =
      !a.is_scalar() && !b.is_scalar() && !a.tensor().empty() && !b.tensor().empty();
  Tensor made = tensors ? ir::make_of_equals(op, a.tensor(), b.tensor(), a.at()) : Tensor();
  if (made.empty()) made = matched_op(op, a, b);
  return made;
}
/// The tensors broadcast to their common shape.
template <std::size_t n>
void broadcast_together(std::string_view op, std::array<Tensor, n>& tensors, SourceLocation at) {
  TensorType common = tensors[0].type();
  for (std::size_t i = 1; i < n; i++) {
    if (tensors[i].shape() != common.shape)
      common.shape = broadcast_shape(op, common, tensors[i].type(), at, true);
  }
  for (Tensor& tensor : tensors) tensor = broadcast(tensor, common.shape, at);
}

}  // namespace rondo::ops
