// Sums, products, extremes, rounding.
#include <cmath>

#include "ir/attribute_text.h"
#include "ir/index_range.h"
#include "ops/complex_formulas.h"
#include "ops/derivative_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/complex_math.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/slopes.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace math {

struct Add {
  template <class N>
  N operator()(N a, N b) const {
    return a + b;
  }
};
struct Subtract {
  template <class N>
  N operator()(N a, N b) const {
    return a - b;
  }
};
struct Multiply {
  template <class N>
  N operator()(N a, N b) const {
    return a * b;
  }
};
struct Divide {
  template <lower::Number N>
  N operator()(N a, N b) const {
    return a / b;
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> a, std::complex<T> b) const {
    return a / b;
  }
};
struct Remainder {
  template <lower::Number N>
  N operator()(N a, N b) const {
    return remainder(a, b);
  }
};
struct Maximum {
  template <lower::Number N>
  N operator()(N a, N b) const {
    return max(a, b);
  }
};
struct Minimum {
  template <lower::Number N>
  N operator()(N a, N b) const {
    return min(a, b);
  }
};
struct Clamp {
  template <lower::Number N>
  N operator()(N lo, N x, N hi) const {
    return min(max(lo, x), hi);
  }
};
struct Negate {
  template <class N>
  N operator()(N x) const {
    return -x;
  }
};
struct Abs {
  template <lower::Number N>
  N operator()(N x) const {
    return abs(x);
  }
  template <class T>
  T operator()(std::complex<T> x) const {
    return complex_abs(x);
  }
};
struct Sign {
  template <lower::Number N>
  N operator()(N x) const {
    return select(x > N::of(0), N::of(1), select(x < N::of(0), N::of(-1), x));
  }
  template <class T>
  std::complex<T> operator()(std::complex<T> x) const {
    return complex_sign(x);
  }
};
struct Floor {
  template <lower::Float N>
  N operator()(N x) const {
    return floor(x);
  }
};
struct Ceil {
  template <lower::Float N>
  N operator()(N x) const {
    return ceil(x);
  }
};
struct Round {
  template <lower::Float N>
  N operator()(N x) const {
    return round_even(x);
  }
};
struct RoundAway {
  template <lower::Float N>
  N operator()(N x) const {
    const N size = abs(x), whole = floor(size);  // the difference is exact
    return copy_sign(select(size - whole >= N::of(0.5), whole + N::of(1), whole), x);
  }
};

}  // namespace math

namespace {

std::vector<Tensor> add_jvp(const JvpCall& c) {
  return {ir::add_tangents(c.tangents[0], c.tangents[1])};
}
std::vector<Tensor> add_transpose(const TransposeCall& c) { return {c.ct(), c.ct()}; }

std::vector<Tensor> subtract_jvp(const JvpCall& c) {
  if (!c.has(1)) return {c.dx(0)};
  return {c.has(0) ? c.dx(0) - c.dx(1) : -c.dx(1)};
}
std::vector<Tensor> subtract_transpose(const TransposeCall& c) {
  return {c.ct(), c.linear[1] ? -c.ct() : Tensor()};
}

std::vector<Tensor> multiply_transpose(const TransposeCall& c) {
  if (c.linear[0]) return {c.ct() * c.x(1), Tensor()};
  return {Tensor(), c.ct() * c.x(0)};
}

/// d(a / b) = (da - y db) / b, where y = a / b.
std::vector<Tensor> divide_jvp(const JvpCall& c) {
  if (!c.has(1)) return {c.dx(0) / c.x(1)};
  const Tensor change = c.dx(1) * c.y();
  return {c.has(0) ? (c.dx(0) - change) / c.x(1) : -(change / c.x(1))};
}
std::vector<Tensor> divide_transpose(const TransposeCall& c) { return {c.ct() / c.x(1), Tensor()}; }

std::vector<Tensor> negate_transpose(const TransposeCall& c) { return {-c.ct()}; }

/// What of the greater operand (sign 1) or the lesser one (-1) is operand i.
template <int sign, std::size_t i>
Tensor extreme_partial(const JvpCall& c) {
  return sign > 0 ? maximum_slope(c.x(i), c.x(1 - i)) : maximum_slope(c.x(1 - i), c.x(i));
}

std::vector<Tensor> remainder_jvp(const JvpCall& c) {
  if (!c.has(1)) return {c.dx(0)};
  const Tensor change = c.dx(1) * remainder_quotient(c.x(0), c.x(1));
  return {c.has(0) ? c.dx(0) - change : -change};
}

/// d|x| is dx or -dx, and dx at 0, as JAX has it; for complex x it is Re(conj(x) / |x| dx), and 0
/// at 0.
std::vector<Tensor> abs_jvp(const JvpCall& c) {
  if (!is_complex(c.x(0).dtype())) return {c.dx(0) * where(c.x(0) >= 0, ones(c.x(0).type()), -1)};
  const Tensor length = where(c.y() == 0, 1, c.y());
  return {real(c.dx(0) * (conj(c.x(0)) / convert(length, c.x(0).dtype())))};
}

std::vector<ir::IndexRange> clamped_index(const ir::Node& node) {
  const auto& meant = node.attrs<ClampIndexAttributes>();
  return {
      {.op = meant.op, .operand = 1, .axis = meant.axis, .size = meant.size, .room_operand = 2}};
}

/// The tangent of what the result is, which is the upper border where that is below the lower one;
/// 0 at the borders themselves, as JAX has it.
std::vector<Tensor> clamp_jvp(const JvpCall& c) {
  const Tensor &lo = c.x(0), &x = c.x(1), &hi = c.x(2);
  Tensor sum;
  const auto add = [&](std::size_t i, const Tensor& is_it) {
    sum = ir::add_tangents(sum, where(is_it, c.dx(i), 0));
  };
  if (c.has(0)) add(0, (lo > x) & (lo < hi));
  if (c.has(1)) add(1, (x > lo) & (x < hi));
  if (c.has(2)) add(2, (hi < x) | (hi < lo));
  return {sum};
}

struct MaximumSlope {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return select(x > y, N::of(1), select(x == y, N::of(0.5), N::of(0)));
  }
};
Tensor maximum_slope_formula(std::span<const Tensor> x) {
  const Tensor half = Operand(0.5).as(x[0].dtype());
  return where(x[0] > x[1], 1, where(x[0] == x[1], half, 0));
}

struct RemainderQuotient {
  template <lower::Float N>
  N operator()(N x, N y) const {
    return truncate(x / y);
  }
};
Tensor remainder_quotient_formula(std::span<const Tensor> x) {
  const Tensor quotient = x[0] / x[1];
  return sign(quotient) * floor(abs(quotient));
}

}  // namespace

const OpDef kAdd = elementwise<2, math::Add, kPreds | kNumbers>(
    {.name = "add",
     .spelling = "+",
     .structure = {.commutative = true},
     .derivative = {.linear = Linear::kJointly, .jvp = add_jvp, .transpose = add_transpose},
     .text = {.hlo = "add", .stablehlo = "stablehlo.add"}});
const OpDef kSubtract = elementwise<2, math::Subtract, kNumbers>(
    {.name = "subtract",
     .spelling = "-",
     .derivative = {.linear = Linear::kJointly,
                    .jvp = subtract_jvp,
                    .transpose = subtract_transpose},
     .text = {.hlo = "subtract", .stablehlo = "stablehlo.subtract"}});
const OpDef kMultiply = elementwise<2, math::Multiply, kPreds | kNumbers>(
    {.name = "multiply",
     .spelling = "*",
     .structure = {.commutative = true},
     .derivative = {.linear = Linear::kSeparately, .transpose = multiply_transpose},
     .text = {.hlo = "multiply", .stablehlo = "stablehlo.multiply"}});
const OpDef kDivide = elementwise<2, math::Divide, kNumbers>(
    {.name = "divide",
     .spelling = "/",
     .expansion = {.in_loops = expand_by<complex_quotient>},
     .derivative = {.linear = Linear::kFirst, .jvp = divide_jvp, .transpose = divide_transpose},
     .text = {.hlo = "divide", .stablehlo = "stablehlo.divide"}});
const OpDef kRemainder = elementwise<2, math::Remainder, kIntegers | kFloats>(
    {.name = "remainder",
     .spelling = "%",
     .derivative = {.jvp = remainder_jvp},
     .text = {.hlo = "remainder", .stablehlo = "stablehlo.remainder"}});
const OpDef kMaximum = elementwise<2, math::Maximum, kOrdered>(
    {.name = "maximum",
     .structure = {.commutative = true},
     .derivative = {.jvp = partials<extreme_partial<1, 0>, extreme_partial<1, 1>>},
     .text = {.hlo = "maximum", .stablehlo = "stablehlo.maximum"}});
const OpDef kMinimum = elementwise<2, math::Minimum, kOrdered>(
    {.name = "minimum",
     .structure = {.commutative = true},
     .derivative = {.jvp = partials<extreme_partial<-1, 0>, extreme_partial<-1, 1>>},
     .text = {.hlo = "minimum", .stablehlo = "stablehlo.minimum"}});
const OpDef kClamp = elementwise<3, math::Clamp, kIntegers | kFloats>(
    {.name = "clamp",
     .derivative = {.jvp = clamp_jvp},
     .text = {.hlo = "clamp", .stablehlo = "stablehlo.clamp"}});

const OpDef kClampIndex = elementwise<3, math::Clamp, kIntegers>(
    {.name = "clamp_index",
     .structure = {.indices = clamped_index},
     .derivative = {.zero = true},
     .text = {.hlo = "clamp",
              .stablehlo = "stablehlo.clamp",
              .attributes = &ir::kFieldText<ClampIndexAttributes>,
              .is_read = false}});

const OpDef kNegate = elementwise<1, math::Negate, kNumbers>(
    {.name = "negate",
     .derivative = {.linear = Linear::kJointly, .transpose = negate_transpose},
     .text = {.hlo = "negate", .stablehlo = "stablehlo.negate"}});
const OpDef kAbs = elementwise<1, math::Abs, kSigned | kInexact>(
    {.name = "abs",
     .expansion = {.in_loops = expand_by<complex_abs_of_parts>},
     .derivative = {.jvp = abs_jvp},
     .text = {.hlo = "abs", .stablehlo = "stablehlo.abs"}});
const OpDef kSign = elementwise<1, math::Sign, kSigned | kInexact>(
    {.name = "sign",
     .expansion = {.in_loops = expand_by<complex_sign_of_parts>},
     .derivative = {.zero = true},
     .text = {.hlo = "sign", .stablehlo = "stablehlo.sign"}});
const OpDef kFloor = elementwise<1, math::Floor, kFloats>(
    {.name = "floor",
     .derivative = {.zero = true},
     .text = {.hlo = "floor", .stablehlo = "stablehlo.floor"}});
const OpDef kCeil =
    elementwise<1, math::Ceil, kFloats>({.name = "ceil",
                                         .derivative = {.zero = true},
                                         .text = {.hlo = "ceil", .stablehlo = "stablehlo.ceil"}});
const OpDef kRound = elementwise<1, math::Round, kFloats>(
    {.name = "round",
     .derivative = {.zero = true},
     .text = {.hlo = "round-nearest-even", .stablehlo = "stablehlo.round_nearest_even"}});
const OpDef kRoundAway = elementwise<1, math::RoundAway, kFloats>(
    {.name = "round_half_away",
     .derivative = {.zero = true},
     .text = {.hlo = "round-nearest-afz", .stablehlo = "stablehlo.round_nearest_afz"}});

const OpDef kMaximumSlope =
    elementwise<2, MaximumSlope, kFloats>({.name = "maximum_slope",
                                           .expansion = {.rule = expand_by<maximum_slope_formula>},
                                           .derivative = {.zero = true}});
const OpDef kRemainderQuotient = elementwise<2, RemainderQuotient, kFloats>(
    {.name = "remainder_quotient",
     .expansion = {.rule = expand_by<remainder_quotient_formula>},
     .derivative = {.zero = true}});

Tensor maximum_slope(const Tensor& x, const Tensor& y) { return binary_op(kMaximumSlope, x, y); }
Tensor remainder_quotient(const Tensor& x, const Tensor& y) {
  return binary_op(kRemainderQuotient, x, y);
}

std::span<const OpDef* const> arithmetic_records() {
  static constexpr const OpDef* kAll[] = {
      &kAdd,     &kSubtract, &kMultiply,  &kDivide,     &kRemainder,    &kMaximum,
      &kMinimum, &kClamp,    &kNegate,    &kAbs,        &kSign,         &kFloor,
      &kCeil,    &kRound,    &kRoundAway, &kClampIndex, &kMaximumSlope, &kRemainderQuotient};
  return kAll;
}

Tensor clamp_index(const Operand& index, const Operand& last, ClampIndexAttributes meant) {
  std::array<Tensor, 3> all{Operand(0, index.at()).as(index.tensor().dtype()), index.tensor(),
                            same_dtype("clamp", last, index)[0]};
  broadcast_together("clamp", all, index.at());
  return make(kClampIndex, {all[0], all[1], all[2]}, std::move(meant), index.at());
}

}  // namespace rondo::ops

namespace rondo {

Tensor operator+(const Operand& a, const Operand& b) { return ops::binary_op(ops::kAdd, a, b); }
Tensor operator-(const Operand& a, const Operand& b) {
  return ops::binary_op(ops::kSubtract, a, b);
}
Tensor operator*(const Operand& a, const Operand& b) {
  return ops::binary_op(ops::kMultiply, a, b);
}
namespace {

/// Throws TraceError where one operand is a floating C++ scalar and the other an integer tensor:
/// whether the integers or real numbers are to be divided is not said.
void check_quotient(const ops::Spelling& op, const Operand& a, const Operand& b) {
  const auto refuse = [&](const Operand& number, const Operand& tensor, bool scalar_first) {
    if (!number.is_scalar() || tensor.is_scalar() || tensor.tensor().empty()) return;
    if (!is_floating(number.scalar().dtype) || !is_integer(tensor.tensor().dtype())) return;
    const auto written = [&](const std::string& x, const std::string& scalar) {
      return scalar_first ? op.of(scalar, x, x) : op.of(x, scalar, x);
    };
    const std::string real = ir::scalar_code(number.scalar());
    ir::fail(op.name,
             fmt::format("the C++ scalar {} beside {}, whose elements are integers, can mean two "
                         "things\n  For real numbers write {}, for integers {}, which truncates.",
                         real, tensor.tensor().type().str(),
                         written(ir::converted("x", DType::kF32), real),
                         written("x", fmt::format("{:.0f}", std::trunc(number.scalar().real)))),
             a.at());
  };
  refuse(a, b, true);
  refuse(b, a, false);
}

}  // namespace

Tensor operator/(const Operand& a, const Operand& b) {
  check_quotient(ops::kDivide, a, b);
  return ops::binary_op(ops::kDivide, a, b);
}
Tensor operator%(const Operand& a, const Operand& b) {
  check_quotient({"rem", "%"}, a, b);
  return ops::binary_op(ops::kRemainder, a, b);
}
Tensor rem(const Operand& a, const Operand& b) { return a % b; }
Tensor maximum(const Operand& a, const Operand& b) { return ops::binary_op(ops::kMaximum, a, b); }
Tensor minimum(const Operand& a, const Operand& b) { return ops::binary_op(ops::kMinimum, a, b); }

Tensor operator-(const Operand& x) { return ops::unary_op(ops::kNegate, x); }
Tensor operator+(const Operand& x) { return ir::checked(x.any(), "+", x.at()); }
Tensor floor(const Operand& x) { return ops::unary_op(ops::kFloor, x); }
Tensor ceil(const Operand& x) { return ops::unary_op(ops::kCeil, x); }
Tensor round(const Operand& x) { return ops::unary_op(ops::kRound, x); }
Tensor round_half_away(const Operand& x) { return ops::unary_op(ops::kRoundAway, x); }

Tensor abs(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "abs", x.at());
  return is_unsigned_integer(tensor.dtype()) ? tensor : ops::unary_op(ops::kAbs, {tensor, x.at()});
}

Tensor sign(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "sign", x.at());
  if (is_unsigned_integer(tensor.dtype()))
    return convert(Operand(ne({tensor, x.at()}, 0), x.at()), tensor.dtype());
  return ops::unary_op(ops::kSign, {tensor, x.at()});
}

Tensor square(const Operand& x) {
  const Tensor tensor = x.any();
  return ops::binary_op(ops::kMultiply, {tensor, x.at()}, {tensor, x.at()});
}

Tensor reciprocal(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "reciprocal", x.at());
  if (!is_floating(tensor.dtype()) && !is_complex(tensor.dtype())) {
    ops::fail(
        "reciprocal",
        fmt::format(
            "takes floats and complex numbers; the operand is {}\n  Convert it to a float first: "
            "rondo::convert(x, DType::kF32).",
            tensor.type().str()),
        x.at());
  }
  return ops::binary_op(ops::kDivide, {1, x.at()}, {tensor, x.at()});
}

Tensor clamp(const Operand& lo, const Operand& x, const Operand& hi) {
  std::array<Tensor, 3> all;
  if (lo.is_scalar() && x.is_scalar() && hi.is_scalar()) {
    // The dtype that holds all three holds two pairs of them.
    const DType lower = ops::same_dtype("clamp", lo, x)[0].dtype(),
                upper = ops::same_dtype("clamp", x, hi)[0].dtype();
    const DType outer = ops::same_dtype("clamp", lo, hi)[0].dtype();
    const DType dtype = lower == upper || lower == outer ? lower : upper;
    all = {lo.as(dtype), x.as(dtype), hi.as(dtype)};
  } else {
    const Operand& known = !x.is_scalar() ? x : !lo.is_scalar() ? lo : hi;
    all = {ops::same_dtype("clamp", lo, known)[0], ops::same_dtype("clamp", x, known)[0],
           ops::same_dtype("clamp", hi, known)[0]};
  }
  ops::broadcast_together("clamp", all, x.at());
  return ops::make(ops::kClamp, {all[0], all[1], all[2]}, {}, x.at());
}

}  // namespace rondo
