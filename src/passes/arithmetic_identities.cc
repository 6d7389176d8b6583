// Identities of arithmetic, bits, comparisons, selection and dtypes.
#include <bit>
#include <optional>

#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "passes/identities.h"
#include "passes/splat.h"

namespace rondo::passes {

namespace {

using ir::Node;
using ops::Direction;

/// The operand's node if it has this op, else null.
const Node* operand_of_op(const Node& node, std::size_t operand, const ir::OpDef& op) {
  const Node* below = node.operands[operand].node();
  return below->op == &op ? below : nullptr;
}

/// The other operand, if all elements of one are `value`.
Tensor beside(const Node& node, SplatValue value) {
  if (is_splat(node.operands[1], value)) return node.operands[0];
  if (is_splat(node.operands[0], value)) return node.operands[1];
  return Tensor();
}

/// The operand whose elements are all `value`.
Tensor among(const Node& node, SplatValue value) {
  if (is_splat(node.operands[1], value)) return node.operands[1];
  if (is_splat(node.operands[0], value)) return node.operands[0];
  return Tensor();
}

bool operands_are_same(const Node& node) { return node.operands[0].same_as(node.operands[1]); }

bool takes_integers(const Node& node) { return is_integer(node.operand_type(0).dtype); }
bool takes_integers_or_preds(const Node& node) {
  return takes_integers(node) || is_pred(node.operand_type(0).dtype);
}
bool takes_complex(const Node& node) { return is_complex(node.operand_type(0).dtype); }

/// All zeros, or all ones, of the node's type.
Tensor all_zero(const Node& node) {
  const Tensor zero = ir::make_constant(Literal::zeros({node.type().dtype, {}}), node.location());
  return node.type().rank() == 0
             ? zero
             : ops::broadcast_axes(zero, node.type().shape, {}, node.location());
}
Tensor all_one(const Node& node) {
  const Tensor one = ir::make_constant(
      ir::scalar_literal(Scalar::of(1), node.type().dtype, node.location()), node.location());
  return node.type().rank() == 0 ? one
                                 : ops::broadcast_axes(one, node.type().shape, {}, node.location());
}

Tensor made(const ir::OpDef& op, ir::Operands operands, const Node& like,
            ir::Attributes attributes = {}) {
  return ir::make(op, std::move(operands), std::move(attributes), like.location());
}

// --- sums and products ---

Tensor add_zero(const Node& node) {
  return takes_integers_or_preds(node) ? beside(node, SplatValue::kZero) : Tensor();
}

Tensor add_negative_zero(const Node& node) { return beside(node, SplatValue::kNegativeZero); }

Tensor add_negated(const Node& node) {
  if (const Node* negated = operand_of_op(node, 1, ops::kNegate)) {
    return made(ops::kSubtract, {node.operands[0], negated->operands[0]}, node);
  }
  if (const Node* negated = operand_of_op(node, 0, ops::kNegate)) {
    return made(ops::kSubtract, {node.operands[1], negated->operands[0]}, node);
  }
  return Tensor();
}

/// (-y) z or y (-z) as the operand of a sum: y z, whose sign moves into the sum.
Tensor without_sign(const Node& node, std::size_t operand) {
  const Node* product = operand_of_op(node, operand, ops::kMultiply);
  if (!product || takes_complex(node)) return Tensor();
  for (std::size_t i = 0; i < 2; i++) {
    if (const Node* negated = operand_of_op(*product, i, ops::kNegate))
      return made(ops::kMultiply, {negated->operands[0], product->operands[1 - i]}, node);
  }
  return Tensor();
}

Tensor add_negated_product(const Node& node) {
  for (std::size_t i = 2; i-- > 0;) {
    const Tensor product = without_sign(node, i);
    if (!product.empty()) return made(ops::kSubtract, {node.operands[1 - i], product}, node);
  }
  return Tensor();
}

Tensor subtract_negated_product(const Node& node) {
  const Tensor product = without_sign(node, 1);
  return product.empty() ? product : made(ops::kAdd, {node.operands[0], product}, node);
}

Tensor subtract_zero(const Node& node) {
  return is_splat(node.operands[1], SplatValue::kZero) ? node.operands[0] : Tensor();
}

Tensor subtract_itself(const Node& node) {
  return takes_integers(node) && operands_are_same(node) ? all_zero(node) : Tensor();
}

Tensor subtract_negated(const Node& node) {
  const Node* negated = operand_of_op(node, 1, ops::kNegate);
  return negated ? made(ops::kAdd, {node.operands[0], negated->operands[0]}, node) : Tensor();
}

Tensor multiply_one(const Node& node) {
  return takes_complex(node) ? Tensor() : beside(node, SplatValue::kOne);
}

Tensor multiply_zero(const Node& node) {
  return takes_integers_or_preds(node) ? among(node, SplatValue::kZero) : Tensor();
}

Tensor divide_by_one(const Node& node) {
  return !takes_complex(node) && is_splat(node.operands[1], SplatValue::kOne) ? node.operands[0]
                                                                              : Tensor();
}

Tensor remainder_by_one(const Node& node) {
  return takes_integers(node) && is_splat(node.operands[1], SplatValue::kOne) ? all_zero(node)
                                                                              : Tensor();
}

Tensor power_one(const Node& node) {
  return !takes_complex(node) && is_splat(node.operands[1], SplatValue::kOne) ? node.operands[0]
                                                                              : Tensor();
}

Tensor power_zero(const Node& node) {
  return !takes_complex(node) && is_splat(node.operands[1], SplatValue::kZero) ? all_one(node)
                                                                               : Tensor();
}

Tensor of_itself(const Node& node) { return operands_are_same(node) ? node.operands[0] : Tensor(); }

Tensor clamp_clamped(const Node& node) {
  const Node* inner = operand_of_op(node, 1, ops::kClamp);
  const bool same = inner && inner->operands[0].same_as(node.operands[0]) &&
                    inner->operands[2].same_as(node.operands[2]);
  return same ? node.operands[1] : Tensor();
}

// --- signs and rounding ---

Tensor negate_negated(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kNegate);
  return inner ? inner->operands[0] : Tensor();
}

Tensor abs_of_abs(const Node& node) {
  return operand_of_op(node, 0, ops::kAbs) ? node.operands[0] : Tensor();
}

Tensor abs_of_negated(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kNegate);
  return inner ? made(ops::kAbs, {inner->operands[0]}, node) : Tensor();
}

Tensor sign_of_sign(const Node& node) {
  return !takes_complex(node) && operand_of_op(node, 0, ops::kSign) ? node.operands[0] : Tensor();
}

Tensor round_rounded(const Node& node) {
  const ir::OpDef* below = node.operands[0].node()->op;
  return below == &ops::kFloor || below == &ops::kCeil || below == &ops::kRound ? node.operands[0]
                                                                                : Tensor();
}

// --- bits ---

Tensor not_of_not(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kNot);
  return inner ? inner->operands[0] : Tensor();
}

Direction opposite(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return Direction::kNe;
    case Direction::kNe:
      return Direction::kEq;
    case Direction::kLt:
      return Direction::kGe;
    case Direction::kLe:
      return Direction::kGt;
    case Direction::kGt:
      return Direction::kLe;
    case Direction::kGe:
      return Direction::kLt;
  }
  return direction;
}

Tensor not_of_comparison(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kCompare);
  if (!inner) return Tensor();
  auto attributes = inner->attrs<ops::CompareAttributes>();
  const bool by_equality =
      attributes.direction == Direction::kEq || attributes.direction == Direction::kNe;
  if (!takes_integers_or_preds(*inner) && !attributes.total_order && !by_equality) return Tensor();
  attributes.direction = opposite(attributes.direction);
  return made(ops::kCompare, inner->operands, node, attributes);
}

Tensor beside_zero(const Node& node) { return beside(node, SplatValue::kZero); }
Tensor beside_all_ones(const Node& node) { return beside(node, SplatValue::kAllOnes); }
Tensor zero_among(const Node& node) { return among(node, SplatValue::kZero); }
Tensor all_ones_among(const Node& node) { return among(node, SplatValue::kAllOnes); }

Tensor xor_itself(const Node& node) { return operands_are_same(node) ? all_zero(node) : Tensor(); }

Tensor xor_all_ones(const Node& node) {
  const Tensor x = beside(node, SplatValue::kAllOnes);
  return x.empty() ? Tensor() : made(ops::kNot, {x}, node);
}

Tensor shift_by_zero(const Node& node) {
  return is_splat(node.operands[1], SplatValue::kZero) ? node.operands[0] : Tensor();
}

// --- comparisons and choice ---

Tensor compare_itself(const Node& node) {
  if (!operands_are_same(node)) return Tensor();
  const auto& [direction, total_order] = node.attrs<ops::CompareAttributes>();
  const bool never_nan = takes_integers_or_preds(node) || total_order;
  switch (direction) {
    case Direction::kLt:
    case Direction::kGt:
      return all_zero(node);
    case Direction::kNe:
      return never_nan ? all_zero(node) : Tensor();
    default:
      return never_nan ? all_one(node) : Tensor();
  }
}

Tensor compare_pred(const Node& node) {
  const Direction direction = node.attrs<ops::CompareAttributes>().direction;
  if (!is_pred(node.operand_type(0).dtype) ||
      (direction != Direction::kEq && direction != Direction::kNe))
    return Tensor();
  Tensor same = beside(node, direction == Direction::kEq ? SplatValue::kOne : SplatValue::kZero);
  if (!same.empty()) return same;
  const Tensor negated =
      beside(node, direction == Direction::kEq ? SplatValue::kZero : SplatValue::kOne);
  return negated.empty() ? Tensor() : made(ops::kNot, {negated}, node);
}

/// The integer that all elements are equal to.
std::optional<std::int64_t> same_integer(const Tensor& tensor) {
  const Tensor source = splat_source(tensor);
  if (source.empty() || source.type().elements() != 1 || !is_integer(tensor.dtype()))
    return std::nullopt;
  return ops::index_at(source.node()->attrs<ir::ConstantAttributes>().value, 0);
}

/// A remainder by 2^k has the dividend's low bits, and its sign unless they are all zero.
Tensor compare_remainder(const Node& node) {
  const Direction direction = node.attrs<ops::CompareAttributes>().direction;
  const Node* remainder = operand_of_op(node, 0, ops::kRemainder);
  if (!remainder || (direction != Direction::kEq && direction != Direction::kNe)) return Tensor();
  const auto divisor = same_integer(remainder->operands[1]), is = same_integer(node.operands[1]);
  if (!divisor || !is || *divisor < 2 || *is < 0 || *is >= *divisor ||
      !std::has_single_bit(static_cast<std::uint64_t>(*divisor)))
    return Tensor();
  const DType dtype = remainder->type().dtype;
  std::int64_t bits = *divisor - 1;
  if (*is != 0 && is_signed_integer(dtype)) bits |= INT64_MIN >> (64 - bit_width(dtype));
  const Tensor mask = ir::make_constant(
      ir::scalar_literal(Scalar::of(bits), dtype, node.location()), node.location());
  const Tensor masks = node.type().rank() == 0
                           ? mask
                           : ops::broadcast_axes(mask, node.type().shape, {}, node.location());
  return made(ops::kCompare,
              {made(ops::kAnd, {remainder->operands[0], masks}, node), node.operands[1]}, node,
              node.attributes);
}

Tensor select_known(const Node& node) {
  if (is_splat(node.operands[0], SplatValue::kOne)) return node.operands[1];
  if (is_splat(node.operands[0], SplatValue::kZero)) return node.operands[2];
  return Tensor();
}

Tensor select_same(const Node& node) {
  return node.operands[1].same_as(node.operands[2]) ? node.operands[1] : Tensor();
}

Tensor select_by_not(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kNot);
  return inner ? made(ops::kSelect, {inner->operands[0], node.operands[2], node.operands[1]}, node)
               : Tensor();
}

Tensor select_truth(const Node& node) {
  if (!is_pred(node.type().dtype)) return Tensor();
  const bool true_first =
      is_splat(node.operands[1], SplatValue::kOne) && is_splat(node.operands[2], SplatValue::kZero);
  const bool false_first =
      is_splat(node.operands[1], SplatValue::kZero) && is_splat(node.operands[2], SplatValue::kOne);
  if (true_first) return node.operands[0];
  return false_first ? made(ops::kNot, {node.operands[0]}, node) : Tensor();
}

// --- dtypes ---

/// Whether every value of `from` is exactly representable in `to`, so the conversion loses nothing.
bool holds_all_values(DType to, DType from) {
  if (to == from) return true;
  const std::int64_t to_bits = bit_width(to), from_bits = bit_width(from);
  auto digits = [](DType dtype) {  // of a float: the bits of integers that it represents exactly
    switch (dtype) {
      case DType::kF16:
        return 11;
      case DType::kBF16:
        return 8;
      case DType::kF32:
        return 24;
      default:
        return 53;
    }
  };
  if (is_pred(to)) return false;
  if (is_complex(from)) return is_complex(to) && to_bits > from_bits;
  if (is_complex(to)) return false;
  if (is_pred(from)) return true;
  if (is_floating(to) && is_small(to)) return false;
  if (is_floating(from)) return is_floating(to) && to_bits > from_bits;
  if (is_floating(to)) return digits(to) >= from_bits - (is_signed_integer(from) ? 1 : 0);
  if (is_unsigned_integer(from)) return to_bits > from_bits;
  return is_signed_integer(to) && to_bits > from_bits;
}

Tensor convert_to_itself(const Node& node) {
  return node.type() == node.operand_type(0) ? node.operands[0] : Tensor();
}

Tensor convert_converted(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kConvert);
  if (!inner) return Tensor();
  const Tensor& x = inner->operands[0];
  const DType from = x.dtype(), between = inner->type().dtype, to = node.type().dtype;
  // Integers keep their low bits in a conversion to another width.
  const bool low_bits = is_integer(from) && is_integer(between) && is_integer(to) &&
                        bit_width(to) <= bit_width(between);
  // A float saturates where an integer wraps. An exact value in between does not help if it does
  // not fit the result.
  const bool saturates =
      is_floating(between) && is_integer(to) && !is_floating(from) && !holds_all_values(to, from);
  const bool exact =
      holds_all_values(between, from) && !saturates && is_complex(from) == is_complex(to);
  if (!low_bits && !exact) return Tensor();
  return to == from ? x : made(ops::kConvert, {x}, node, ops::ConvertAttributes{to});
}

/// For integers only: no derivative passes through bits, but one would pass through the float
/// itself.
Tensor bitcast_there_and_back(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kBitcastConvert);
  if (!inner || inner->operands[0].type() != node.type() || !is_integer(node.type().dtype))
    return Tensor();
  return inner->operands[0];
}

template <std::size_t part>
Tensor part_of_complex(const Node& node) {
  const Node* inner = operand_of_op(node, 0, ops::kComplex);
  return inner ? inner->operands[part] : Tensor();
}

Tensor complex_of_parts(const Node& node) {
  const Node* re = operand_of_op(node, 0, ops::kReal);
  const Node* im = operand_of_op(node, 1, ops::kImag);
  return re && im && re->operands[0].same_as(im->operands[0]) ? re->operands[0] : Tensor();
}

// clang-format off
const Identity kArithmeticIdentities[] = {
    {&ops::kAdd, "x + 0 = x", "integers and pred; a float -0 + 0 would become +0", add_zero},
    {&ops::kAdd, "x + -0 = x", "-0 is the neutral element of IEEE addition: +0 + -0 = +0, -0 + -0 = -0", add_negative_zero},
    {&ops::kAdd, "x + (-y) = x - y", "IEEE defines the difference so; integers wrap alike", add_negated},
    {&ops::kAdd, "x + (-y) z = x - y z", "a product's sign is that of its factors; not complex, where zeros would differ in sign", add_negated_product},
    {&ops::kSubtract, "x - (-y) z = x + y z", "as for x + (-y) z", subtract_negated_product},
    {&ops::kSubtract, "x - 0 = x", "+0 - +0 = +0 and -0 - +0 = -0", subtract_zero},
    {&ops::kSubtract, "x - x = 0", "integers; a float infinity or NaN would give NaN", subtract_itself},
    {&ops::kSubtract, "x - (-y) = x + y", "IEEE defines the difference so; integers wrap alike", subtract_negated},
    {&ops::kMultiply, "x * 1 = x", "exact, signs included; not complex, where infinity * 0 arises", multiply_one},
    {&ops::kMultiply, "x * 0 = 0", "integers and pred; a float keeps its sign, and infinity and NaN give NaN", multiply_zero},
    {&ops::kDivide, "x / 1 = x", "exact, signs included; not complex, where infinity * 0 arises", divide_by_one},
    {&ops::kRemainder, "x % 1 = 0", "integers; a float has a fraction", remainder_by_one},
    {&ops::kPower, "x ^ 1 = x", "exact for floats by C's pow, NaN included; one multiplication for integers", power_one},
    {&ops::kPower, "x ^ 0 = 1", "1 for every x, NaN included, by C's pow; the empty product for integers", power_zero},
    {&ops::kMaximum, "max(x, x) = x", "of equals, NaN and zeros of either sign included, either", of_itself},
    {&ops::kMinimum, "min(x, x) = x", "of equals, NaN and zeros of either sign included, either", of_itself},
    {&ops::kClamp, "clamp(a, clamp(a, x, b), b) = clamp(a, x, b)", "what is between the bounds stays; for a > b both are b", clamp_clamped},
    {&ops::kNegate, "-(-x) = x", "the sign bit flips twice; integers wrap back", negate_negated},
    {&ops::kAbs, "abs(abs(x)) = abs(x)", "the sign bit is gone already; the least integer stays as it is", abs_of_abs},
    {&ops::kAbs, "abs(-x) = abs(x)", "the sign bit goes anyway; the least integer is its own negative", abs_of_negated},
    {&ops::kSign, "sign(sign(x)) = sign(x)", "of -1, -0, +0, 1 and NaN themselves", sign_of_sign},
    {&ops::kFloor, "floor(round(x)) = round(x)", "a whole number, infinity or NaN stays (after floor, ceil or round)", round_rounded},
    {&ops::kCeil, "ceil(round(x)) = round(x)", "a whole number, infinity or NaN stays (after floor, ceil or round)", round_rounded},
    {&ops::kRound, "round(round(x)) = round(x)", "a whole number, infinity or NaN stays (after floor, ceil or round)", round_rounded},
    {&ops::kNot, "~~x = x", "each bit flips twice", not_of_not},
    {&ops::kNot, "!(x < y) = x >= y", "in a total order, and of == and != in any", not_of_comparison},
    {&ops::kAnd, "x & ones = x", "bits", beside_all_ones},
    {&ops::kAnd, "x & 0 = 0", "bits", zero_among},
    {&ops::kAnd, "x & x = x", "bits", of_itself},
    {&ops::kOr, "x | 0 = x", "bits", beside_zero},
    {&ops::kOr, "x | ones = ones", "bits", all_ones_among},
    {&ops::kOr, "x | x = x", "bits", of_itself},
    {&ops::kXor, "x ^ 0 = x", "bits", beside_zero},
    {&ops::kXor, "x ^ x = 0", "bits", xor_itself},
    {&ops::kXor, "x ^ ones = ~x", "bits", xor_all_ones},
    {&ops::kShiftLeft, "x << 0 = x", "no bit moves", shift_by_zero},
    {&ops::kShiftRightLogical, "x >>> 0 = x", "no bit moves", shift_by_zero},
    {&ops::kShiftRightArithmetic, "x >> 0 = x", "no bit moves", shift_by_zero},
    {&ops::kCompare, "x < x = false", "NaN too is not less than itself; ==, <=, >=, != only where there is no NaN", compare_itself},
    {&ops::kCompare, "p == true = p", "pred; and p != false, and the opposite of both", compare_pred},
    {&ops::kCompare, "x % 8 == 5 = (x & (7 and the sign)) == 5", "integers; the remainder has the sign of x, and of 0 only the low bits matter", compare_remainder},
    {&ops::kSelect, "true ? x : y = x", "the other choice has no effect", select_known},
    {&ops::kSelect, "p ? x : x = x", "either is the same", select_same},
    {&ops::kSelect, "!p ? x : y = p ? y : x", "the same element is chosen", select_by_not},
    {&ops::kSelect, "p ? true : false = p", "pred; and the opposite", select_truth},
    {&ops::kConvert, "convert(x, dtype of x) = x", "nothing is converted", convert_to_itself},
    {&ops::kConvert, "convert(convert(x, b), c) = convert(x, c)", "b holds every value of x, or only low bits of integers matter", convert_converted},
    {&ops::kBitcastConvert, "bits there and back = x", "the bytes never change", bitcast_there_and_back},
    {&ops::kReal, "real(complex(x, y)) = x", "the part is kept as it is", part_of_complex<0>},
    {&ops::kImag, "imag(complex(x, y)) = y", "the part is kept as it is", part_of_complex<1>},
    {&ops::kComplex, "complex(real(z), imag(z)) = z", "the parts are kept as they are", complex_of_parts},
};
// clang-format on

}  // namespace

std::span<const Identity> arithmetic_identities() { return kArithmeticIdentities; }

}  // namespace rondo::passes
