#include "ops/support.h"

#include <algorithm>
#include <optional>

#include "ir/origins.h"
#include "ops/broadcast.h"

namespace rondo::ops {

namespace {

const Tensor& tensor_of(std::string_view op, const Operand& operand) {
  return ir::checked(operand.tensor(), op.data(), operand.at());
}

/// Whether `b` is the dtype to compute in: floating before integer, complex before both; the wider
/// of a kind.
bool ranks_below(DType a, DType b) {
  auto rank = [](DType t) {
    return std::pair(is_complex(t) ? 3 : is_floating(t) ? 2 : is_integer(t) ? 1 : 0, byte_width(t));
  };
  return rank(a) < rank(b);
}

Tensor scalar_beside(const Spelling& op, const Operand& scalar, DType dtype, bool first) {
  const ir::ScalarUse use{op, first};
  return ir::make_constant(ir::scalar_literal(scalar.scalar(), dtype, scalar.at(), &use),
                           scalar.at());
}

}  // namespace

std::array<Tensor, 2> same_dtype(const Spelling& op, const Operand& a, const Operand& b) {
  if (a.is_scalar() && b.is_scalar()) {
    const DType left = a.scalar().dtype, right = b.scalar().dtype;
    const DType dtype = ranks_below(left, right) ? right : left;
    return {a.as(dtype), b.as(dtype)};
  }
  if (a.is_scalar()) return {scalar_beside(op, a, tensor_of(op.name, b).dtype(), true), b.tensor()};
  if (b.is_scalar())
    return {a.tensor(), scalar_beside(op, b, tensor_of(op.name, a).dtype(), false)};
  const DType left = tensor_of(op.name, a).dtype(), right = tensor_of(op.name, b).dtype();
  if (left != right) {
    const std::string first = ir::scalar_origin(a.tensor(), right);
    const std::string second = first.empty() ? ir::scalar_origin(b.tensor(), left) : "";
    const bool known = !(first + second).empty();
    const Tensor& origin = first.empty() ? b.tensor() : a.tensor();
    const bool to_right = ranks_below(left, right);
    const std::string changed =
        ir::converted(to_right || op.code.empty() ? "x" : "y", to_right ? right : left);
    std::string remedy =
        fmt::format("Convert the {}: {}.", to_right ? "first" : "second",
                    to_right ? op.of(changed, "y", changed) : op.of("x", changed, changed));
    if (known && !origin.is_scalar_literal())  // the carry is the one to convert
      remedy = fmt::format("Or convert: {}.", ir::converted("x", first.empty() ? left : right));
    if (known) remedy = first + second + ". " + remedy;
    fail(op.name,
         fmt::format("the operands are {} and {}; their dtypes must be equal\n  {}",
                     a.tensor().type().str(), b.tensor().type().str(), remedy),
         a.at());
  }
  return {a.tensor(), b.tensor()};
}

std::array<Tensor, 2> matched(const Spelling& op, const Operand& a, const Operand& b) {
  std::array<Tensor, 2> both = same_dtype(op, a, b);
  if (both[0].shape() == both[1].shape()) return both;
  const Shape shape = broadcast_shape(op.name, both[0].type(), both[1].type(), a.at(), true);
  return {broadcast(both[0], shape, a.at()), broadcast(both[1], shape, a.at())};
}

Tensor any_tensor(std::string_view op, const Operand& operand) {
  return operand.is_scalar() ? operand.any() : tensor_of(op, operand);
}

Tensor adopt_dtype(const Tensor& x, DType dtype, SourceLocation at) {
  if (!x.is_scalar_literal() || x.dtype() == dtype) return x;
  const Literal& value = *ir::constant_value(x);
  const SourceLocation made = x.node()->location();
  return for_any_dtype(value.dtype(), [&]<class T>() {
    return ir::make_constant(
        ir::scalar_literal(Scalar::of(value.item<T>()), dtype, made.line ? made : at), made);
  });
}

std::string conversion_remedy(DType first, DType second, std::string_view first_name,
                              std::string_view second_name) {
  const bool convert_first = ranks_below(first, second);
  return fmt::format("Convert {}: {}.", convert_first ? first_name : second_name,
                     ir::converted("x", convert_first ? second : first));
}

namespace {

/// The axis whose removal from the longer shape gives the shorter one, as that of a reduction.
std::optional<std::int64_t> reduced_axis(const Shape& longer, const Shape& shorter) {
  if (longer.rank() != shorter.rank() + 1) return std::nullopt;
  for (std::int64_t axis = 0; axis < longer.rank(); axis++) {
    std::vector<std::int64_t> dims = longer.vector();
    dims.erase(dims.begin() + axis);
    if (Shape(dims) == shorter) return axis;
  }
  return std::nullopt;
}

/// A suggestion that makes two shapes broadcast.
std::string alignment_remedy(const TensorType& a, const TensorType& b) {
  const bool first_longer = a.rank() > b.rank();
  const TensorType &longer = first_longer ? a : b, &shorter = first_longer ? b : a;
  if (const std::optional<std::int64_t> axis = reduced_axis(longer.shape, shorter.shape)) {
    return fmt::format(
        "If the {} was reduced over axis {} (a sum, a mean), keep the axis: rondo::mean(x, {{{}}}, "
        "/*keepdims=*/true); else use reshape or expand_dims.",
        first_longer ? "second" : "first", *axis, *axis);
  }
  return "Sizes must be equal or 1, counted from the last axis; use reshape or expand_dims to line "
         "them up.";
}

bool broadcasts(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  for (std::size_t i = 1; i <= std::min(a.size(), b.size()); i++) {
    const std::int64_t m = a[a.size() - i], n = b[b.size() - i];
    if (m != n && m != 1 && n != 1) return false;
  }
  return true;
}

/// Whether matmul takes operands of these shapes.
bool has_product(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) return false;
  const auto leading = [](const Shape& shape) {
    return shape.dims().first(
        static_cast<std::size_t>(std::max<std::int64_t>(shape.rank() - 2, 0)));
  };
  return a[a.rank() - 1] == b[std::max<std::int64_t>(b.rank() - 2, 0)] &&
         broadcasts(leading(a), leading(b));
}

}  // namespace

Shape broadcast_shape(std::string_view op, const TensorType& a, const TensorType& b,
                      SourceLocation at, bool elementwise) {
  const std::int64_t rank = std::max(a.rank(), b.rank());
  std::vector<std::int64_t> dims(static_cast<std::size_t>(rank));
  for (std::int64_t i = 0; i < rank; i++) {
    auto size = [&](const TensorType& t) {
      return i < rank - t.rank() ? 1 : t.shape[i - (rank - t.rank())];
    };
    const std::int64_t m = size(a), n = size(b);
    if (m != n && m != 1 && n != 1) {
      fail(op,
           fmt::format("the shapes of {} and {} do not broadcast: axis {} has {} and {} elements\n"
                       "  {}{}",
                       a.str(), b.str(), i - rank, m, n, alignment_remedy(a, b),
                       elementwise && has_product(a.shape, b.shape)
                           ? "\n  For the product of matrices write rondo::matmul(x, y): operators "
                             "work element by element."
                           : ""),
           at);
    }
    dims[static_cast<std::size_t>(i)] = m == 1 ? n : m;
  }
  return dims;
}

Tensor broadcast(const Tensor& x, const Shape& shape, SourceLocation at) {
  if (x.shape() == shape) return x;
  // Axes of size 1 that grow are squeezed away first: HLO's broadcast repeats whole axes only.
  std::vector<std::int64_t> kept, map;
  const std::int64_t added = shape.rank() - x.rank();
  for (std::int64_t i = 0; i < x.rank(); i++) {
    if (x.shape()[i] != shape[i + added]) continue;
    kept.push_back(x.shape()[i]);
    map.push_back(i + added);
  }
  return broadcast_axes(
      static_cast<std::int64_t>(kept.size()) == x.rank() ? x : reshape_to(x, kept, at), shape, map,
      at);
}

std::int64_t normal_axis(std::string_view op, std::int64_t axis, std::int64_t rank,
                         SourceLocation at) {
  if (axis < -rank || axis >= rank) {
    fail(op,
         rank == 0 ? fmt::format("axis {} of a scalar, which has no axes\n  Give it axes first: "
                                 "rondo::reshape(x, {{1}}) or rondo::expand_dims(x, 0).",
                                 axis)
                   : fmt::format(
                         "axis {} is out of range: the axes are {} to {}\n  Axes count from 0, or "
                         "from the end: -1 is the last.",
                         axis, -rank, rank - 1),
         at);
  }
  return axis < 0 ? axis + rank : axis;
}

std::vector<std::int64_t> normal_axes(std::string_view op, const std::vector<std::int64_t>& axes,
                                      std::int64_t rank, SourceLocation at) {
  std::vector<std::int64_t> normal;
  for (std::int64_t axis : axes) normal.push_back(normal_axis(op, axis, rank, at));
  if (axes.empty()) {
    for (std::int64_t axis = 0; axis < rank; axis++) normal.push_back(axis);
  }
  std::sort(normal.begin(), normal.end());
  if (std::adjacent_find(normal.begin(), normal.end()) != normal.end()) {
    fail(op,
         fmt::format("axis {} is named twice\n  Name each axis once; a negative one is the same as "
                     "one counted from 0.",
                     *std::adjacent_find(normal.begin(), normal.end())),
         at);
  }
  return normal;
}

}  // namespace rondo::ops
