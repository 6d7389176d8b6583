// Fourier transforms against the sums that define them.
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "ops/moved.h"
#include "ops/vectors.h"
#include "support/derivative_check.h"

namespace rondo {
namespace {

using namespace testing;

template <class T>
std::vector<T> some_reals(std::int64_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(static_cast<T>(number(engine)));
  return values;
}

template <class T>
std::vector<std::complex<T>> some_complex(std::int64_t count, std::uint32_t seed) {
  const std::vector<T> re = some_reals<T>(count, seed), im = some_reals<T>(count, seed + 1);
  std::vector<std::complex<T>> values;
  for (std::size_t i = 0; i < re.size(); i++) values.emplace_back(re[i], im[i]);
  return values;
}

/// The sums along one axis, in double.
template <class T>
std::vector<std::complex<T>> transformed(const std::vector<std::complex<T>>& x, const Shape& shape,
                                         std::int64_t axis, int sign) {
  const std::int64_t n = shape[axis];
  std::vector<std::complex<double>> roots;
  for (std::int64_t k = 0; k < n; k++) {
    const long double angle = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                              static_cast<long double>(n);
    const auto root = std::polar(1.0L, static_cast<long double>(sign) * angle);
    roots.emplace_back(static_cast<double>(root.real()), static_cast<double>(root.imag()));
  }
  std::vector<std::complex<T>> result;
  for_each_index(shape, [&](Index index) {
    const std::int64_t k = index[static_cast<std::size_t>(axis)];
    std::complex<double> sum = 0;
    for (std::int64_t j = 0; j < n; j++) {
      index[static_cast<std::size_t>(axis)] = j;
      const auto& value = x[static_cast<std::size_t>(position(index, shape))];
      sum += std::complex<double>(value.real(), value.imag()) *
             roots[static_cast<std::size_t>(j * k % n)];
    }
    if (sign > 0) sum /= static_cast<double>(n);
    result.emplace_back(static_cast<T>(sum.real()), static_cast<T>(sum.imag()));
  });
  return result;
}

template <class T>
void expect_near_transform(const Tensor& got, const Shape& shape,
                           const std::vector<std::complex<T>>& want, double tolerance) {
  const Literal value = got.eval();
  ASSERT_EQ(value.type(), (TensorType{dtype_of<std::complex<T>>, shape}));
  double most = 0, error = 0;
  for (std::size_t i = 0; i < want.size(); i++) {
    most = std::max(most, static_cast<double>(std::abs(want[i])));
    error =
        std::max(error, static_cast<double>(std::abs(value.data<std::complex<T>>()[i] - want[i])));
  }
  EXPECT_LE(error, tolerance * most);
}

template <class T>
class Fft : public ::testing::Test {
 public:
  // Rounding errors grow with the logarithm of the length.
  static constexpr double kTolerance = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
};
using FftTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Fft, FftTypes);

// Factors 2, 3, 4 and 5, other small primes, and primes that go by Bluestein's method.
TYPED_TEST(Fft, IsTheSumForEveryLength) {
  using T = TypeParam;
  std::vector<std::int64_t> lengths;
  for (std::int64_t n = 1; n <= 24; n++) lengths.push_back(n);
  lengths.insert(lengths.end(), {31, 37, 64, 74, 100, 121, 128, 210, 257});
  for (const std::int64_t n : lengths) {
    SCOPED_TRACE(n);
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{3}}) {
      const Shape shape{rows, n};
      const auto x = some_complex<T>(rows * n, 3);
      const Tensor tensor = Literal::from(x, shape);
      expect_near_transform(fft(tensor), shape, transformed(x, shape, 1, -1), this->kTolerance);
      expect_near_transform(ifft(tensor), shape, transformed(x, shape, 1, 1), this->kTolerance);
    }
  }
}

// Lengths that the cache does not hold are split into rows and columns; 10007 is prime. A few
// impulses have a transform of as many terms.
TYPED_TEST(Fft, OfLongRows) {
  using T = TypeParam;
  for (const std::int64_t n : {16384, 24576, 10007, 11 * 13 * 100}) {
    SCOPED_TRACE(n);
    const std::vector<std::int64_t> places{0, 5, n / 3, n - 2};
    const auto heights = some_complex<T>(4, 13);
    std::vector<std::complex<T>> x(static_cast<std::size_t>(n)), want;
    for (std::size_t i = 0; i < 4; i++) x[static_cast<std::size_t>(places[i])] = heights[i];
    for (std::int64_t k = 0; k < n; k++) {
      std::complex<double> sum = 0;
      for (std::size_t i = 0; i < 4; i++) {
        sum += std::complex<double>(heights[i].real(), heights[i].imag()) *
               std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(places[i] * k % n) /
                                   static_cast<double>(n));
      }
      want.emplace_back(static_cast<T>(sum.real()), static_cast<T>(sum.imag()));
    }
    const Tensor transform = fft(Literal::from(x));
    expect_near_transform(transform, {n}, want, this->kTolerance);
    expect_near_transform(ifft(transform), {n}, x, 4 * this->kTolerance);
  }
}

TYPED_TEST(Fft, OfSeveralAxes) {
  using T = TypeParam;
  const Shape shape{3, 20, 2, 5};
  const auto x = some_complex<T>(shape.elements(), 5);
  const Tensor tensor = Literal::from(x, shape);
  const auto along = [&](std::initializer_list<std::int64_t> axes, int sign) {
    auto result = x;
    for (const std::int64_t axis : axes) result = transformed(result, shape, axis, sign);
    return result;
  };
  expect_near_transform(fft(tensor, {1}), shape, along({1}, -1), this->kTolerance);
  expect_near_transform(fft(tensor, {0, -1}), shape, along({0, 3}, -1), this->kTolerance);
  expect_near_transform(fft2(tensor), shape, along({2, 3}, -1), this->kTolerance);
  expect_near_transform(ifft2(tensor), shape, along({2, 3}, 1), this->kTolerance);
  expect_near_transform(fftn(tensor), shape, along({0, 1, 2, 3}, -1), this->kTolerance);
  expect_near_transform(ifftn(tensor, {1, 2}), shape, along({1, 2}, 1), this->kTolerance);
}

TYPED_TEST(Fft, OfReals) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 8, 9, 30, 37, 74}) {
    SCOPED_TRACE(n);
    const std::vector<T> x = some_reals<T>(2 * n, 7);
    const std::vector<std::complex<T>> complex(x.begin(), x.end());
    const Tensor reals = Literal::from(x, {2, n});
    const auto whole = transformed(complex, {2, n}, 1, -1);
    std::vector<std::complex<T>> half;
    for (std::int64_t row = 0; row < 2; row++) {
      for (std::int64_t k = 0; k <= n / 2; k++)
        half.push_back(whole[static_cast<std::size_t>(row * n + k)]);
    }
    expect_near_transform(rfft(reals), {2, n / 2 + 1}, half, this->kTolerance);
    expect_near_transform(fft(reals), {2, n}, whole, this->kTolerance);
    const Literal back = irfft(rfft(reals), n).eval();
    for (std::size_t i = 0; i < x.size(); i++)
      EXPECT_NEAR(back.data<T>()[i], x[i], 2 * this->kTolerance);
  }
}

// Without n an even length; n cuts, or fills with zeros (numpy.fft.irfft).
TEST(InverseRealFft, OfAnyLength) {
  const Tensor x = Literal::from(std::vector<std::complex<double>>{{6, 9}, {1, 2}, {3, 5}});
  expect_close(irfft(x), {4}, std::vector<double>{2.75, -0.25, 1.75, 1.75}, 1e-14);
  expect_close(irfft(x, 2), {2}, std::vector<double>{3.5, 2.5}, 1e-14);
  expect_close(irfft(x, 6), {6},
               std::vector<double>{2.3333333333333335, -1.354059275497023, 1.1993587371177723,
                                   1.6666666666666676, -0.5326920704511053, 2.6873926088303572},
               1e-14);
}

TEST(FftDerivatives, AreThoseOfDifferences) {
  const auto real_and_imag = [](const Tensor& z) { return stack({real(z), imag(z)}, 0); };
  const auto check = [](const auto& f, const std::vector<Literal>& at) {
    EXPECT_EQ(derivative_error(f, at, {.order = 2}), "");
  };
  const std::vector<Literal> two{Literal::from(some_reals<double>(12, 1), {2, 6}),
                                 Literal::from(some_reals<double>(12, 2), {2, 6})};
  check(of_tensors<2>([&](const Tensor& re, const Tensor& im) {
          return real_and_imag(fft(complex(re, im))) * real_and_imag(ifft(complex(im, re), {0, 1}));
        }),
        two);
  for (const std::int64_t n : {5, 6}) {
    check(of_tensors<1>([&](const Tensor& x) {
            const Tensor z = rfft(x);
            return real_and_imag(z) * real_and_imag(z);
          }),
          {Literal::from(some_reals<double>(n, 3), {n})});
    check(of_tensors<2>([&](const Tensor& re, const Tensor& im) {
            const Tensor y = irfft(complex(re, im), n);
            return y * y;
          }),
          {Literal::from(some_reals<double>(n / 2 + 1, 4)),
           Literal::from(some_reals<double>(n / 2 + 1, 5))});
  }
}

TEST(FftBatch, IsOneForEachLane) {
  const Tensor x = Literal::from(some_complex<double>(24, 9), {2, 3, 4});
  EXPECT_TRUE(vmap([](const Tensor& z) {
                return fft(z, {0, 1});
              })(x)
                  .eval()
                  .identical(fft(x, {1, 2}).eval()));
}

TEST(FftMisuse, NamesWhatDoesNotFit) {
  EXPECT_THROW(fft(ones(s32({4}))), TraceError);
  EXPECT_THROW(fft(ones(f16({4}))), TraceError);
  EXPECT_THROW(fft(ones(f32({4})), {1}), TraceError);
  EXPECT_THROW(fft(ones(f32({4, 4})), {1, -1}), TraceError);
  EXPECT_THROW(fft(ones(f32({0}))), TraceError);
  EXPECT_THROW(fft(ones(f32())), TraceError);
  EXPECT_THROW(fft2(ones(f32({4}))), TraceError);
  EXPECT_THROW(rfft(ones(c64({4}))), TraceError);
  EXPECT_THROW(irfft(ones(c64({1}))), TraceError);
}

}  // namespace
}  // namespace rondo
