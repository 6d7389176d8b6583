// Normalized batches, against loops over plain arrays.
#include <cmath>
#include <cstdint>
#include <random>

#include "ops/vectors.h"
#include "support/derivative_check.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using Numbers = std::vector<double>;

constexpr std::size_t kOuter = 3, kFeatures = 2, kInner = 4;  // f64[3,2,4], features along axis 1
const Shape kShape{kOuter, kFeatures, kInner};
constexpr double kEpsilon = 0.25;

std::size_t feature_of(std::size_t i) { return i / kInner % kFeatures; }

Numbers random_numbers(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> number(-2, 2);
  Numbers numbers(n);
  for (double& x : numbers) x = number(engine);
  return numbers;
}

/// The sum of f(i) over the elements of each feature.
template <class F>
Numbers sums(F f) {
  Numbers sums(kFeatures);
  for (std::size_t i = 0; i < kOuter * kFeatures * kInner; i++) sums[feature_of(i)] += f(i);
  return sums;
}

struct Example {
  Numbers x = random_numbers(kOuter * kFeatures * kInner, 1);
  Numbers ct = random_numbers(x.size(), 2);
  Numbers scale{1.5, -0.5}, offset{0.25, 2}, mean, variance;
  double count = static_cast<double>(kOuter * kInner);
  Tensor array = Literal::from(x, kShape), cotangent = Literal::from(ct, kShape);

  Example() {
    mean = sums([&](std::size_t i) { return x[i] / count; });
    variance = sums([&](std::size_t i) { return std::pow(centered(i), 2) / count; });
  }
  double centered(std::size_t i) const { return x[i] - mean[feature_of(i)]; }
  double deviation(std::size_t i) const { return std::sqrt(variance[feature_of(i)] + kEpsilon); }
  Numbers normalized() const {
    Numbers y;
    for (std::size_t i = 0; i < x.size(); i++)
      y.push_back(centered(i) / deviation(i) * scale[feature_of(i)] + offset[feature_of(i)]);
    return y;
  }
};

TEST(BatchNorm, OfTraining) {
  const Example e;
  const auto [y, mean, variance] =
      batch_norm_training(e.array, vec(e.scale), vec(e.offset), kEpsilon, 1);
  expect_close(y, kShape, e.normalized(), 1e-13, 1e-14);
  expect_close(mean, {kFeatures}, e.mean, 1e-13, 1e-14);
  expect_close(variance, {kFeatures}, e.variance, 1e-13);
}

TEST(BatchNorm, OfInferenceByGivenMeans) {
  Example e;
  e.mean = {0.5, -1};
  e.variance = {2, 0.125};
  expect_close(batch_norm_inference(e.array, vec(e.scale), vec(e.offset), vec(e.mean),
                                    vec(e.variance), kEpsilon, -2),
               kShape, e.normalized(), 1e-13, 1e-14);
}

// The chain rule by hand: each element of y depends on its x, on the mean and on the variance.
TEST(BatchNorm, GradientIsThatOfTraining) {
  const Example e;
  const Numbers total = sums([&](std::size_t i) { return e.ct[i]; });
  const Numbers products = sums([&](std::size_t i) { return e.ct[i] * e.centered(i); });
  Numbers of_x, of_scale;
  for (std::size_t i = 0; i < e.x.size(); i++) {
    const std::size_t f = feature_of(i);
    const double d = e.deviation(i);
    const double of_variance = -e.scale[f] * products[f] / (2 * d * d * d);
    of_x.push_back(e.ct[i] * e.scale[f] / d + of_variance * 2 * e.centered(i) / e.count -
                   e.scale[f] * total[f] / d / e.count);
  }
  for (std::size_t f = 0; f < kFeatures; f++)
    of_scale.push_back(products[f] / std::sqrt(e.variance[f] + kEpsilon));

  const auto by_op = batch_norm_grad(e.array, vec(e.scale), vec(e.mean), vec(e.variance),
                                     e.cotangent, kEpsilon, 1);
  const auto [x, scale, offset] = grad<0, 1, 2>([&](Tensor a, Tensor s, Tensor o) {
    return sum(batch_norm_training(a, s, o, kEpsilon, 1).y * e.cotangent);
  })(e.array, vec(e.scale), vec(e.offset));
  for (const BatchNormGradient& got : {by_op, BatchNormGradient{x, scale, offset}}) {
    expect_close(got.x, kShape, of_x, 1e-12, 1e-13);
    expect_close(got.scale, {kFeatures}, of_scale, 1e-12);
    expect_close(got.offset, {kFeatures}, total, 1e-12);
  }
}

TEST(BatchNorm, DerivativesAreThoseOfDifferences) {
  const Example e;
  const std::vector<Literal> at{e.array.eval(), vec(e.scale).eval(), vec(e.offset).eval(),
                                vec(e.variance).eval(), e.cotangent.eval()};
  const auto all = [](const std::vector<Tensor>& v) {
    const auto [y, mean, variance] = batch_norm_training(v[0], v[1], v[2], kEpsilon, 1);
    const auto [x, scale, offset] = batch_norm_grad(v[0], v[1], v[2], v[3], v[4], kEpsilon, 1);
    const Tensor z = batch_norm_inference(v[0], v[1], v[2], v[2], v[3], kEpsilon, 1);
    return std::vector<Tensor>{sin(y), mean * variance, x * x, scale * offset, sin(z)};
  };
  EXPECT_EQ(derivative_error(all, at), "");
}

TEST(BatchNorm, Edges) {
  // One element for each feature: its mean, with variance 0.
  const auto one = batch_norm_training(vec<float>({3, -1}), 2.0f, 0.5f, 1.0f);
  expect_vec<float>(one.y, {0.5f, 0.5f});
  expect_vec<float>(one.mean, {3, -1});
  expect_vec<float>(one.variance, {0, 0});
  // None.
  const Tensor none = zeros(f32({0, 2}));
  const auto empty = batch_norm_training(none, 1.0f, 0.0f);
  EXPECT_EQ(empty.y.type(), f32({0, 2}));
  expect_vec<float>(empty.mean, {kNan, kNan});
  expect_vec<float>(empty.variance, {kNan, kNan});
  const auto back = batch_norm_grad(none, 1.0f, 0.0f, 1.0f, none);
  expect_vec<float>(back.scale, {0, 0});
  EXPECT_EQ(batch_norm_training(zeros(f32({3, 0})), 1.0f, 0.0f).mean.eval().elements(), 0);
  // NaN stays in its feature.
  const Tensor mixed = constant({{1.0f, kNan}, {3.0f, 2.0f}});
  expect_values<float>(batch_norm_training(mixed, 1.0f, 0.0f, 3.0f).y, {2, 2},
                       {-0.5f, kNan, 0.5f, kNan});
}

TEST(BatchNorm, HalvesAreComputedInF32) {
  // In bf16 the sum of so many ones would stay at 256.
  const Tensor ones_and_threes = convert(iota(s32({1024, 1}), 0) % 2 * 2 + 1, DType::kBF16);
  const auto [y, mean, variance] = batch_norm_training(ones_and_threes, 1, 0, 0);
  expect_vec<float>(convert(mean, DType::kF32), {2});
  expect_vec<float>(convert(variance, DType::kF32), {1});
  expect_scalar(convert(y[0][0], DType::kF32), -1.0f);
}

TEST(BatchNorm, Text) {
  const Function f = trace(
      [](Tensor x, Tensor s) {
        const auto [y, mean, variance] = batch_norm_training(x, s, s, 1e-5f, 1);
        const auto back = batch_norm_grad(x, s, mean, variance, y, 1e-5f, 1);
        return batch_norm_inference(back.x, back.scale, back.offset, s, s, 2, 1);
      },
      f32({3, 2}), f32({2}));
  const std::string hlo = to_hlo_text(f), stablehlo = to_stablehlo_text(f);
  EXPECT_NE(
      hlo.find("(f32[3,2], f32[2], f32[2]) batch-norm-training(arg0, arg1, arg1), epsilon=1e-05, "
               "feature_index=1"),
      std::string::npos)
      << hlo;
  EXPECT_NE(hlo.find("batch-norm-grad("), std::string::npos);
  EXPECT_NE(hlo.find("batch-norm-inference("), std::string::npos);
  EXPECT_NE(stablehlo.find("\"stablehlo.batch_norm_inference\"(%1#0, %1#1, %1#2, %arg1, %arg1) "
                           "<{epsilon = 2.0 : f32, feature_index = 1 : i64}>"),
            std::string::npos)
      << stablehlo;
}

TEST(BatchNorm, SaysWhatDoesNotFit) {
  const Tensor x = zeros(f32({3, 2}));
  expect_error(
      [&] {
        batch_norm_training(zeros(s32({3, 2})), 1, 0);
      },
      {"batch_norm_training: takes floats; the operand is s32[3,2]"});
  expect_error([&] { batch_norm_training(x, zeros(f32({3})), 0.0f); },
               {"the scale is f32[3]; of f32[3,2], with its features along axis 1, it must be "
                "f32[2]\n",
                "Give one number for each feature."});
  expect_error([&] { batch_norm_inference(x, 1.0f, 0.0f, zeros(f64({2})), 1.0f); },
               {"the mean is f64[2]", "it must be f32[2]"});
  expect_error([&] { batch_norm_training(x, 1.0f, 0.0f, 1e-5f, 2); }, {"axis 2"});
  expect_error(
      [&] {
        batch_norm_grad(x, 1.0f, 0.0f, 1.0f, zeros(f32({2, 3})));
      },
      {"the operand is f32[3,2], the cotangent f32[2,3]; the types must be equal"});
}

}  // namespace
}  // namespace rondo
