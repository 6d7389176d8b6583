// Comparisons, and the questions about numbers that are answered by them.
#include <cmath>
#include <limits>

#include "ir/attribute_text.h"
#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

InferredTypes infer_compare(const InferContext& context) {
  const auto& [direction, total_order] = context.attrs<CompareAttributes>();
  const bool orders = direction != Direction::kEq && direction != Direction::kNe;
  check_elementwise(context, orders || total_order ? kOrdered : kOrdered | kComplexes);
  return {{DType::kPred, context.type(0).shape}};
}

struct Equal {
  template <class N>
  auto operator()(N a, N b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class N>
  auto operator()(N a, N b) const {
    return a != b;
  }
};
struct Less {
  template <lower::Number N>
  auto operator()(N a, N b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <lower::Number N>
  auto operator()(N a, N b) const {
    return a <= b;
  }
};
struct Greater {
  template <lower::Number N>
  auto operator()(N a, N b) const {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <lower::Number N>
  auto operator()(N a, N b) const {
    return a >= b;
  }
};
/// F of the bits of floats, as integers that have the place of a float in IEEE 754's total order:
/// the more negative a number, the greater are the other bits than that of the sign.
template <class F>
struct InTotalOrder {
  template <lower::Whole N>
  auto operator()(N a, N b) const {
    return F()(key(a), key(b));
  }

 private:
  template <class N>
  static N key(N bits) {
    const N negative = shift_right_arithmetic(bits, N::of(bits.width() - 1));  // 0 or all ones
    return bits ^ shift_right_logical(negative, N::of(1));
  }
};

/// Calls f.template operator()<F>() with the functor of a direction.
template <class F>
decltype(auto) for_direction(Direction direction, F&& f) {
  switch (direction) {
    case Direction::kEq:
      return f.template operator()<Equal>();
    case Direction::kNe:
      return f.template operator()<NotEqual>();
    case Direction::kLt:
      return f.template operator()<Less>();
    case Direction::kLe:
      return f.template operator()<LessOrEqual>();
    case Direction::kGt:
      return f.template operator()<Greater>();
    case Direction::kGe:
      return f.template operator()<GreaterOrEqual>();
  }
  throw InternalError("a comparison in no direction");
}

bool compares_bits(const Node& node) {
  return node.attrs<CompareAttributes>().total_order && is_floating(node.operand_type(0).dtype);
}

std::unique_ptr<ir::Kernel> prepare_compare(const Node& node) {
  const DType dtype = node.operand_type(0).dtype;
  ElementLoop loop = nullptr;
  for_direction(node.attrs<CompareAttributes>().direction, [&]<class F>() {
    if (compares_bits(node)) {
      for_kinds<kSigned>(bits_dtype(dtype),
                         [&]<class T>() { loop = element_loop<2, InTotalOrder<F>, T>(); });
    } else {
      constexpr bool orders = !takes_numbers<2, F, lower::Complex<lower::Scalar<float>>>;
      for_kinds<loop_kinds(orders ? kOrdered : kOrdered | kComplexes)>(
          loop_dtype(dtype), [&]<class T>() { loop = element_loop<2, F, T>(); });
    }
  });
  return compares_bits(node) ? elementwise_kernel(node, loop) : computing_kernel(node, loop);
}

Element compare_element(const ElementCall& c) {
  const Direction direction = c.node.attrs<CompareAttributes>().direction;
  return for_direction(direction, [&]<class F>() {
    if (!compares_bits(c.node)) return element_of<2, F>(c);
    const lower::Type type = lower::type_of(bits_dtype(c.dtype()));
    const Element bits[] = {{c.builder.bitcast(c.x(0), type)}, {c.builder.bitcast(c.x(1), type)}};
    return element_of<2, InTotalOrder<F>>({c.node, c.builder, bits, c.index});
  });
}

constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};

void describe_compare(ir::AttributeCodec& codec, CompareAttributes& a) {
  constexpr std::string_view kTypes[] = {"NOTYPE", "SIGNED", "UNSIGNED", "FLOAT", "TOTALORDER"};
  constexpr std::size_t kTotalOrder = 4;
  codec.choice({"direction", "comparison_direction", "", "direction"},
               {"comparison_direction", kDirections}, a.direction);
  if (ir::FieldList* const own = codec.own()) return own->field("total_order", a.total_order);
  const DType dtype = codec.operand(0).dtype;
  std::size_t type = a.total_order && is_floating(dtype)            ? kTotalOrder
                     : is_signed_integer(dtype)                     ? 1
                     : is_unsigned_integer(dtype) || is_pred(dtype) ? 2
                                                                    : 3;
  codec.word({"type", "compare_type", "", "type"},
             {.kind = "comparison_type", .names = kTypes, .place = 1, .first_in_hlo = kTotalOrder},
             type, ir::AttributeCodec::Need::kOptional);
  if (codec.reads()) a.total_order = type == kTotalOrder;
}

struct IsFinite {
  template <lower::Float N>
  auto operator()(N x) const {
    return abs(x) < N::of(HUGE_VAL);
  }
};

struct IsInf {
  template <lower::Float N>
  auto operator()(N x) const {
    return abs(x) == N::of(HUGE_VAL);
  }
  template <lower::Float N>
  auto operator()(lower::Complex<N> z) const {
    return (*this)(z.re) | (*this)(z.im);
  }
};

Tensor is_inf_formula(std::span<const Tensor> x) {
  if (is_complex(x[0].dtype())) return is_inf(real(x[0])) | is_inf(imag(x[0]));
  return abs(x[0]) == std::numeric_limits<double>::infinity();
}

/// Complex numbers by their real parts, and by their imaginary parts where those are equal, as
/// NumPy orders them.
/// As C++ writes it.
std::string_view sign_of(Direction direction) {
  static constexpr std::string_view kSigns[] = {"==", "!=", "<", "<=", ">", ">="};
  return kSigns[static_cast<int>(direction)];
}

Tensor compare_complex(const Tensor& a, const Tensor& b, Direction direction, SourceLocation at) {
  const Direction strict = direction == Direction::kLe   ? Direction::kLt
                           : direction == Direction::kGe ? Direction::kGt
                                                         : direction;
  const Tensor re_a = real({a, at}), re_b = real({b, at}), im_a = imag({a, at}),
               im_b = imag({b, at});
  const Tensor by_real = compare({re_a, at}, {re_b, at}, strict);
  const Tensor ties = compare({re_a, at}, {re_b, at}, Direction::kEq);
  const Tensor by_imag = compare({im_a, at}, {im_b, at}, direction);
  return where({ties, at}, {by_imag, at}, {by_real, at});
}

Tensor ordered(const Operand& a, const Operand& b, Direction direction) {
  const bool complex_a = !a.is_scalar() && !a.tensor().empty() && is_complex(a.tensor().dtype());
  const bool complex_b = !b.is_scalar() && !b.tensor().empty() && is_complex(b.tensor().dtype());
  if (!complex_a && !complex_b) return compare(a, b, direction);
  const std::array<Tensor, 2> both = matched({"compare", sign_of(direction)}, a, b);
  return compare_complex(both[0], both[1], direction, a.at());
}

}  // namespace

const OpDef kCompare{
    .name = "compare",
    .arity = 2,
    .cost = ir::Cost::kElementwise,
    .types = {.infer = infer_compare},
    .structure = {.element = compare_element,
                  .element_dtypes = ir::kAllDTypes,
                  .elementwise = true},
    .kernel = {.prepare = prepare_compare},
    .derivative = {.zero = true},
    .text = {.hlo = "compare",
             .stablehlo = "stablehlo.compare",
             .attributes = &ir::kAttributeText<CompareAttributes, describe_compare>}};

const OpDef kIsFinite = elementwise<1, IsFinite, kFloats>(
    {.name = "is_finite",
     .derivative = {.zero = true},
     .text = {.hlo = "is-finite", .stablehlo = "stablehlo.is_finite"}});

const OpDef kIsInf =
    elementwise<1, IsInf, kInexact>({.name = "is_inf",
                                     .expansion = {.rule = expand_by<is_inf_formula>},
                                     .derivative = {.zero = true}});

Tensor compare(const Operand& a, const Operand& b, Direction direction, bool total_order) {
  std::array<Tensor, 2> both = matched({"compare", sign_of(direction)}, a, b);
  ir::Operands operands;
  operands.push_back(std::move(both[0]));
  operands.push_back(std::move(both[1]));
  return make(kCompare, std::move(operands), CompareAttributes{direction, total_order}, a.at());
}

std::span<const OpDef* const> comparison_records() {
  static constexpr const OpDef* kAll[] = {&kCompare, &kIsFinite, &kIsInf};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor eq(const Operand& a, const Operand& b) { return ops::compare(a, b, ops::Direction::kEq); }
Tensor ne(const Operand& a, const Operand& b) { return ops::compare(a, b, ops::Direction::kNe); }
Tensor operator==(const Operand& a, const Operand& b) {
  return ops::compare(a, b, ops::Direction::kEq);
}
Tensor operator!=(const Operand& a, const Operand& b) {
  return ops::compare(a, b, ops::Direction::kNe);
}
Tensor operator<(const Operand& a, const Operand& b) {
  return ops::ordered(a, b, ops::Direction::kLt);
}
Tensor operator<=(const Operand& a, const Operand& b) {
  return ops::ordered(a, b, ops::Direction::kLe);
}
Tensor operator>(const Operand& a, const Operand& b) {
  return ops::ordered(a, b, ops::Direction::kGt);
}
Tensor operator>=(const Operand& a, const Operand& b) {
  return ops::ordered(a, b, ops::Direction::kGe);
}

Tensor is_nan(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "is_nan", x.at());
  if (!is_floating(tensor.dtype()) && !is_complex(tensor.dtype())) {
    ops::fail("is_nan",
              fmt::format("takes floats and complex numbers; the operand is {}, which is never "
                          "NaN\n  Leave it out, or convert first: rondo::convert(x, DType::kF32).",
                          tensor.type().str()),
              x.at());
  }
  return ops::compare({tensor, x.at()}, {tensor, x.at()}, ops::Direction::kNe);
}

Tensor is_inf(const Operand& x) { return ops::unary_op(ops::kIsInf, x); }

Tensor is_finite(const Operand& x) {
  const Tensor tensor = ir::checked(x.any(), "is_finite", x.at());
  if (!is_complex(tensor.dtype())) return ops::unary_op(ops::kIsFinite, {tensor, x.at()});
  const Tensor re = is_finite({real({tensor, x.at()}), x.at()}),
               im = is_finite({imag({tensor, x.at()}), x.at()});
  return ops::binary_op(ops::kAnd, {re, x.at()}, {im, x.at()});
}

}  // namespace rondo
