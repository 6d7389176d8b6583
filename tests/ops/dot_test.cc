// dot matmul dot_general.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ops/moved.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

/// dot_general as the sum that defines it, element by element of the result.
template <class T, class Acc>
std::vector<T> products(const std::vector<T>& a, const Shape& a_shape, const std::vector<T>& b,
                        const Shape& b_shape, const DotDims& dims, const Shape& result) {
  auto free = [](const Shape& shape, const std::vector<std::int64_t>& batch,
                 const std::vector<std::int64_t>& contracting) {
    std::vector<std::size_t> axes;
    for (std::int64_t i = 0; i < shape.rank(); i++) {
      if (std::count(batch.begin(), batch.end(), i) +
              std::count(contracting.begin(), contracting.end(), i) ==
          0)
        axes.push_back(static_cast<std::size_t>(i));
    }
    return axes;
  };
  const auto a_free = free(a_shape, dims.lhs_batch, dims.lhs_contracting),
             b_free = free(b_shape, dims.rhs_batch, dims.rhs_contracting);
  std::vector<std::int64_t> summed;
  for (std::int64_t axis : dims.lhs_contracting) summed.push_back(a_shape[axis]);
  std::vector<T> out;
  for_each_index(result, [&](const Index& index) {
    Index a_index(a_shape.size()), b_index(b_shape.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < dims.lhs_batch.size(); i++, next++) {
      a_index[static_cast<std::size_t>(dims.lhs_batch[i])] = index[next];
      b_index[static_cast<std::size_t>(dims.rhs_batch[i])] = index[next];
    }
    for (std::size_t axis : a_free) a_index[axis] = index[next++];
    for (std::size_t axis : b_free) b_index[axis] = index[next++];
    Acc sum{};
    for_each_index(summed, [&](const Index& k) {
      for (std::size_t i = 0; i < k.size(); i++) {
        a_index[static_cast<std::size_t>(dims.lhs_contracting[i])] = k[i];
        b_index[static_cast<std::size_t>(dims.rhs_contracting[i])] = k[i];
      }
      sum += static_cast<Acc>(a[static_cast<std::size_t>(position(a_index, a_shape))]) *
             static_cast<Acc>(b[static_cast<std::size_t>(position(b_index, b_shape))]);
    });
    out.push_back(static_cast<T>(sum));
  });
  return out;
}

template <class T>
std::vector<T> dot_numbers(std::int64_t count, Shapes& shapes) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(static_cast<T>(shapes.number(std::is_unsigned_v<T> ? 0 : -5, 5)));
  return values;
}

template <class T>
class DotGeneral : public ::testing::Test {};
using DotTypes = ::testing::Types<std::int8_t, std::int16_t, std::uint16_t, std::int32_t,
                                  std::uint64_t, float, double>;
TYPED_TEST_SUITE(DotGeneral, DotTypes);

// Whole numbers, so that the order of a sum makes no difference; integers wrap.
TYPED_TEST(DotGeneral, IsTheSumThatDefinesIt) {
  using T = TypeParam;
  using Acc = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  struct Case {
    Shape a, b;
    DotDims dims;
    Shape result;
  };
  const std::vector<Case> cases{
      {{3}, {3}, {{}, {}, {0}, {0}}, {}},
      {{300}, {300}, {{}, {}, {0}, {0}}, {}},
      {{}, {}, {{}, {}, {}, {}}, {}},
      {{2}, {3}, {{}, {}, {}, {}}, {2, 3}},
      {{4, 4}, {4, 4}, {{}, {}, {1}, {0}}, {4, 4}},
      {{4, 4}, {4, 4}, {{}, {}, {0}, {0}}, {4, 4}},
      {{4, 4}, {4, 4}, {{}, {}, {1}, {1}}, {4, 4}},
      {{4, 4}, {4, 4}, {{}, {}, {0}, {1}}, {4, 4}},
      {{5, 70}, {70, 9}, {{}, {}, {1}, {0}}, {5, 9}},
      {{5, 70}, {9, 70}, {{}, {}, {1}, {1}}, {5, 9}},
      {{70, 5}, {70, 9}, {{}, {}, {0}, {0}}, {5, 9}},
      {{70, 5}, {9, 70}, {{}, {}, {0}, {1}}, {5, 9}},
      {{13, 600}, {600, 21}, {{}, {}, {1}, {0}}, {13, 21}},
      {{6, 7}, {7}, {{}, {}, {1}, {0}}, {6}},
      {{6, 7}, {6}, {{}, {}, {0}, {0}}, {7}},
      {{600, 7}, {600}, {{}, {}, {0}, {0}}, {7}},
      {{7}, {7, 6}, {{}, {}, {0}, {0}}, {6}},
      {{7}, {6, 7}, {{}, {}, {0}, {1}}, {6}},
      {{2, 3, 4}, {2, 4, 5}, {{0}, {0}, {2}, {1}}, {2, 3, 5}},
      {{3, 2, 4}, {4, 5, 2}, {{1}, {2}, {2}, {0}}, {2, 3, 5}},
      {{2, 3, 4, 5}, {5, 3, 2, 6}, {{1, 0}, {1, 2}, {3}, {0}}, {3, 2, 4, 6}},
      {{2, 3, 4}, {4, 3, 5}, {{}, {}, {1, 2}, {1, 0}}, {2, 5}},
      {{2, 3, 4}, {3, 5, 4}, {{}, {}, {2, 1}, {2, 0}}, {2, 5}},
      {{2, 3}, {2, 3}, {{0, 1}, {0, 1}, {}, {}}, {2, 3}},
      {{2, 3}, {2, 3}, {{0}, {0}, {1}, {1}}, {2}},
      {{2, 0}, {0, 3}, {{}, {}, {1}, {0}}, {2, 3}},
      {{0, 2}, {2, 3}, {{}, {}, {1}, {0}}, {0, 3}},
      {{1, 1, 5}, {5, 1}, {{}, {}, {2}, {0}}, {1, 1, 1}}};
  Shapes shapes(13);
  for (const Case& c : cases) {
    const std::vector<T> a = dot_numbers<T>(c.a.elements(), shapes),
                         b = dot_numbers<T>(c.b.elements(), shapes);
    SCOPED_TRACE(c.a.str() + " by " + c.b.str() + " to " + c.result.str());
    expect_values(dot_general(Tensor(Literal::from(a, c.a)), Tensor(Literal::from(b, c.b)), c.dims),
                  c.result, products<T, Acc>(a, c.a, b, c.b, c.dims, c.result));
  }
}

TEST(DotGeneral, AxesMayCountFromTheEnd) {
  const Tensor a = constant({{1, 2}, {3, 4}}), b = constant({{5, 6}, {7, 8}});
  expect_values<std::int32_t>(dot_general(a, b, {{}, {}, {-1}, {-2}}), {2, 2}, {19, 22, 43, 50});
}

TEST(DotGeneral, IntegersWrap) {
  expect_scalar<std::int8_t>(dot(vec<std::int8_t>({100, 100}), vec<std::int8_t>({100, 100})), 32);
  expect_scalar<std::int64_t>(dot(vec<std::int64_t>({INT64_MAX}), vec<std::int64_t>({2})), -2);
}

TEST(DotGeneral, HalvesAreRoundedOnce) {
  // 256 + 1 + 1 ... stays 256 if each step is rounded.
  const Tensor x = concatenate({full(bf16({1}), 256), ones(bf16({300}))}, 0);
  expect_close<bfloat16>(dot(x, ones(bf16({301}))), {}, {bfloat16(556.0f)}, 0);
  expect_close<float16>(dot(full(f16({4}), 60000), full(f16({4}), 0.25)), {}, {float16(60000.0f)},
                        0);
}

TEST(DotGeneral, ComplexNumbers) {
  using C = std::complex<float>;
  const std::vector<C> a{{1, 2}, {0, 1}, {3, 0}, {-1, 1}}, b{{2, 0}, {1, 1}, {0, -1}, {5, 5}};
  std::vector<C> want;
  for (std::size_t i : {0u, 1u}) {
    for (std::size_t j : {0u, 1u}) want.push_back(a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j]);
  }
  expect_values(matmul(Tensor(Literal::from(a, {2, 2})), Tensor(Literal::from(b, {2, 2}))), {2, 2},
                want);
}

// Of all small sizes: with guard pages, nothing behind the elements is read.
TEST(DotGeneral, ComplexNumbersOfAllSmallSizes) {
  using C = std::complex<float>;
  const auto counted = [](std::int64_t count) {
    std::vector<C> x;
    for (std::int64_t i = 0; i < count; i++)
      x.emplace_back(static_cast<float>(i % 5), static_cast<float>(i % 3));
    return x;
  };
  for (std::int64_t m = 1; m <= 9; m++) {
    for (std::int64_t k = 1; k <= 8; k++) {
      for (const std::int64_t n : {1, 2, 4, 8, 9}) {
        const std::vector<C> a = counted(m * k), b = counted(k * n);
        std::vector<C> want(static_cast<std::size_t>(m * n));
        for (std::int64_t at = 0; at < m * k * n; at++) {
          const std::int64_t i = at / (k * n), term = at / n % k, j = at % n;
          want[static_cast<std::size_t>(i * n + j)] +=
              a[static_cast<std::size_t>(i * k + term)] * b[static_cast<std::size_t>(term * n + j)];
        }
        const auto product = [](Tensor x, Tensor y) { return matmul(x, y); };
        const Executable program = compile(
            trace(product, TensorType{DType::kC64, {m, k}}, TensorType{DType::kC64, {k, n}}));
        const std::vector<Literal> got =
            program.run({Literal::from(a, {m, k}), Literal::from(b, {k, n})});
        expect_values(Tensor(got[0]), {m, n}, want);
      }
    }
  }
}

TEST(DotGeneral, LongSumsAreAccurate) {
  constexpr std::int64_t n = 1000000;
  const Tensor x = full(f32({n}), 0.1f), one = ones(f32({n}));
  expect_close<float>(dot(x, one), {}, {100000.0f}, 1e-5);
  expect_close<float>(matmul(reshape(x, {1, n}), ones(f32({n, 2}))), {1, 2}, {100000.0f, 100000.0f},
                      1e-5);
  expect_close<float>(matmul(ones(f32({2, n})), broadcast_in_dim(x, {n, 2}, {0})), {2, 2},
                      {100000.0f, 100000.0f, 100000.0f, 100000.0f}, 1e-5);
}

TEST(Dot, FollowsNumPy) {
  Shapes shapes(17);
  auto numbers = [&](const Shape& shape) {
    return Literal::from(dot_numbers<std::int32_t>(shape.elements(), shapes), shape);
  };
  auto expect_dot = [&](const Shape& a, const Shape& b, const DotDims& dims, const Shape& result) {
    const Literal x = numbers(a), y = numbers(b);
    SCOPED_TRACE(a.str() + " by " + b.str());
    const auto xs = x.data<std::int32_t>(), ys = y.data<std::int32_t>();
    expect_values(dot(x, y), result,
                  products<std::int32_t, std::int32_t>({xs.begin(), xs.end()}, a,
                                                       {ys.begin(), ys.end()}, b, dims, result));
  };
  expect_dot({3}, {3}, {{}, {}, {0}, {0}}, {});
  expect_dot({2, 3}, {3, 4}, {{}, {}, {1}, {0}}, {2, 4});
  expect_dot({2, 3}, {3}, {{}, {}, {1}, {0}}, {2});
  expect_dot({3}, {3, 4}, {{}, {}, {0}, {0}}, {4});
  expect_dot({2, 3, 4}, {5, 4, 6}, {{}, {}, {2}, {1}}, {2, 3, 5, 6});
  expect_dot({2, 3, 4}, {4}, {{}, {}, {2}, {0}}, {2, 3});
  expect_values<std::int32_t>(dot(constant({1, 2}), 3), {2}, {3, 6});
  expect_scalar<float>(dot(2.0f, 3.5f), 7);
}

TEST(Matmul, FollowsNumPy) {
  Shapes shapes(19);
  // Each matrix of the broadcast batch by a loop.
  auto expect_product = [&](const Shape& a, const Shape& b, const Shape& result) {
    SCOPED_TRACE(a.str() + " by " + b.str());
    const std::vector<std::int32_t> x = dot_numbers<std::int32_t>(a.elements(), shapes),
                                    y = dot_numbers<std::int32_t>(b.elements(), shapes);
    const Shape a2 = a.rank() == 1 ? Shape{1, a[0]} : a, b2 = b.rank() == 1 ? Shape{b[0], 1} : b;
    std::vector<std::int32_t> want;
    for_each_index(result, [&](Index index) {
      if (a.rank() == 1) index.insert(index.end() - (b.rank() == 1 ? 0 : 1), 0);
      if (b.rank() == 1) index.push_back(0);
      auto element = [&](const std::vector<std::int32_t>& values, const Shape& shape,
                         std::int64_t row, std::int64_t column) {
        Index at(shape.size());
        for (std::int64_t i = 0; i + 2 < shape.rank(); i++) {
          const std::int64_t from = static_cast<std::int64_t>(index.size()) - shape.rank() + i;
          at[static_cast<std::size_t>(i)] =
              shape[i] == 1 ? 0 : index[static_cast<std::size_t>(from)];
        }
        at[at.size() - 2] = row;
        at[at.size() - 1] = column;
        return values[static_cast<std::size_t>(position(at, shape))];
      };
      std::int32_t sum = 0;
      for (std::int64_t k = 0; k < a2[a2.rank() - 1]; k++) {
        sum +=
            element(x, a2, index[index.size() - 2], k) * element(y, b2, k, index[index.size() - 1]);
      }
      want.push_back(sum);
    });
    expect_values(matmul(Literal::from(x, a), Literal::from(y, b)), result, want);
  };
  expect_product({3}, {3}, {});
  expect_product({2, 3}, {3, 4}, {2, 4});
  expect_product({2, 3}, {3}, {2});
  expect_product({3}, {3, 4}, {4});
  expect_product({5, 2, 3}, {3, 4}, {5, 2, 4});
  expect_product({2, 3}, {5, 3, 4}, {5, 2, 4});
  expect_product({5, 2, 3}, {5, 3, 4}, {5, 2, 4});
  expect_product({1, 2, 3}, {5, 3, 4}, {5, 2, 4});
  expect_product({7, 1, 2, 3}, {5, 3, 4}, {7, 5, 2, 4});
  expect_product({5, 2, 3}, {3}, {5, 2});
  expect_product({3}, {5, 3, 4}, {5, 4});
}

TEST(DotThreads, GiveTheSameBitsWhateverTheirNumber) {
  const Function product =
      trace([](Tensor a, Tensor b) { return dot(a, b); }, f32({1500, 200}), f32({200, 300}));
  const auto filled = [](std::int64_t rows, std::int64_t columns) {
    std::vector<float> values(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < values.size(); i++)
      values[i] = 1.5f + std::sin(0.37f * static_cast<float>(i));
    return Literal::from(values, {rows, columns});
  };
  const Literal a = filled(1500, 200), b = filled(200, 300);
  for (const Executor executor : {Executor::kReference, Executor::kCompiled}) {
    const Executable run = compile(product, {.executor = executor});
    const Literal one = run.run({a, b})[0];
    double expected = 0;
    for (std::size_t k = 0; k < 200; k++)
      expected += double{a.data<float>()[std::size_t{1499} * 200 + k]} *
                  double{b.data<float>()[k * 300 + 299]};
    EXPECT_NEAR(one.data<float>()[1500 * 300 - 1], expected, 1e-5 * expected);
    for (const int threads : {2, 3, 7})
      EXPECT_TRUE(run.run({a, b}, {.threads = threads})[0].identical(one)) << threads;
  }
}

TEST(Dot, MistakesAreNamed) {
  const Tensor a = zeros(f32({2, 3})), b = zeros(f32({2, 3}));
  expect_error([&] { matmul(a, b); },
               {"matmul", "f32[2,3] and f32[2,3]", "axis 1", "axis 0", "transpose", "dot_test.cc"});
  expect_error([&] { dot(a, b); }, {"dot", "f32[2,3]", "3 elements", "2"});
  expect_error(
      [&] {
        matmul(a, zeros(f64({3, 2})));
      },
      {"matmul", "f32[2,3]", "f64[3,2]", "convert"});
  expect_error([&] { matmul(a, 2.0f); }, {"matmul", "scalar", "*"});
  expect_error(
      [&] {
        matmul(zeros(f32({2, 2, 3})), zeros(f32({3, 3, 2})));
      },
      {"matmul", "do not broadcast"});
  expect_error([&] { dot(zeros(pred({2})), zeros(pred({2}))); }, {"pred[2]", "convert"});
  expect_error(
      [&] {
        dot_general(a, b, {{}, {}, {2}, {0}});
      },
      {"dot_general", "axis 2", "-2 to 1"});
  expect_error(
      [&] {
        dot_general(a, b, {{0}, {0}, {0}, {1}});
      },
      {"dot_general", "axis 0", "left", "named twice"});
  expect_error(
      [&] {
        dot_general(a, b, {{}, {}, {0, 1}, {0}});
      },
      {"dot_general", "2 contracting axes", "1 on the right"});
  expect_error(
      [&] {
        dot_general(a, b, {{0}, {1}, {}, {}});
      },
      {"dot_general", "batch axis 0 of f32[2,3]", "3"});
}

TEST(Dot, AVectorTimesAMatrixAddsItsRowsInOrder) {
  constexpr std::size_t kRows = 37, kColumns = 21;
  std::vector<float> weights, rows, want(kColumns, 0.0f);
  for (std::size_t k = 0; k < kRows; k++) weights.push_back(1.0f / static_cast<float>(3 + k));
  for (std::size_t i = 0; i < kRows * kColumns; i++)
    rows.push_back(static_cast<float>(i % 11) / 7.0f - 0.6f);
  for (std::size_t k = 0; k < kRows; k++) {
    for (std::size_t j = 0; j < kColumns; j++) {
      const volatile float product = weights[k] * rows[k * kColumns + j];  // rounded separately
      want[j] += product;
    }
  }
  const Executable product = compile(
      trace([](Tensor x, Tensor w) { return matmul(x, w); }, f32({kRows}), f32({kRows, kColumns})),
      {.executor = Executor::kReference});
  const Literal got =
      product.run({Literal::from(weights, {kRows}), Literal::from(rows, {kRows, kColumns})})[0];
  EXPECT_TRUE(got.identical(Literal::from(want, {kColumns})));
}

}  // namespace
}  // namespace rondo
