// Reductions by a user's combiner on the compiled executor: its arithmetic is inlined into the
// loops.
#include <chrono>
#include <cmath>
#include <complex>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

Literal fold_numbers(const TensorType& type) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < type.elements(); i++)
    values.push_back(static_cast<double>((i * 37 + 11) % 101) * 0.25 - 12);
  return convert(Tensor(Literal::from(values, type.shape)), type.dtype).eval();
}

Tensor greatest_magnitude(const Tensor& x, const std::vector<std::int64_t>& axes) {
  return reduce(x, convert(Tensor(0), x.dtype()), axes,
                [](Tensor a, Tensor b) { return maximum(abs(a), abs(b)); });
}

TEST(Folds, CombineAnyAxes) {
  const std::vector<std::vector<std::int64_t>> all_axes{{0},    {1},    {2},      {0, 1},
                                                        {0, 2}, {1, 2}, {0, 1, 2}};
  for (const auto& axes : all_axes) {
    for (const Shape& shape : {Shape{3, 4, 5}, Shape{2, 17, 33}, Shape{1, 9, 1}, Shape{40, 1, 2}}) {
      const Function f = trace([&](Tensor x) { return greatest_magnitude(x, axes); },
                               TensorType{DType::kF32, shape});
      SCOPED_TRACE(f.str());
      EXPECT_FALSE(calls_kernels(f));
      expect_agreement(f, {fold_numbers(f.params()[0])});
    }
  }
}

TEST(Folds, CombineEveryLength) {
  for (std::int64_t n = 0; n < 68; n++) {
    const Function f = trace(
        [](Tensor x) { return std::pair(greatest_magnitude(x, {0}), greatest_magnitude(x, {1})); },
        f64({n, 3}));
    SCOPED_TRACE(n);
    expect_agreement(f, {fold_numbers(f64({n, 3}))});
  }
}

TEST(Folds, CombineSeveralArraysOfAllKinds) {
  // The position of the greatest, the last of equal ones.
  const auto last_greatest = [](Tensor x) {
    const Tensor at = iota({DType::kS32, x.shape()}, 1);
    return reduce(std::pair(x, at), std::pair(convert(Tensor(-100), x.dtype()), Tensor(-1)), {1},
                  [](std::pair<Tensor, Tensor> a, std::pair<Tensor, Tensor> b) {
                    const Tensor later = b.first >= a.first;
                    return std::pair(where(later, b.first, a.first),
                                     where(later, b.second, a.second));
                  });
  };
  for (const DType dtype : {DType::kS8, DType::kS64, DType::kF16, DType::kBF16, DType::kF64}) {
    const Function f = trace(last_greatest, TensorType{dtype, {12, 21}});
    SCOPED_TRACE(f.str());
    EXPECT_FALSE(calls_kernels(f));
    const Literal x = fold_numbers({dtype, {12, 21}});
    const auto got = compile(f).run({x}),
               want = compile(f, {.executor = Executor::kReference}).run({x});
    for (std::size_t i = 0; i < got.size(); i++) EXPECT_TRUE(got[i].identical(want[i]));
  }
  const Function product = trace(
      [](Tensor x) {
        return reduce(complex(x, x * 0.125f), Tensor(std::complex<float>(1, 0)), {0},
                      [](Tensor a, Tensor b) { return a * b / 8; });
      },
      f32({9, 10}));
  const Literal x = fold_numbers(f32({9, 10}));
  const Literal got = compile(product, {.contract = false}).run({x})[0],
                want = compile(product, {.executor = Executor::kReference}).run({x})[0];
  for (std::size_t i = 0; i < 10; i++) {
    const auto a = got.data<std::complex<float>>()[i], b = want.data<std::complex<float>>()[i];
    EXPECT_LE(std::abs(a - b), 1e-5f * std::abs(b)) << i;
  }
}

/// Like sums of floats: in double precision, rounded once.
TEST(Folds, LeaveSumsOfComplexNumbersInDoublePrecision) {
  for (const std::int64_t terms : {3, 8, 20, 200}) {
    std::vector<std::complex<float>> values(static_cast<std::size_t>(2 * terms));
    for (std::size_t i = 0; i < values.size(); i++) {
      const auto at = static_cast<float>(i);
      values[i] = {std::sin(at * 1.7f) * (i % 5 == 0 ? 4000.f : 1.f), std::cos(at) * (at + 0.1f)};
    }
    const Literal x = Literal::from(values, {2, terms});
    const Function f = trace([](Tensor z) { return sum(z, {1}); }, c64({2, terms}));
    for (const Executor executor :
         {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
      const Literal got = compile(f, {.executor = executor}).run({x})[0];
      for (std::size_t row = 0; row < 2; row++) {
        std::complex<double> want = 0;
        for (std::size_t i = 0; i < static_cast<std::size_t>(terms); i++)
          want += std::complex<double>(values[row * static_cast<std::size_t>(terms) + i]);
        EXPECT_EQ(got.data<std::complex<float>>()[row], std::complex<float>(want))
            << terms << " terms, row " << row;
      }
    }
  }
}

TEST(Folds, StandInLoops) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 5, [](Tensor, Tensor x) { return x / (greatest_magnitude(x, {}) + 1) + 0.5; }, x);
      },
      f64({31}));
  EXPECT_FALSE(calls_kernels(f));
  expect_agreement(f, {fold_numbers(f64({31}))});
}

TEST(Folds, EndAtTheDeadline) {
  const Function f = trace(
      [](Tensor x) {
        return reduce(x, Tensor(0.0), {0}, [](Tensor a, Tensor b) { return sin(a + b); });
      },
      f64({std::int64_t{1} << 25}));
  const Literal x = Literal::zeros(f.params()[0]);
  EXPECT_THROW(compile(f).run({x}, {.deadline = std::chrono::milliseconds(20)}), DeadlineExceeded);
}

}  // namespace
}  // namespace rondo::testing
