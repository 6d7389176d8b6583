// Windows, convolutions and Fourier transforms in real XLA.
#include <random>

#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaWindows : public XlaTest {};
class XlaConvolution : public XlaTest {};
class XlaFft : public XlaTest {};

Literal some_numbers(const Shape& shape) {
  std::mt19937 engine(11);
  std::uniform_int_distribution<int> number(-20, 20);
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.elements(); i++)
    values.push_back(static_cast<float>(number(engine)));
  return Literal::from(values, shape);
}

TEST_F(XlaWindows, SumsAndExtremes) {
  const WindowDims window{
      .size = {2, 3}, .stride = {2, 1}, .padding = {{1, 1}, {0, 2}}, .window_dilation = {1, 2}};
  check(
      [&](const Tensor& x) {
        const Tensor whole = convert(x, DType::kS32);
        return std::vector<Tensor>{
            reduce_window(x, 3, window, [](const Tensor& a, const Tensor& b) { return a + b; }),
            reduce_window(x, -9, window,
                          [](const Tensor& a, const Tensor& b) { return maximum(a, b); }),
            reduce_window(whole, 7, window,
                          [](const Tensor& a, const Tensor& b) { return minimum(a, b); }),
            grad([&](const Tensor& v) {
              return sum(reduce_window(v, 0, window,
                                       [](const Tensor& a, const Tensor& b) { return a + b; }) *
                         2);
            })(x)};
      },
      some_numbers({7, 9}));
}

TEST_F(XlaWindows, SelectAndScatter) {
  const Literal x = some_numbers({6, 6}), source = some_numbers({3, 3});
  check(
      [](const Tensor& a, const Tensor& s) {
        return select_and_scatter(
            a, s, 1, {.size = {2, 3}, .stride = {2, 2}, .padding = {{0, 0}, {0, 1}}},
            [](const Tensor& p, const Tensor& q) { return p >= q; },
            [](const Tensor& p, const Tensor& q) { return p + q; });
      },
      x, source);
}

TEST_F(XlaConvolution, OfImages) {
  const auto both = [](const ConvDims& dims) {
    return [dims](const Tensor& x, const Tensor& kernel) {
      const auto [dx, dk] = grad<0, 1>([&](const Tensor& a, const Tensor& b) {
        const Tensor y = convolution(a, b, dims);
        return sum(y * y);
      })(x, kernel);
      return std::vector<Tensor>{convolution(x, kernel, dims), dx, dk};
    };
  };
  check(both({.strides = {2, 1}, .padding = {{1, 1}, {0, 2}}, .rhs_dilation = {1, 2}}),
        some_numbers({2, 7, 6, 3}), some_numbers({3, 2, 3, 4}));
  check(both({.padding = {{2, 1}, {1, 1}}, .lhs_dilation = {2, 1}, .layout = "bf01_oi01->bf01"}),
        some_numbers({2, 3, 4, 6}), some_numbers({4, 3, 3, 2}));
  check(both({.feature_groups = 3}), some_numbers({2, 5, 6, 3}), some_numbers({2, 3, 1, 6}));
  check(both({.batch_groups = 2}), some_numbers({4, 5, 6, 3}), some_numbers({2, 3, 3, 4}));
}

TEST_F(XlaFft, OfAllKinds) {
  const Literal x = some_numbers({2, 3, 10});
  expect_same_as_xla(trace(
                         [](const Tensor& v) {
                           const Tensor z = complex(v, v * 2 - 1);
                           return std::vector<Tensor>{fft(z),  ifft(z, {1}), fftn(z),
                                                      rfft(v), irfft(z),     irfft(z, 13)};
                         },
                         x),
                     {x}, {.rtol = 1e-5, .atol = 1e-3});
}

}  // namespace
}  // namespace rondo::testing
