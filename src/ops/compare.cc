// Comparisons, and the questions about numbers that are answered by them.
#include <bit>
#include <cmath>
#include <limits>

#include "ops/element_rules.h"
#include "ops/elementwise.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/element_math.h"
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

/// An integer with the place of a float in IEEE 754's total order.
template <class T>
auto total_order_key(T x) {
  if constexpr (std::is_floating_point_v<T> || is_half<T>) {
    using Bits = std::conditional_t<sizeof(T) == 2, std::int16_t,
                                    std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
    const Bits bits = std::bit_cast<Bits>(x);
    return static_cast<Bits>(bits < 0 ? bits ^ std::numeric_limits<Bits>::max() : bits);
  } else {
    return x;
  }
}

template <class F>
struct InTotalOrder {
  template <class T>
  bool operator()(T a, T b) const {
    return F()(total_order_key(a), total_order_key(b));
  }
};

template <template <class> class Order>
std::unique_ptr<ir::Kernel> prepare_comparison(const Node& node, Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return prepare_elementwise<2, Order<math::Equal>, kOrdered | kComplexes>(node);
    case Direction::kNe:
      return prepare_elementwise<2, Order<math::NotEqual>, kOrdered | kComplexes>(node);
    case Direction::kLt:
      return prepare_elementwise<2, Order<math::Less>, kOrdered>(node);
    case Direction::kLe:
      return prepare_elementwise<2, Order<math::LessOrEqual>, kOrdered>(node);
    case Direction::kGt:
      return prepare_elementwise<2, Order<math::Greater>, kOrdered>(node);
    case Direction::kGe:
      return prepare_elementwise<2, Order<math::GreaterOrEqual>, kOrdered>(node);
  }
  throw InternalError("a comparison in no direction");
}

template <class F>
using PartialOrder = F;

std::unique_ptr<ir::Kernel> prepare_compare(const Node& node) {
  const auto& [direction, total_order] = node.attrs<CompareAttributes>();
  return total_order ? prepare_comparison<InTotalOrder>(node, direction)
                     : prepare_comparison<PartialOrder>(node, direction);
}

std::string_view comparison_type(const Node& node) {
  const DType dtype = node.operand_type(0).dtype;
  if (is_floating(dtype) && node.attrs<CompareAttributes>().total_order) return "TOTALORDER";
  return is_signed_integer(dtype)                       ? "SIGNED"
         : is_unsigned_integer(dtype) || is_pred(dtype) ? "UNSIGNED"
                                                        : "FLOAT";
}

void compare_hlo(const Node& node, std::string& out) {
  out += ", direction=";
  out += direction_name(node.attrs<CompareAttributes>().direction);
  if (node.attrs<CompareAttributes>().total_order && is_floating(node.operand_type(0).dtype))
    out += ", type=TOTALORDER";
}

void compare_stablehlo(const Node& node, std::string& out) {
  fmt::format_to(std::back_inserter(out),
                 "comparison_direction = #stablehlo<comparison_direction {}>, compare_type = "
                 "#stablehlo<comparison_type {}>",
                 direction_name(node.attrs<CompareAttributes>().direction), comparison_type(node));
}

struct IsFinite {
  template <class T>
  bool operator()(T x) const {
    return std::isfinite(x);
  }
};

struct IsInf {
  template <class T>
  bool operator()(T x) const {
    if constexpr (is_complex(dtype_of<T>))
      return std::isinf(x.real()) || std::isinf(x.imag());
    else
      return std::isinf(x);
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

const OpDef kCompare{.name = "compare",
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
                              .hlo_attributes = compare_hlo,
                              .stablehlo_attributes = compare_stablehlo}};

const OpDef kIsFinite = elementwise<1, IsFinite, kFloats>(
    {.name = "is_finite",
     .structure = {.element = is_finite_element},
     .derivative = {.zero = true},
     .text = {.hlo = "is-finite", .stablehlo = "stablehlo.is_finite"}});

const OpDef kIsInf =
    elementwise<1, IsInf, kInexact>({.name = "is_inf",
                                     .expansion = {.rule = expand_by<is_inf_formula>},
                                     .derivative = {.zero = true}});

std::string_view direction_name(Direction direction) {
  static constexpr std::string_view kNames[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  return kNames[static_cast<int>(direction)];
}

void print_field(std::string& out, Direction direction) { out += direction_name(direction); }

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
