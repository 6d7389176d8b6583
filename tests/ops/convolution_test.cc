// Convolutions against the definition, element by element.
#include "ops/convolution.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "ops/moved.h"
#include "ops/vectors.h"
#include "support/derivative_check.h"

namespace rondo {
namespace {

using namespace testing;

using Axes = std::vector<std::int64_t>;

/// A random convolution whose result has elements.
struct ConvolutionCase {
  ConvDims dims;
  ops::ConvolutionAttributes axes;
  Shape x, kernel, out;
};

std::string random_labels(const std::string& letters, std::mt19937& engine) {
  std::string shuffled = letters;
  std::shuffle(shuffled.begin(), shuffled.end(), engine);
  return shuffled;
}

ConvolutionCase random_case(std::mt19937& engine) {
  const auto number = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine);
  };
  ConvolutionCase c;
  const std::int64_t spatial = number(0, 3);
  const std::string digits = std::string("012").substr(0, static_cast<std::size_t>(spatial));
  c.dims.layout = random_labels("bf" + digits, engine) + "_" +
                  random_labels("io" + digits, engine) + "->" +
                  random_labels("bf" + digits, engine);
  const std::int64_t groups = number(1, 3);
  (number(0, 1) == 0 ? c.dims.feature_groups : c.dims.batch_groups) = groups;
  const std::int64_t batch = number(1, 2) * c.dims.batch_groups, in = number(1, 3),
                     out = number(1, 2) * groups;
  std::vector<std::int64_t> x_sizes, kernel_sizes, out_sizes;
  for (std::int64_t axis = 0; axis < spatial; axis++) {
    std::int64_t n, w, low, high, stride, base, window, positions;
    do {
      n = number(1, 5), w = number(1, 3), low = number(-1, 2), high = number(-1, 2);
      stride = number(1, 3), base = number(1, 2), window = number(1, 2);
      positions = (n - 1) * base + 1 + low + high - (w - 1) * window - 1;
    } while (positions < 0);
    x_sizes.push_back(n);
    kernel_sizes.push_back(w);
    out_sizes.push_back(positions / stride + 1);
    c.dims.padding.push_back({low, high});
    c.dims.strides.push_back(stride);
    c.dims.lhs_dilation.push_back(base);
    c.dims.rhs_dilation.push_back(window);
  }
  c.axes = ops::convolution_attributes(c.dims, spatial + 2, {});
  const auto shape = [&](const Axes& axes, std::int64_t first, std::int64_t second,
                         const Axes& sizes) {
    Axes dims(axes.size());
    for (std::size_t i = 0; i < axes.size(); i++)
      dims[static_cast<std::size_t>(axes[i])] = i == 0 ? first : i == 1 ? second : sizes[i - 2];
    return Shape(dims);
  };
  c.x = shape(c.axes.lhs, batch, in * c.dims.feature_groups, x_sizes);
  c.kernel = shape(c.axes.rhs, in, out, kernel_sizes);
  c.out = shape(c.axes.out, batch / c.dims.batch_groups, out, out_sizes);
  return c;
}

/// One element of the result, as XLA's operation semantics define it.
template <class T>
T element(const ConvolutionCase& c, const std::vector<T>& x, const std::vector<T>& kernel,
          const Index& at) {
  const auto of = [](const Index& index, std::int64_t axis) {
    return index[static_cast<std::size_t>(axis)];
  };
  const std::int64_t groups = std::max(c.dims.feature_groups, c.dims.batch_groups);
  const std::int64_t feature = of(at, c.axes.out[1]);
  const std::int64_t group = feature / (c.out[c.axes.out[1]] / groups);
  T sum = 0;
  std::size_t next = 0;
  for_each_index(c.kernel, [&](const Index& k) {
    const T weight = kernel[next++];
    if (of(k, c.axes.rhs[1]) != feature) return;
    Index from(at.size());
    const auto set = [&](std::int64_t axis, std::int64_t value) {
      from[static_cast<std::size_t>(axis)] = value;
    };
    set(c.axes.lhs[0],
        of(at, c.axes.out[0]) + (c.dims.batch_groups > 1 ? group * c.out[c.axes.out[0]] : 0));
    set(c.axes.lhs[1],
        of(k, c.axes.rhs[0]) + (c.dims.feature_groups > 1 ? group * c.kernel[c.axes.rhs[0]] : 0));
    for (std::size_t i = 0; i < c.dims.strides.size(); i++) {
      const std::int64_t place = of(at, c.axes.out[i + 2]) * c.dims.strides[i] +
                                 of(k, c.axes.rhs[i + 2]) * c.dims.rhs_dilation[i] -
                                 c.dims.padding[i].first;
      const std::int64_t base = c.dims.lhs_dilation[i];
      if (place < 0 || place % base != 0 || place / base >= c.x[c.axes.lhs[i + 2]]) return;
      set(c.axes.lhs[i + 2], place / base);
    }
    sum = static_cast<T>(sum + weight * x[static_cast<std::size_t>(position(from, c.x))]);
  });
  return sum;
}

template <class T>
std::vector<T> small_numbers(const Shape& shape, std::mt19937& engine) {
  std::uniform_int_distribution<int> number(-5, 5);
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.elements(); i++)
    values.push_back(static_cast<T>(number(engine)));
  return values;
}

template <class T>
class Convolution : public ::testing::Test {};
using ConvolutionTypes = ::testing::Types<std::int8_t, std::int32_t, float, double>;
TYPED_TEST_SUITE(Convolution, ConvolutionTypes);

// Whole numbers, so that the order of a sum makes no difference.
TYPED_TEST(Convolution, IsTheDefinition) {
  using T = TypeParam;
  std::mt19937 engine(5);
  for (int i = 0; i < 60; i++) {
    const ConvolutionCase c = random_case(engine);
    SCOPED_TRACE(c.dims.layout);
    const std::vector<T> x = small_numbers<T>(c.x, engine),
                         kernel = small_numbers<T>(c.kernel, engine);
    std::vector<T> want;
    for_each_index(c.out, [&](const Index& at) { want.push_back(element(c, x, kernel, at)); });
    expect_values(convolution(Literal::from(x, c.x), Literal::from(kernel, c.kernel), c.dims),
                  c.out, want);
  }
}

TEST(ConvolutionOfImages, HasTheSumsOfLargeProducts) {
  std::mt19937 engine(6);
  const Shape image{2, 9, 8, 16}, weights{3, 3, 16, 24};
  ConvolutionCase c{{.padding = {{1, 1}, {1, 1}}}, {}, image, weights, {2, 9, 8, 24}};
  c.dims.strides = c.dims.lhs_dilation = c.dims.rhs_dilation = {1, 1};
  c.axes = ops::convolution_attributes(c.dims, 4, {});
  const auto x = small_numbers<float>(c.x, engine), kernel = small_numbers<float>(c.kernel, engine);
  std::vector<float> want;
  for_each_index(c.out, [&](const Index& at) { want.push_back(element(c, x, kernel, at)); });
  expect_values(convolution(Literal::from(x, c.x), Literal::from(kernel, c.kernel),
                            {.padding = {{1, 1}, {1, 1}}}),
                c.out, want);
}

TEST(ConvolutionOfImages, HalvesAreAddedInF32) {
  const Tensor x = ones(bf16({1, 1000, 1})), kernel = ones(bf16({1000, 1, 1}));
  expect_values(convert(convolution(x, kernel, {.layout = "b0f_0io->b0f"}), DType::kF32), {1, 1, 1},
                std::vector<float>{1000});
}

TEST(ConvolutionDerivatives, AreThoseOfDifferences) {
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> number(-1, 1);
  const auto some = [&](const Shape& shape) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.elements(); i++) values.push_back(number(engine));
    return Literal::from(values, shape);
  };
  for (int i = 0; i < 12; i++) {
    const ConvolutionCase c = random_case(engine);
    SCOPED_TRACE(c.dims.layout);
    EXPECT_EQ(derivative_error(of_tensors<2>([&](const Tensor& x, const Tensor& kernel) {
                                 return convolution(x, kernel, c.dims);
                               }),
                               {some(c.x), some(c.kernel)}, {.order = 2, .rtol = 1e-5}),
              "");
  }
}

TEST(ConvolutionBatch, IsOneConvolutionForEachLane) {
  std::mt19937 engine(8);
  constexpr std::int64_t kLanes = 3;
  const auto stacked = [&](const Shape& shape) {
    std::vector<std::int64_t> dims = shape.vector();
    dims.insert(dims.begin(), kLanes);
    return Tensor(Literal::from(small_numbers<std::int32_t>(dims, engine), dims));
  };
  for (int i = 0; i < 30; i++) {
    const ConvolutionCase c = random_case(engine);
    SCOPED_TRACE(c.dims.layout);
    const Tensor x = stacked(c.x), kernel = stacked(c.kernel);
    const auto f = [&](const Tensor& a, const Tensor& b) { return convolution(a, b, c.dims); };
    const auto lane = [](const Tensor& all, std::int64_t k) { return take(all, Tensor(k)); };
    for (const auto& [in_x, in_kernel] : {std::pair(true, true), {true, false}, {false, true}}) {
      const Tensor a = in_x ? x : lane(x, 0), b = in_kernel ? kernel : lane(kernel, 0);
      std::vector<Tensor> want;
      for (std::int64_t k = 0; k < kLanes; k++)
        want.push_back(f(lane(x, in_x ? k : 0), lane(kernel, in_kernel ? k : 0)));
      const std::vector<std::optional<std::int64_t>> axes{
          in_x ? std::optional<std::int64_t>(0) : std::nullopt,
          in_kernel ? std::optional<std::int64_t>(0) : std::nullopt};
      const Literal got = vmap(f, {.in_axes = axes})(a, b).eval();
      EXPECT_TRUE(got.identical(stack(want, 0).eval())) << in_x << in_kernel;
    }
  }
}

TEST(ConvolutionMisuse, NamesWhatDoesNotFit) {
  const Tensor x = ones(f32({1, 5, 5, 3})), kernel = ones(f32({3, 3, 3, 4}));
  EXPECT_NO_THROW(convolution(x, kernel));
  EXPECT_THROW(convolution(x, ones(f32({3, 3, 2, 4}))), TraceError);
  EXPECT_THROW(convolution(x, ones(f64({3, 3, 3, 4}))), TraceError);
  EXPECT_THROW(convolution(x, ones(f32({3, 3, 4}))), TraceError);
  for (const ConvDims& dims : {ConvDims{.strides = {0, 1}}, ConvDims{.strides = {1}},
                               ConvDims{.padding = {{-9, 0}, {0, 0}}}, ConvDims{.layout = "b01f"},
                               ConvDims{.layout = "b00f_01io->b01f"}, ConvDims{.feature_groups = 2},
                               ConvDims{.batch_groups = 2}, ConvDims{.feature_groups = 0}})
    EXPECT_THROW(convolution(x, kernel, dims), TraceError) << dims.layout;
}

}  // namespace
}  // namespace rondo
