// Bits of integers, logic of preds.
#include "ops/elementwise.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/small.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct And {
  template <lower::Whole N>
  N operator()(N a, N b) const {
    return a & b;
  }
};
struct Or {
  template <lower::Whole N>
  N operator()(N a, N b) const {
    return a | b;
  }
};
struct Xor {
  template <lower::Whole N>
  N operator()(N a, N b) const {
    return a ^ b;
  }
};
struct ShiftLeft {
  template <lower::Whole N>
  N operator()(N a, N b) const {
    return shift_left(a, b);
  }
};
struct ShiftRightLogical {
  template <lower::Whole N>
  N operator()(N a, N b) const {
    return shift_right_logical(a, b);
  }
};
struct ShiftRightArithmetic {
  template <lower::Whole N>
  N operator()(N a, N b) const {
    return shift_right_arithmetic(a, b);
  }
};
struct Not {
  template <lower::Whole N>
  N operator()(N x) const {
    return ~x;
  }
};
struct Popcount {
  template <lower::Whole N>
  N operator()(N x) const {
    return popcount(x);
  }
};
struct CountLeadingZeros {
  template <lower::Whole N>
  N operator()(N x) const {
    return count_leading_zeros(x);
  }
};

}  // namespace math

const OpDef kAnd = elementwise<2, math::And, kPreds | kIntegers>(
    {.name = "and",
     .spelling = "&",
     .structure = {.commutative = true},
     .derivative = {.zero = true},
     .text = {.hlo = "and", .stablehlo = "stablehlo.and"}});
const OpDef kOr = elementwise<2, math::Or, kPreds | kIntegers>(
    {.name = "or",
     .spelling = "|",
     .structure = {.commutative = true},
     .derivative = {.zero = true},
     .text = {.hlo = "or", .stablehlo = "stablehlo.or"}});
const OpDef kXor = elementwise<2, math::Xor, kPreds | kIntegers>(
    {.name = "xor",
     .spelling = "^",
     .structure = {.commutative = true},
     .derivative = {.zero = true},
     .text = {.hlo = "xor", .stablehlo = "stablehlo.xor"}});
const OpDef kNot = elementwise<1, math::Not, kPreds | kIntegers>(
    {.name = "not",
     .derivative = {.zero = true},
     .text = {.hlo = "not", .stablehlo = "stablehlo.not"}});

const OpDef kShiftLeft = elementwise<2, math::ShiftLeft, kIntegers>(
    {.name = "shift_left",
     .spelling = "<<",
     .derivative = {.zero = true},
     .text = {.hlo = "shift-left", .stablehlo = "stablehlo.shift_left"}});
const OpDef kShiftRightLogical = elementwise<2, math::ShiftRightLogical, kIntegers>(
    {.name = "shift_right_logical",
     .types = {.on_bytes = bits_on_bytes},
     .derivative = {.zero = true},
     .text = {.hlo = "shift-right-logical", .stablehlo = "stablehlo.shift_right_logical"}});
const OpDef kShiftRightArithmetic = elementwise<2, math::ShiftRightArithmetic, kIntegers>(
    {.name = "shift_right_arithmetic",
     .types = {.on_bytes = arithmetic_shift_on_bytes},
     .derivative = {.zero = true},
     .text = {.hlo = "shift-right-arithmetic", .stablehlo = "stablehlo.shift_right_arithmetic"}});

const OpDef kPopcount = elementwise<1, math::Popcount, kIntegers>(
    {.name = "popcount",
     .types = {.on_bytes = bits_on_bytes},
     .derivative = {.zero = true},
     .text = {.hlo = "popcnt", .stablehlo = "stablehlo.popcnt"}});
const OpDef kCountLeadingZeros = elementwise<1, math::CountLeadingZeros, kIntegers>(
    {.name = "count_leading_zeros",
     .types = {.on_bytes = leading_zeros_on_bytes},
     .derivative = {.zero = true},
     .text = {.hlo = "count-leading-zeros", .stablehlo = "stablehlo.count_leading_zeros"}});

namespace {

/// Whether x is not 0; a pred is its own truth.
Tensor truth(std::string_view op, const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), op.data(), x.at());
  return is_pred(tensor.dtype()) ? tensor : compare({tensor, x.at()}, {0, x.at()}, Direction::kNe);
}

Tensor logical(const OpDef& op, std::string_view name, const Operand& a, const Operand& b) {
  std::array<Tensor, 2> both{truth(name, a), truth(name, b)};
  broadcast_together(name, both, a.at());
  return binary_op(op, {both[0], a.at()}, {both[1], a.at()});
}

}  // namespace

std::span<const OpDef* const> bit_records() {
  static constexpr const OpDef* kAll[] = {&kAnd,
                                          &kOr,
                                          &kXor,
                                          &kNot,
                                          &kShiftLeft,
                                          &kShiftRightLogical,
                                          &kShiftRightArithmetic,
                                          &kPopcount,
                                          &kCountLeadingZeros};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor operator&(const Operand& a, const Operand& b) { return ops::binary_op(ops::kAnd, a, b); }
Tensor operator|(const Operand& a, const Operand& b) { return ops::binary_op(ops::kOr, a, b); }
Tensor operator^(const Operand& a, const Operand& b) { return ops::binary_op(ops::kXor, a, b); }
Tensor operator~(const Operand& x) { return ops::unary_op(ops::kNot, x); }

Tensor operator!(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "!", x.at());
  if (!is_pred(tensor.dtype())) {
    // `!` on a Tensor knows no line of its own: the operand's is the nearest.
    const SourceLocation made = tensor.node()->location();
    ops::fail("!",
              fmt::format("takes pred; the operand is {} (made by {} at {})\n  Ask x == 0, or take "
                          "~x for the bits of an integer.",
                          tensor.type().str(), ir::op_name(tensor.node()), made.str()),
              x.at().line ? x.at() : made);
  }
  return ops::unary_op(ops::kNot, {tensor, x.at()});
}

Tensor operator<<(const Operand& a, const Operand& b) {
  return ops::binary_op(ops::kShiftLeft, a, b);
}

Tensor operator>>(const Operand& a, const Operand& b) {
  const std::array<Tensor, 2> both = ops::matched({">>", ">>"}, a, b);
  const ops::OpDef& op =
      is_unsigned_integer(both[0].dtype()) ? ops::kShiftRightLogical : ops::kShiftRightArithmetic;
  return ops::binary_op(op, {both[0], a.at()}, {both[1], a.at()});
}

Tensor shift_left(const Operand& x, const Operand& amount) {
  return ops::binary_op(ops::kShiftLeft, x, amount);
}
Tensor shift_right_logical(const Operand& x, const Operand& amount) {
  return ops::binary_op(ops::kShiftRightLogical, x, amount);
}
Tensor shift_right_arithmetic(const Operand& x, const Operand& amount) {
  return ops::binary_op(ops::kShiftRightArithmetic, x, amount);
}

Tensor popcount(const Operand& x) { return ops::unary_op(ops::kPopcount, x); }
Tensor count_leading_zeros(const Operand& x) { return ops::unary_op(ops::kCountLeadingZeros, x); }

Tensor logical_and(const Operand& a, const Operand& b) {
  return ops::logical(ops::kAnd, "logical_and", a, b);
}
Tensor logical_or(const Operand& a, const Operand& b) {
  return ops::logical(ops::kOr, "logical_or", a, b);
}
Tensor logical_xor(const Operand& a, const Operand& b) {
  return ops::logical(ops::kXor, "logical_xor", a, b);
}
Tensor logical_not(const Operand& x) {
  return ops::unary_op(ops::kNot, {ops::truth("logical_not", x), x.at()});
}

}  // namespace rondo
