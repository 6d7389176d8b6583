// Functions composed of other ops, compared with NumPy 2.4 and jax.nn 0.10, their derivatives with
// differences, and their errors.
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

const Tensor kTable = constant({{1.0f, 2.0f, 3.0f}, {-1.0f, 0.5f, 4.0f}});
const Tensor kWide = convert(kTable, DType::kF64);
const std::vector<double> kSome{-2, -0.5, 0, 0.3, 3};
const std::vector<double> kDigits{3, 1, 4, 1, 5, 9, 2, 6};

TEST(Helpers, Softmax) {
  expect_close<float>(
      softmax(kTable), {2, 3},
      {0.09003057f, 0.24472848f, 0.66524094f, 0.0064979433f, 0.029121762f, 0.9643803f});
  expect_close<float>(softmax(kTable, 0), {2, 3},
                      {0.880797f, 0.81757444f, 0.26894143f, 0.11920291f, 0.18242551f, 0.7310586f});
  expect_close<float>(
      log_softmax(kTable), {2, 3},
      {-2.407606f, -1.4076059f, -0.40760595f, -5.0362697f, -3.5362697f, -0.036269564f});
  expect_close<float>(logsumexp(kTable), {}, {4.4636946f});
  expect_close<float>(logsumexp(kTable, {1}), {2}, {3.407606f, 4.0362697f});
  expect_close<float>(logsumexp(kTable, {-1}, true), {2, 1}, {3.407606f, 4.0362697f});
  // Nothing overflows, and impossible values are not NaN.
  expect_close<double>(softmax(vec<double>({1000, 1000, -HUGE_VAL})), {3}, {0.5, 0.5, 0});
  expect_close<double>(logsumexp(vec<double>({-HUGE_VAL, -HUGE_VAL})), {}, {-HUGE_VAL});
  expect_close<double>(logsumexp(zeros(f64({0}))), {}, {-HUGE_VAL});
  check_grads([](Tensor x) { return std::tuple(softmax(x), log_softmax(x, 0), logsumexp(x, {1})); },
              std::tuple(kWide));
  expect_error([] { softmax(kTable, 2); }, {"softmax", "axis"});
  expect_error([] { softmax(arange(3)); },
               {"softmax: takes floats; the operand is s32[3]", "convert"});
}

TEST(Helpers, Activations) {
  expect_close<double>(relu(vec(kSome)), {5}, {0, 0, 0, 0.3, 3});
  expect_close<double>(
      gelu(vec(kSome)), {5},
      {-0.04540230591222494, -0.15428599017485609, 0, 0.18537092354275922, 2.996362607918227},
      1e-12);
  expect_close<double>(
      gelu(vec(kSome), false), {5},
      {-0.04550026389635841, -0.15426876936299344, 0, 0.18537342665668577, 2.99595030590511},
      1e-12);
  expect_close<double>(
      silu(vec(kSome)), {5},
      {-0.2384058440442351, -0.1887703343990727, 0, 0.1723327550434977, 2.8577223804673}, 1e-12);
  expect_values<double>(grad([](Tensor x) { return sum(relu(x)); })(vec(kSome)), {5},
                        {0, 0, 0, 1, 1});
  EXPECT_TRUE(std::isnan(relu(Tensor(std::nan(""))).item<double>()));
  check_grads([](Tensor x) { return std::tuple(gelu(x), gelu(x, false), silu(x)); },
              std::tuple(vec(kSome)));
}

TEST(Helpers, OneHot) {
  expect_values<float>(one_hot(constant({2, 0, -1, 3}), 3), {4, 3},
                       {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  expect_values<std::int32_t>(one_hot(Tensor(1), 2, DType::kS32), {2}, {0, 1});
  expect_values<float>(one_hot(vec<std::uint64_t>({~std::uint64_t{0}, 1}), 2), {2, 2},
                       {0, 0, 0, 1});
  expect_error([] { one_hot(kTable, 3); }, {"one_hot: takes integers"});
  expect_error([] { one_hot(Tensor(1), -3); }, {"one_hot: -3 places"});
}

TEST(Helpers, Linspace) {
  expect_close<double>(
      linspace(1, 2, 7, DType::kF64), {7},
      {1, 1.1666666666666667, 1.3333333333333333, 1.5, 1.6666666666666665, 1.8333333333333333, 2},
      1e-15);
  expect_values<float>(linspace(-1, 3, 5), {5}, {-1, 0, 1, 2, 3});
  expect_values<float>(linspace(7, 9, 1), {1}, {7});
  expect_values<float>(linspace(7, 9, 0), {0}, {});
  expect_error([] { linspace(0, 1, -1); }, {"linspace: -1 numbers"});
  expect_error([] { linspace(0, 1, 3, DType::kS32); }, {"linspace: numbers of s32"});
  expect_error([] { linspace(Tensor(1.0), 1, 3); }, {"linspace: an end is f64[]", "DType::kF32"});
}

TEST(Helpers, Matrices) {
  expect_values<float>(outer(vec<float>({1, 2}), vec<float>({3, 4, 5})), {2, 3},
                       {3, 4, 5, 6, 8, 10});
  const Tensor v = vec<float>({1, 2});
  expect_values<float>(diag(v), {2, 2}, {1, 0, 0, 2});
  expect_values<float>(diag(v, 1), {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0});
  expect_values<float>(diag(v, -1), {3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0});
  expect_values<float>(diag(kTable), {2}, {1, 0.5f});
  expect_values<float>(diag(kTable, 1), {2}, {2, 4});
  expect_values<float>(diag(kTable, 2), {1}, {3});
  expect_values<float>(diag(kTable, -1), {1}, {-1});
  expect_values<float>(diag(kTable, 5), {0}, {});
  const Tensor m = reshape(arange(9) + 1, {3, 3});
  expect_values<std::int32_t>(tril(m), {3, 3}, {1, 0, 0, 4, 5, 0, 7, 8, 9});
  expect_values<std::int32_t>(tril(m, -1), {3, 3}, {0, 0, 0, 4, 0, 0, 7, 8, 0});
  expect_values<std::int32_t>(triu(m), {3, 3}, {1, 2, 3, 0, 5, 6, 0, 0, 9});
  expect_values<std::int32_t>(triu(m, 1), {3, 3}, {0, 2, 3, 0, 0, 6, 0, 0, 0});
  expect_values<float>(matrix({{v[0], 2}, {3, v[1]}}), {2, 2}, {1, 2, 3, 2});
  expect_values<std::int32_t>(matrix({{1, 2, 3}}), {1, 3}, {1, 2, 3});
  check_grads(
      [](Tensor x, Tensor d) {
        return std::tuple(diag(x), tril(x), triu(x, 1), diag(d, 2), outer(d, x));
      },
      std::tuple(kWide, vec(kSome)));
  expect_error([] { matrix({{1, 2}, {3}}); }, {"matrix: a row has 1 elements, the first has 2"});
  expect_error([] { matrix({{kTable}}); }, {"matrix: an element is f32[2,3]", "rondo::stack"});
  expect_error([] { diag(Tensor(1)); }, {"diag: the operand is s32[]"});
  expect_error([] { tril(arange(3)); }, {"tril: the operand is s32[3]"});
}

TEST(Helpers, Rearrangements) {
  const Tensor v = arange(5), m = reshape(arange(6), {2, 3});
  expect_values<std::int32_t>(roll(v, 2, 0), {5}, {3, 4, 0, 1, 2});
  expect_values<std::int32_t>(roll(v, -6, 0), {5}, {1, 2, 3, 4, 0});
  expect_values<std::int32_t>(roll(m, 1, -1), {2, 3}, {2, 0, 1, 5, 3, 4});
  expect_values<std::int32_t>(flip(m), {2, 3}, {5, 4, 3, 2, 1, 0});
  expect_values<std::int32_t>(flip(m, {0}), {2, 3}, {3, 4, 5, 0, 1, 2});
  expect_values<std::int32_t>(tile(m, {2}), {2, 6}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  expect_values<std::int32_t>(tile(arange(2), {2, 1, 2}), {2, 1, 4}, {0, 1, 0, 1, 0, 1, 0, 1});
  expect_values<std::int32_t>(repeat(m, 2, 0), {4, 3}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5});
  expect_values<std::int32_t>(repeat(m, 2, 1), {2, 6}, {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
  expect_values<std::int32_t>(diff(v * v), {4}, {1, 3, 5, 7});
  expect_values<std::int32_t>(diff(m, 0), {1, 3}, {3, 3, 3});
  expect_values<bool>(diff(v == 2), {4}, {false, true, true, false});
  expect_error([&] { tile(m, {-1}); }, {"tile: -1 repetitions"});
  expect_error([&] { repeat(m, -1, 0); }, {"repeat: -1 repetitions"});
  expect_error([&] { roll(m, 1, 2); }, {"roll", "axis"});
  expect_error([&] { diff(zeros(f32({0}))); }, {"diff: axis 0 of f32[0] has no elements"});
}

TEST(Helpers, Elements) {
  const Tensor m = reshape(arange(6), {2, 3});
  const Tensor two = Tensor(2);
  expect_values<std::int32_t>(column(m, 1), {2}, {1, 4});
  expect_values<std::int32_t>(column(m, -1), {2}, {2, 5});
  expect_values<std::int32_t>(column(m, two + 7), {2}, {2, 5});
  expect_values<std::int32_t>(at(m, {1, two - 1}), {}, {4});
  expect_values<std::int32_t>(at(m, {-1, -1}), {}, {5});
  expect_values<std::int32_t>(at(m, {two + 7, two + 9}), {}, {5});  // tensors are clamped
  expect_values<std::int32_t>(at(m, {1}), {3}, {3, 4, 5});
  expect_values<std::int32_t>(update(m, {0, two}, 9), {2, 3}, {0, 1, 9, 3, 4, 5});
  expect_values<std::int32_t>(update(m, {-1, 0}, two), {2, 3}, {0, 1, 2, 2, 4, 5});
  // Also inside a trace, where no value is known.
  const Function f = trace(
      [](Tensor x, Tensor i) {
        return update(x, {i, 1}, at(x, {0, i}));
      },
      m, two);
  expect_values<std::int32_t>(compile(f).run({m.eval(), Literal::scalar(0)})[0], {2, 3},
                              {0, 0, 2, 3, 4, 5});
  check_grads(
      [](Tensor x) {
        return std::tuple(at(x, {1, 2}), column(x, 1), update(x, {0, 0}, x[1][1] * 2));
      },
      std::tuple(kWide));
  expect_error([&] { at(m, {0, 3}); }, {"at: index 3 of axis 1 of s32[2,3]", "-3 to 2"});
  expect_error([&] { at(m, {0, 0, 0}); }, {"at: 3 indices for s32[2,3]"});
  expect_error([&] { at(m, {0, 1.5f}); }, {"at: index 1 is f32[]"});
  expect_error([&] { column(arange(3), 0); }, {"column: s32[3] has no axis 1", "x[i]"});
}

TEST(Helpers, FlooredDivision) {
  const std::vector<std::int32_t> a{7, -7, 7, -7, 6, -6, 0, 5}, b{3, 3, -3, -3, 3, -3, 5, 0};
  expect_vec<std::int32_t>(mod(vec(a), vec(b)), {1, 2, -2, -1, 0, 0, 0, 5});
  expect_vec<std::int32_t>(floor_divide(vec(a), vec(b)), {2, -3, -3, 2, 2, 2, 0, -1});
  expect_vec<std::uint8_t>(floor_divide(vec<std::uint8_t>({200, 7}), vec<std::uint8_t>({3, 8})),
                           {66, 0});
  const std::vector<double> x{7.5, -7.5, 7.5, -7.5, 0.3, -1e-20}, y{2, 2, -2, -2, 0.1, 3};
  expect_close<double>(mod(vec(x), vec(y)), {6}, {1.5, 0.5, -0.5, -1.5, 0.09999999999999998, 3},
                       1e-15);
  expect_vec<double>(floor_divide(vec(x), vec(y)), {3, -4, -4, 3, 2, -1});
  expect_close<double>(floor_divide(vec<double>({1, -1}), 0), {2}, {HUGE_VAL, -HUGE_VAL});
  expect_error([] { mod(kTable, arange(3)); }, {"mod", "f32[2,3]", "s32[3]"});
}

TEST(Helpers, Statistics) {
  expect_close<double>(norm(kWide), {}, {5.5901699437494745}, 1e-15);
  expect_close<double>(norm(kWide, {0}, true), {1, 3}, {1.4142135623730951, 2.0615528128088303, 5},
                       1e-15);
  expect_close<double>(norm(vec<std::complex<double>>({{3, 4}, {0, 12}})), {}, {13}, 1e-15);
  expect_close<double>(var(kWide), {}, {2.701388888888889}, 1e-15);
  expect_close<double>(var(kWide, {1}, false, 1), {2}, {1, 6.583333333333334}, 1e-15);
  expect_close<double>(stddev(kWide, {0}), {3}, {1, 0.75, 0.5}, 1e-15);
  expect_close<double>(median(vec(kDigits), 0), {}, {3.5});
  expect_close<float>(median(kTable, 1), {2}, {2, 0.5f});
  expect_close<double>(quantile(vec(kDigits), vec<double>({0, 0.1, 0.37, 0.5, 0.9, 1}), 0), {6},
                       {1, 1, 2.59, 3.5, 6.9, 9}, 1e-14);
  expect_close<float>(quantile(kTable, 0.3f, 0), {3}, {-0.39999998f, 0.95000005f, 3.3f});
  expect_close<double>(quantile(kWide, vec<double>({0.25, 0.75}), 1), {2, 2},
                       {1.5, -0.25, 2.5, 2.25}, 1e-15);
  expect_close<double>(median(vec<double>({1, std::nan(""), 2}), 0), {}, {std::nan("")});
  expect_close<double>(median(vec<double>({-HUGE_VAL, 1, HUGE_VAL}), 0), {}, {1});
  const Tensor variables =
      constant({{1.0, 2.0, 4.0, 7.0}, {2.0, 1.0, 0.0, -3.0}, {5.0, 5.0, 6.0, 8.0}});
  expect_close<double>(cov(variables), {3, 3},
                       {7, -5.666666666666666, 3.6666666666666665, -5.666666666666666,
                        4.666666666666666, -3, 3.6666666666666665, -3, 2},
                       1e-14);
  expect_close<double>(cov(variables[0]), {}, {7}, 1e-15);
  check_grads(
      [](Tensor x) {
        return std::tuple(norm(x, {1}), var(x, {0}), stddev(x), median(x, 1), quantile(x, 0.3, 0),
                          cov(x));
      },
      std::tuple(kWide));
  // Where the root is 0 its derivative is 0, not NaN.
  expect_values<double>(grad([](Tensor x) { return norm(x) + stddev(x); })(zeros(f64({2}))), {2},
                        {0, 0});
  expect_error([] { quantile(zeros(f32({0})), 0.5f, 0); },
               {"quantile: axis 0 of f32[0] has no elements"});
  expect_error([] { median(arange(3), 0); }, {"median: takes floats"});
  expect_error([] { cov(zeros(f32({1, 2, 3}))); }, {"cov: the operand is f32[1,2,3]"});
}

TEST(Helpers, Search) {
  const Tensor sorted = vec<double>({1, 2, 2, 2, 5, 7});
  const Tensor values = constant({{0.0, 1.0, 2.0}, {3.0, 7.0, 9.0}});
  expect_values<std::int32_t>(searchsorted(sorted, values), {2, 3}, {0, 0, 1, 4, 5, 6});
  expect_values<std::int32_t>(searchsorted(sorted, values, Side::kRight), {2, 3},
                              {0, 1, 4, 4, 6, 6});
  expect_values<std::int32_t>(searchsorted(sorted, 2), {}, {1});
  expect_values<std::int32_t>(searchsorted(zeros(f64({0})), values), {2, 3}, {0, 0, 0, 0, 0, 0});
  const Tensor with_nan = vec<double>({1, 2, std::nan(""), std::nan("")});
  expect_values<std::int32_t>(searchsorted(with_nan, vec<double>({std::nan(""), HUGE_VAL})), {2},
                              {2, 2});
  expect_values<std::int32_t>(searchsorted(with_nan, vec<double>({std::nan("")}), Side::kRight),
                              {1}, {4});
  // Every length, every position.
  for (std::int64_t n = 1; n < 20; n++) {
    std::vector<std::int32_t> want(static_cast<std::size_t>(2 * n + 1));
    for (std::size_t i = 0; i < want.size(); i++) want[i] = static_cast<std::int32_t>(i / 2);
    expect_values<std::int32_t>(searchsorted(2 * arange(n) + 1, arange(2 * n + 1) + 0, Side::kLeft),
                                {2 * n + 1}, want);
  }
  expect_values<std::int32_t>(bincount(constant({1, 3, 1, 0, 7, -2}), 4), {4}, {1, 2, 0, 1});
  expect_values<std::int32_t>(digitize(values, vec<double>({1, 2, 5})), {2, 3}, {0, 1, 2, 2, 3, 3});
  expect_values<std::int32_t>(digitize(values, vec<double>({5, 2, 1})), {2, 3}, {3, 2, 1, 1, 0, 0});
  const auto [distinct, counts] = unique_counts(sorted);
  expect_values<double>(distinct, {6}, {1, 2, 5, 7, 7, 7});
  expect_values<std::int32_t>(counts, {6}, {1, 3, 1, 1, 0, 0});
  expect_error([&] { searchsorted(values, 1); },
               {"searchsorted: the sorted array is f64[2,3]; it must have 1 axis"});
  expect_error([&] { searchsorted(sorted, kTable); }, {"f64[6]", "f32[2,3]", "convert"});
  expect_error([&] { bincount(sorted, 3); }, {"bincount: takes integers"});
}

TEST(Helpers, Interpolation) {
  const Tensor xp = vec<double>({0, 1, 3}), fp = vec<double>({10, 20, -5});
  expect_close<double>(interp(vec<double>({-1, 0, 0.25, 1.5, 3, 10}), xp, fp), {6},
                       {10, 10, 12.5, 13.75, -5, -5});
  expect_close<double>(interp(2, vec<double>({5}), vec<double>({3})), {}, {3});
  expect_close<double>(
      interp(vec<double>({0.5, 1, 1.5}), vec<double>({0, 1, 1, 2}), vec<double>({0, 1, 5, 6})), {3},
      {0.5, 5, 5.5});
  check_grads([&](Tensor x, Tensor f) { return interp(x, xp, f); },
              std::tuple(vec<double>({-0.5, 0.3, 1.7, 5}), fp));
  expect_error([&] { interp(1, xp, vec<double>({1})); }, {"interp: xp is f64[3], fp is f64[1]"});
}

// jax.random of version 0.10.2 with key(42).
TEST(Helpers, RandomChoices) {
  const Tensor key = random::key(42);
  expect_values<std::int32_t>(random::permutation(key, 10), {10}, {7, 4, 2, 5, 3, 6, 8, 9, 0, 1});
  expect_values<std::int32_t>(slice(random::permutation(key, 2000), {0}, {8}), {8},
                              {1474, 815, 539, 874, 1693, 84, 995, 1191});
  expect_values<std::int32_t>(random::permutation(key, 1), {1}, {0});
  const Tensor tens = convert(arange(10), DType::kF32) + 10,
               rows = reshape(convert(arange(12), DType::kF32), {4, 3});
  expect_values<float>(random::choice(key, tens, {2, 3}), {2, 3}, {14, 14, 11, 19, 19, 19});
  expect_values<float>(random::choice(key, tens, {4}, false), {4}, {17, 14, 12, 15});
  expect_values<float>(random::choice(key, rows, {2}), {2, 3}, {0, 1, 2, 6, 7, 8});
  expect_values<float>(random::choice(key, rows, {2}, false), {2, 3}, {6, 7, 8, 9, 10, 11});
  expect_values<bool>(random::bernoulli(key, 0.3f, {8}), {8},
                      {false, false, false, false, false, false, true, false});
  const Tensor logits =
      log(constant({{0.1f, 0.2f, 0.7f}, {0.5f, 0.25f, 0.25f}, {0.8f, 0.1f, 0.1f}}));
  expect_values<std::int32_t>(random::categorical(key, logits), {3}, {2, 0, 1});
  expect_values<std::int32_t>(random::categorical(key, logits, 0), {3}, {1, 0, 0});
  expect_close<float>(random::exponential(key, f32({4})), {4},
                      {0.6708175f, 1.1388006f, 0.95782f, 0.8232925f});
  expect_error([&] { random::choice(key, tens, {11}, false); },
               {"random::choice: 11 rows of f32[10]"});
  expect_error([&] { random::permutation(key, -1); }, {"random::permutation: -1 numbers"});
}

}  // namespace
}  // namespace rondo
