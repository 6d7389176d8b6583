// Every helper of docs/ops.md: batched, it equals the helper in each lane; its gradient agrees with
// central differences, batched too; and half-precision results are the f64 result rounded.
#include <map>

#include "support/expect.h"

namespace rondo {
namespace {

using Function1 = std::function<Tensor(const Tensor&)>;

struct Helper {
  Function1 f;  // of f64[6], of distinct numbers between -2 and 3 (or of what `of` makes of them)
  bool smooth = true;       // has a derivative
  bool halves = true;       // is meant for f16 and bf16
  bool differences = true;  // its derivative agrees with differences
};

Tensor table(const Tensor& x) { return reshape(x, {2, 3}); }
/// Those that are not between 0 and 1; NaN in place of the others.
Tensor some(const Tensor& x) {
  return where((table(x) < 0) | (table(x) > 1), table(x), std::nan(""));
}
/// A key that depends on x, but stays the same within a difference step.
Tensor key_of(const Tensor& x) {
  return random::key(convert(floor(10 * sum(x) + 0.5), DType::kS32));
}
Tensor positive(const Tensor& x) { return square(table(x)) + 0.1; }

const std::map<std::string, Helper>& helpers() {
  static const std::map<std::string, Helper> all = {
      {"softmax", {[](const Tensor& x) { return softmax(table(x)); }}},
      {"softmax of axis 0", {[](const Tensor& x) { return softmax(table(x), 0); }}},
      {"log_softmax", {[](const Tensor& x) { return log_softmax(table(x)); }}},
      {"logsumexp", {[](const Tensor& x) { return logsumexp(table(x), {1}); }}},
      {"relu", {[](const Tensor& x) { return relu(x); }}},
      {"gelu", {[](const Tensor& x) { return gelu(x); }}},
      {"gelu by erf", {[](const Tensor& x) { return gelu(x, false); }}},
      {"silu", {[](const Tensor& x) { return silu(x); }}},
      {"one_hot",
       {[](const Tensor& x) { return one_hot(convert(x, DType::kS32), 4, DType::kF64); }, false,
        false}},
      {"linspace", {[](const Tensor& x) { return linspace(x[0], x[1], 5, x.dtype()); }}},
      {"outer", {[](const Tensor& x) { return outer(x, x * 2); }}},
      {"diag of a vector", {[](const Tensor& x) { return diag(x, 1); }}},
      {"diag of a matrix", {[](const Tensor& x) { return diag(table(x), -1); }}},
      {"tril", {[](const Tensor& x) { return tril(table(x)); }}},
      {"triu", {[](const Tensor& x) { return triu(table(x), 1); }}},
      {"matrix", {[](const Tensor& x) {
         return matrix({{x[0], x[1]}, {2, x[0] * x[3]}});
       }}},
      {"roll", {[](const Tensor& x) { return roll(table(x), 4, 1); }}},
      {"flip", {[](const Tensor& x) { return flip(table(x), {1}); }}},
      {"tile", {[](const Tensor& x) {
         return tile(table(x), {2, 2});
       }}},
      {"repeat", {[](const Tensor& x) { return repeat(table(x), 3, 0); }}},
      {"diff", {[](const Tensor& x) { return diff(table(x), 0); }}},
      {"column", {[](const Tensor& x) { return column(table(x), 1); }}},
      {"column of an index that is a tensor",
       {[](const Tensor& x) { return column(table(x), convert(x[5], DType::kS32)); }}},
      {"at", {[](const Tensor& x) {
         return at(table(x), {1, 0});
       }}},
      {"update", {[](const Tensor& x) {
         return update(table(x), {1, 2}, x[0] * x[0]);
       }}},
      {"norm", {[](const Tensor& x) { return norm(table(x), {1}); }}},
      {"var", {[](const Tensor& x) { return var(table(x), {0}, true, 1); }}},
      {"stddev", {[](const Tensor& x) { return stddev(table(x), {1}); }}},
      {"median", {[](const Tensor& x) { return median(table(x), 1); }}},
      {"quantile", {[](const Tensor& x) { return quantile(x, 0.3, 0); }}},
      {"cov", {[](const Tensor& x) { return cov(table(x)); }}},
      {"einsum",
       {[](const Tensor& x) {
          return einsum("ij,kj,i->ki", table(x), table(x), x[0] * constant({1.0, 0.5}));
        },
        true, false}},
      {"tensordot", {[](const Tensor& x) {
         return tensordot(table(x), table(x), {{0}, {0}});
       }}},
      {"vdot", {[](const Tensor& x) { return vdot(table(x), x); }}},
      {"inner", {[](const Tensor& x) { return inner(table(x), table(x)); }}},
      {"gradient", {[](const Tensor& x) { return gradient(table(x), 0.5); }}},
      {"gradient on any points",
       {[](const Tensor& x) { return gradient(x, sort(x, 0)); }, true, false}},
      {"trapezoid", {[](const Tensor& x) { return trapezoid(table(x), x[0], 0); }}},
      {"cumulative_trapezoid", {[](const Tensor& x) { return cumulative_trapezoid(x, flip(x)); }}},
      {"convolve", {[](const Tensor& x) { return convolve(x, slice(x, {1}, {4}), "same"); }}},
      {"correlate", {[](const Tensor& x) { return correlate(x, slice(x, {1}, {4})); }}},
      {"polyval", {[](const Tensor& x) { return polyval(slice(x, {0}, {3}), table(x)); }}},
      {"polyfit", {[](const Tensor& x) { return polyfit(x, sin(x), 2); }, true, false}},
      {"meshgrid", {[](const Tensor& x) { return meshgrid(x, flip(x)).second; }}},
      {"fftshift", {[](const Tensor& x) { return fftshift(table(x)) + ifftshift(table(x), 1); }}},
      {"nansum", {[](const Tensor& x) { return nansum(some(x), 1); }}},
      {"nanmean", {[](const Tensor& x) { return nanmean(some(x)); }}},
      {"nanmax", {[](const Tensor& x) { return nanmax(some(x)); }}},
      {"nanmin", {[](const Tensor& x) { return nanmin(some(x), {}, true); }}},
      {"nanvar", {[](const Tensor& x) { return nanvar(some(x)); }}},
      {"searchsorted",
       {[](const Tensor& x) {
          return convert(searchsorted(sort(x, 0), x + 0.25, Side::kRight), DType::kF64);
        },
        false, false}},
      {"digitize",
       {[](const Tensor& x) {
          return convert(digitize(x, constant({-1.0, 0.0, 1.0})), DType::kF64);
        },
        false, false}},
      {"bincount",
       {[](const Tensor& x) {
          return convert(bincount(convert(abs(x), DType::kS32), 4), DType::kF64);
        },
        false, false}},
      {"unique_counts",
       {[](const Tensor& x) { return unique_counts(floor(sort(x, 0))).first; }, false, false}},
      {"top_k", {[](const Tensor& x) { return top_k(table(x), 2).first; }}},
      {"top_k's indices",
       {[](const Tensor& x) { return convert(top_k(table(x), 2).second, DType::kF64); }, false,
        false}},
      {"argpartition",
       {[](const Tensor& x) { return convert(argpartition(x, 2), DType::kF64); }, false, false}},
      {"unique", {[](const Tensor& x) { return unique(table(x), 8, 7).values; }}},
      {"unique's inverse",
       {[](const Tensor& x) { return convert(unique(floor(table(x)), 3).inverse, DType::kF64); },
        false, false}},
      {"argwhere",
       {[](const Tensor& x) { return convert(argwhere(table(x) > 0.5, 5, -1), DType::kF64); },
        false, false}},
      {"isin",
       {[](const Tensor& x) {
          return convert(isin(floor(x), constant({-1.0, 2.0})), DType::kF64);
        },
        false, false}},
      {"histogram",
       {[](const Tensor& x) { return convert(histogram(x, 4, -2, 3), DType::kF64); }, false,
        false}},
      {"segment_sum", {[](const Tensor& x) {
         return segment_sum(x, constant({1, 0, 1, 4, 2, 0}), 4);
       }}},
      {"segment_sum of ids that differ by lane", {[](const Tensor& x) {
         return segment_sum(table(x), convert(abs(x[0]) < 1, DType::kS32) + arange(2), 4);
       }}},
      {"segment_prod", {[](const Tensor& x) {
         return segment_prod(x, constant({1, 0, 1, 4, 2, 0}), 3);
       }}},
      {"segment_max", {[](const Tensor& x) {
         return segment_max(table(x), constant({1, 1}), 2)[1];
       }}},
      {"segment_min", {[](const Tensor& x) {
         return segment_min(table(x), constant({0, 1}), 2);
       }}},
      {"interp", {[](const Tensor& x) {
         return interp(x, convert(arange(4), x.dtype()), slice(x, {1}, {5}));
       }}},
      {"mod", {[](const Tensor& x) { return mod(x, 1.5); }}},
      {"floor_divide", {[](const Tensor& x) { return floor_divide(x, 0.75); }, false, false}},
      {"cholesky",
       {[](const Tensor& x) {
          const Tensor root = table(x);
          return cholesky(matmul(root, transpose(root)) + 3 * eye(2, x.dtype()));
        },
        true, false}},
      {"is_inf", {[](const Tensor& x) { return convert(is_inf(1 / floor(x)), x.dtype()); }, false}},
      {"random::gamma",
       {[](const Tensor& x) {
          return random::gamma(random::key(1), positive(x), {2, 3});
        },
        true, false, false}},  // at a fixed quantile
      {"random::bernoulli",
       {[](const Tensor& x) {
          return convert(random::bernoulli(key_of(x), logistic(table(x)), {2, 3}), DType::kF64);
        },
        false, false}},
      {"random::exponential",
       {[](const Tensor& x) {
          return random::exponential(key_of(x), {x.dtype(), {2, 3}}) * table(x);
        },
        true, false}},
      {"random::multivariate_normal",
       {[](const Tensor& x) {
          const Tensor root = table(x);
          return random::multivariate_normal(key_of(x), slice(x, {0}, {2}),
                                             matmul(root, transpose(root)) + 3 * eye(2, x.dtype()),
                                             {4});
        },
        true, false}},
      {"random::permutation",
       {[](const Tensor& x) { return convert(random::permutation(key_of(x), 5), DType::kF64); },
        false, false}},
      {"random::choice",
       {[](const Tensor& x) { return random::choice(key_of(x), x, {8}); }, true, false}},
      {"random::choice without replacement",
       {[](const Tensor& x) { return random::choice(key_of(x), table(x), {2}, false); }, true,
        false}},
      {"random::categorical",
       {[](const Tensor& x) {
          return convert(random::categorical(random::key(1), table(x)), DType::kF64);
        },
        false, false}},
  };
  return all;
}

const Tensor kRows = constant({{-1.7, -0.6, 0.3, 2.9, 1.4, 0.8},
                               {0.2, 2.1, -0.9, -1.3, 0.7, 1.9},
                               {2.6, -0.4, 1.1, 0.5, -1.8, 2.3}});

/// A scalar with a different weight for every element of f's result.
Function1 weighted(const Function1& f) {
  return [f](const Tensor& x) {
    Tensor y = f(x);
    if (y.rank() == 0) return y;
    const Tensor weights =
        reshape(sin(convert(arange(y.type().elements()), DType::kF64)), y.shape().vector());
    return sum(y * weights);
  };
}

/// f applied to each row, stacked.
Tensor row_by_row(const Function1& f) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < kRows.dim(0); i++) rows.push_back(f(kRows[i]));
  return stack(rows, 0);
}

void expect_near(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.shape(), want.shape());
  const Literal a = convert(got, DType::kF64).eval(), b = convert(want, DType::kF64).eval();
  for (std::size_t i = 0; i < a.data<double>().size(); i++)
    EXPECT_NEAR(a.data<double>()[i], b.data<double>()[i],
                tolerance * (1 + std::abs(b.data<double>()[i])))
        << "element " << i;
}

TEST(EveryHelper, IsInLanesTheHelperInEachLane) {
  for (const auto& [name, helper] : helpers()) {
    SCOPED_TRACE(name);
    const Function1& f = helper.f;
    expect_near(jit(vmap([&](Tensor x) { return f(x); }))(kRows), row_by_row(f), 1e-13);
  }
}

TEST(EveryHelper, HasAGradientByLanesThatDifferencesConfirm) {
  for (const auto& [name, helper] : helpers()) {
    if (!helper.smooth) continue;
    SCOPED_TRACE(name);
    const Function1 f = weighted(helper.f);
    const auto gradient = grad([&](Tensor x) { return f(x); });
    if (helper.differences) check_grads([&](Tensor x) { return f(x); }, std::tuple(kRows[0]));
    expect_near(jit(vmap(gradient))(kRows),
                row_by_row([&](const Tensor& x) { return gradient(x); }), 1e-13);
  }
}

TEST(EveryHelper, OfHalvesIsThatOfDoublesRounded) {
  for (const auto& [name, helper] : helpers()) {
    if (!helper.halves) continue;
    SCOPED_TRACE(name);
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
      SCOPED_TRACE(dtype_name(dtype));
      const Tensor x = convert(kRows[0], dtype);
      const Tensor y = helper.f(x);
      EXPECT_EQ(y.dtype(), dtype);
      expect_near(y, helper.f(convert(x, DType::kF64)), dtype == DType::kBF16 ? 0.05 : 0.01);
    }
  }
}

}  // namespace
}  // namespace rondo
