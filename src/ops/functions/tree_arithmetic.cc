#include "rondo/tree_arithmetic.h"

#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::detail {

namespace {

/// C++ scalars among the leaves of each tree get the dtype of the leaf at the same position.
void match_scalars(Leaves& x, Leaves& y, SourceLocation at) {
  for (std::size_t i = 0; i < x.values.size(); i++) {
    Tensor &a = x.values[i], &b = y.values[i];
    if (a.empty() || b.empty()) continue;
    if (b.is_scalar_literal())
      b = ops::adopt_dtype(b, a.dtype(), at);
    else
      a = ops::adopt_dtype(a, b.dtype(), at);
  }
}

const Tensor& leaf_of(const ops::Helper& helper, const Leaves& leaves, std::size_t i) {
  if (leaves.values[i].empty())
    helper.fail(fmt::format("{} is an empty tensor\n  Give it a value first.", leaves.paths[i]));
  return leaves.values[i];
}

/// Throws TraceError unless the trees have one structure and their leaves the same types.
void check_alike(const ops::Helper& helper, const Leaves& x, const Leaves& y) {
  const std::string difference = structure_difference(x.structure, y.structure, "x");
  if (!difference.empty()) {
    helper.fail(fmt::format(
        "y has another structure than x: {}\n  Give two trees of one structure.", difference));
  }
}
void check_types_alike(const ops::Helper& helper, const Leaves& x, const Leaves& y) {
  for (std::size_t i = 0; i < x.values.size(); i++) {
    const TensorType &a = leaf_of(helper, x, i).type(), &b = leaf_of(helper, y, i).type();
    if (a == b) continue;
    helper.fail(fmt::format(
        "{} is {}, {} is {}; their types must be equal\n  {}", x.paths[i], a.str(), y.paths[i],
        b.str(),
        a.dtype != b.dtype
            ? ops::conversion_remedy(a.dtype, b.dtype, x.paths[i], y.paths[i])
            : "Give leaves of one shape: rondo::reshape and rondo::broadcast_to change it."));
  }
}

/// The sum of one term for each leaf, all scalars of one dtype.
template <class Term>
Tensor sum_over(const ops::Helper& helper, const Leaves& leaves, Term term) {
  Tensor total;
  for (std::size_t i = 0; i < leaves.values.size(); i++) {
    const Tensor next = term(i);
    if (!total.empty() && next.dtype() != total.dtype()) {
      helper.fail(fmt::format(
          "{} is {}, {} is {}; one sum has one dtype\n  Convert the leaves first: "
          "rondo::map_leaves([](rondo::Tensor x) {{ return rondo::convert(x, rondo::DType::k{}); "
          "}}, tree).",
          leaves.paths[0], leaves.values[0].type().str(), leaves.paths[i],
          leaves.values[i].type().str(), ops::dtype_constant(total.dtype())));
    }
    total = total.empty() ? next : total + next;
  }
  return total.empty() ? zeros(f32()) : total;
}

}  // namespace

std::vector<Tensor> axpy(const Operand& a, const Leaves& given_x, const Leaves& given_y) {
  const ops::Helper helper("axpy", a.at());
  check_alike(helper, given_x, given_y);
  Leaves x = given_x, y = given_y;
  match_scalars(x, y, a.at());
  check_types_alike(helper, x, y);
  if (!a.is_scalar() && helper.any(a).rank() != 0) {
    helper.fail(
        fmt::format("a is {}; it must be a scalar\n  For a factor for each element multiply leaf "
                    "by leaf: rondo::map_leaves([](rondo::Tensor a, rondo::Tensor x, rondo::Tensor "
                    "y) {{ return a * x + y; }}, a, x, y).",
                    a.tensor().type().str()));
  }
  std::vector<Tensor> sums;
  for (std::size_t i = 0; i < x.values.size(); i++) {
    const Tensor& leaf = x.values[i];
    if (!a.is_scalar() && a.tensor().dtype() != leaf.dtype() && !a.tensor().is_scalar_literal()) {
      helper.fail(
          fmt::format("a is {}, {} is {}; their dtypes must be equal\n  {}",
                      a.tensor().type().str(), x.paths[i], leaf.type().str(),
                      ops::conversion_remedy(a.tensor().dtype(), leaf.dtype(), "a", x.paths[i])));
    }
    const Tensor factor =
        a.is_scalar() ? a.as(leaf.dtype()) : ops::adopt_dtype(a.tensor(), leaf.dtype(), a.at());
    sums.push_back(factor * leaf + y.values[i]);
  }
  return sums;
}

Tensor dot_of(const Leaves& given_x, const Leaves& given_y, SourceLocation at) {
  const ops::Helper helper("dot_of", at);
  check_alike(helper, given_x, given_y);
  Leaves x = given_x, y = given_y;
  match_scalars(x, y, at);
  check_types_alike(helper, x, y);
  return sum_over(helper, x, [&](std::size_t i) {
    const Tensor& leaf = x.values[i];
    return sum((is_complex(leaf.dtype()) ? conj(leaf) : leaf) * y.values[i]);
  });
}

Tensor norm_of(const Leaves& leaves, SourceLocation at) {
  const ops::Helper helper("norm_of", at);
  return ops::flat_at_zero_sqrt(sum_over(helper, leaves, [&](std::size_t i) {
    const Tensor& leaf = leaf_of(helper, leaves, i);
    if (!is_floating(leaf.dtype()) && !is_complex(leaf.dtype())) {
      helper.fail(fmt::format(
          "{} is {}; a norm is of floats and complex numbers\n  Give a tree without this leaf, or "
          "convert it: rondo::convert(x, rondo::DType::kF32).",
          leaves.paths[i], leaf.type().str()));
    }
    return sum(ops::squared_magnitude(leaf));
  }));
}

std::vector<Tensor> full_like(const char* called, const Leaves& leaves, const Operand& value) {
  const ops::Helper helper(called, value.at());
  std::vector<Tensor> alike;
  for (std::size_t i = 0; i < leaves.values.size(); i++)
    alike.push_back(full(leaf_of(helper, leaves, i).type(), value));
  return alike;
}

std::vector<Tensor> take_of(const Leaves& leaves, const Operand& index, std::int64_t axis) {
  const ops::Helper helper("take_of", index.at());
  std::vector<Tensor> parts;
  for (std::size_t i = 0; i < leaves.values.size(); i++) {
    const Tensor& leaf = leaf_of(helper, leaves, i);
    if (axis < -leaf.rank() || axis >= leaf.rank()) {
      helper.fail(fmt::format(
          "{} is {}, which has no axis {}\n  Give trees whose leaves all have that axis, as the ys "
          "of a scan have axis 0.",
          leaves.paths[i], leaf.type().str(), axis));
    }
    parts.push_back(take({leaf, index.at()}, index, axis));
  }
  return parts;
}

}  // namespace rondo::detail
