// Eigen's types as arguments and results of traced functions, compared with the same in Eigen.
#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "errors/message.h"
#include "rondo/eigen.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

struct Filter {
  Eigen::Vector4f mean;
  Eigen::Matrix4f covariance;
  float time;
};
struct TracedFilter {
  Tensor mean, covariance, time;
};
struct DynamicFilter {
  Eigen::VectorXf mean;
  Eigen::MatrixXf covariance;
  float time;
};
template <class Vector, class Matrix>
struct Generic {
  Vector mean;
  Matrix covariance;
};

Eigen::Matrix4f transition() {
  Eigen::Matrix4f f = Eigen::Matrix4f::Identity();
  f(0, 2) = 0.5f;
  f(1, 3) = 0.25f;
  return f;
}
Filter filter() {
  Filter state;
  state.mean << 1, 2, 3, 4;
  state.covariance << 4, 1, 0, 0, 1, 3, 0.5f, 0, 0, 0.5f, 2, 0.125f, 0, 0, 0.125f, 1;
  state.time = 1.5f;
  return state;
}
/// The prediction of a Kalman filter, with a matrix that is not symmetric.
TracedFilter predicted(const TracedFilter& s) {
  const Tensor f = from_eigen(transition());
  return {matmul(f, s.mean), matmul(f, s.covariance), s.time + 1.0f};
}
template <class State>
void expect_predicted(const State& got) {
  const Filter from = filter();
  EXPECT_EQ(got.mean, transition() * from.mean);
  EXPECT_EQ(got.covariance, transition() * from.covariance);
  EXPECT_EQ(got.time, 2.5f);
}

TEST(EigenJit, TakesAndGivesMatrices) {
  const auto gram = jit([](Tensor a, Tensor x) { return matmul(transpose(a), matmul(a, x)); });
  Eigen::MatrixXf a(3, 2);
  a << 1, 2, 3, 4, 5, 6;
  const Eigen::Vector2f x(1, -1);
  for (int run = 0; run < 3; run++) {
    const Eigen::Vector2f y = gram(a, x);
    EXPECT_EQ(y, a.transpose() * (a * x));
    a(0, 1) += 1;
  }
  // Expressions, parts and other types are the same program's arguments.
  const Eigen::Vector2f of_parts = gram(2 * a, a.row(1));
  EXPECT_EQ(of_parts, (2 * a).transpose() * ((2 * a) * a.row(1).transpose()));
  // Another shape is another program.
  const Eigen::VectorXf wide = gram(Eigen::MatrixXf(a.transpose()), Eigen::Vector3f(1, 2, 3));
  EXPECT_EQ(wide, a * (a.transpose() * Eigen::Vector3f(1, 2, 3)));
}

TEST(EigenJit, TakesAndGivesStructs) {
  const auto step = jit(predicted);
  expect_predicted(to_eigen<Filter>(step(filter())));
  const Filter fixed = filter();
  const DynamicFilter dynamic{fixed.mean, fixed.covariance, fixed.time};
  expect_predicted(to_eigen<DynamicFilter>(step(dynamic)));
  // The result of one call, of Tensors, is the argument of the next.
  const auto twice = to_eigen<Filter>(step(step(filter())));
  EXPECT_EQ(twice.mean, transition() * (transition() * fixed.mean));
}

TEST(EigenJit, TakesTemplatesTuplesAndContainers) {
  const auto product = jit([](auto state) { return matmul(state.covariance, state.mean); });
  const Filter f = filter();
  const Eigen::Vector4f y =
      product(Generic<Eigen::Vector4f, Eigen::Matrix4f>{f.mean, f.covariance});
  EXPECT_EQ(y, f.covariance * f.mean);

  const auto of_pair = jit([](std::pair<Tensor, Tensor> s) { return matmul(s.first, s.second); });
  const Eigen::Vector4f of_both = of_pair(std::pair(f.covariance, f.mean));
  EXPECT_EQ(of_both, f.covariance * f.mean);

  const auto total = jit([](std::vector<Tensor> parts) { return parts[0] + parts[1]; });
  const Eigen::Vector2f sums =
      total(std::vector<Eigen::Vector2f>{Eigen::Vector2f(1, 2), Eigen::Vector2f(3, 5)});
  EXPECT_EQ(sums, Eigen::Vector2f(4, 7));

  const auto by_name = jit([](std::map<std::string, Tensor> parts) { return parts["b"]; });
  const Eigen::Vector2f b = by_name(std::map<std::string, Eigen::Vector2f>{
      {"a", Eigen::Vector2f(1, 2)}, {"b", Eigen::Vector2f(3, 5)}});
  EXPECT_EQ(b, Eigen::Vector2f(3, 5));
}

TEST(EigenTransforms, DifferentiateMapAndLoop) {
  Eigen::Matrix3d a;
  a << 2, 1, 0, 1, 3, 1, 0, 1, 4;
  const Eigen::Vector3d x(1, 2, -1);
  const auto form = [](Tensor a, Tensor x) { return sum(x * matmul(a, x)); };
  const Eigen::Vector3d slope = jit(grad<1>(form))(a, x);
  EXPECT_TRUE(slope.isApprox((a + a.transpose()) * x, 1e-14));
  const Eigen::Matrix3d curvature = grad<0>(form)(a, x);
  EXPECT_TRUE(curvature.isApprox(x * x.transpose(), 1e-14));

  Eigen::MatrixXd batch(2, 3);
  batch << 1, 2, 3, 4, 5, 6;
  const auto doubled_norm = vmap([](Tensor row) { return 2.0 * sum(row * row); });
  const Eigen::Vector2d norms = doubled_norm(batch);
  EXPECT_EQ(norms, Eigen::Vector2d(28, 154));

  const Eigen::Vector3d looped = fori_loop(
      0, 3, [&](Tensor, Tensor v) { return matmul(from_eigen(a), v); }, x);
  EXPECT_EQ(looped, a * (a * (a * x)));

  const auto run = compile_as(form, a, x);
  EXPECT_EQ(run(a, x).item<double>(), x.dot(a * x));
  EXPECT_EQ(trace(form, a, x).params().begin()->str(), "f64[3,3]");
}

TEST(EigenNative, TransposesWhatIsColumnMajor) {
  const auto outer_product =
      native<Eigen::Matrix4f(Eigen::Vector4f)>([](Tensor v) { return outer(v, v + 1.0f); });
  const Eigen::Vector4f v(1, 2, 3, 4);
  const Eigen::Matrix4f want = v * (v.array() + 1).matrix().transpose();
  EXPECT_EQ(outer_product(v), want);

  using Wide = Eigen::Matrix<double, 2, 3>;
  using Tall = Eigen::Matrix<double, 3, 2, Eigen::RowMajor>;
  const auto turned =
      native<Tall(const Wide&, double)>([](Tensor m, Tensor k) { return transpose(m) * k; });
  Wide wide;
  wide << 1, 2, 3, 4, 5, 6;
  EXPECT_EQ(turned(wide, 2), 2 * wide.transpose());
}

TEST(EigenNative, TakesStructsTuplesAndArrays) {
  expect_predicted(native<Filter(const Filter&)>(predicted)(filter()));

  using Pair = std::array<Eigen::Matrix2f, 2>;
  const auto swapped = native<std::tuple<Pair, std::int8_t>(Pair, std::int8_t)>(
      [](std::array<Tensor, 2> m, Tensor k) {
        return std::tuple(std::array<Tensor, 2>{m[1], m[0] + m[1]}, k + 1);
      });
  Eigen::Matrix2f a, b;
  a << 1, 2, 3, 4;
  b << 5, 6, 7, 8;
  const auto [matrices, k] = swapped({a, b}, 3);
  EXPECT_EQ(matrices[0], b);
  EXPECT_EQ(matrices[1], a + b);
  EXPECT_EQ(k, 4);
}

TEST(EigenNative, RunsOnEachExecutor) {
  for (const Executor executor : {Executor::kCompiled, Executor::kBytecode, Executor::kReference}) {
    const auto product = native<Eigen::Matrix3d(Eigen::Matrix3d, Eigen::Matrix3d)>(
        [](Tensor a, Tensor b) { return matmul(a, b); }, {.compile = {.executor = executor}});
    Eigen::Matrix3d a, b;
    a << 1, 2, 3, 4, 5, 6, 7, 8, 9;
    b << 1, 0, 2, 0, 1, 0, 3, 0, 1;
    EXPECT_EQ(product(a, b), a * b);
  }
}

TEST(EigenNative, NamesTheTypesIfTheResultDiffers) {
  EXPECT_REFUSED((native<Eigen::Matrix3f(Eigen::Vector4f)>([](Tensor v) { return outer(v, v); })),
                 "native", "f32[4,4]", "f32[3,3]");
}

TEST(EigenTree, IsSavedWithItsNames) {
  const Filter f = filter();
  const std::string path = ::testing::TempDir() + "eigen_filter.npz";
  save_npz(path, f);
  const Filter again = load_npz(path, f);
  EXPECT_EQ(again.mean, f.mean);
  EXPECT_EQ(again.covariance, f.covariance);
  EXPECT_EQ(again.time, f.time);
}

/// A struct of Eigen's types, which is no template, through nested transforms: the innermost
/// function's parameter says which struct of Tensors it is.
Tensor filter_loss(const TracedFilter& s) {
  return s.time * sum(square(s.mean)) + sum(s.covariance * s.covariance * s.covariance);
}
template <class F>
void expect_gradient_of_loss(const F& gradient) {
  const Filter from = filter();
  const DynamicFilter dynamic{from.mean, from.covariance, from.time};
  const auto expect_gradient = [&](const Filter& got) {
    EXPECT_EQ(got.mean, 2 * from.time * from.mean);
    EXPECT_EQ(got.covariance, 3 * from.covariance.cwiseAbs2());
    EXPECT_EQ(got.time, from.mean.squaredNorm());
  };
  expect_gradient(to_eigen<Filter>(gradient(from)));
  expect_gradient(to_eigen<Filter>(gradient(dynamic)));
}

TEST(EigenNesting, StructsThatAreNoTemplatesGoThroughSeveralTransforms) {
  expect_gradient_of_loss(jit(grad(filter_loss)));
  expect_gradient_of_loss(grad(jit(filter_loss)));
  expect_gradient_of_loss(jit(grad(checkpoint(filter_loss))));
  expect_gradient_of_loss(jit(jit(grad(jit([](TracedFilter s) { return filter_loss(s); })))));
  const Filter from = filter();
  const auto [value, gradient] = jit(value_and_grad(filter_loss))(from);
  EXPECT_EQ(value.item<float>(),
            from.time * from.mean.squaredNorm() +
                from.covariance.cwiseAbs2().cwiseProduct(from.covariance).sum());
}

struct Tracks {
  Eigen::MatrixXf mean;  // a row for each
  Eigen::VectorXf weight;
};
struct TracedTracks {
  Tensor mean, weight;
};

TEST(EigenNesting, LanesOfSuchAStruct) {
  const auto one = [](const TracedTracks& t) { return t.weight * sum(t.mean); };
  Tracks tracks{Eigen::MatrixXf(2, 3), Eigen::Vector2f(2, -1)};
  tracks.mean << 1, 2, 3, 4, 5, 6;
  const Eigen::VectorXf sums = jit(vmap(one))(tracks);
  EXPECT_EQ(sums, Eigen::Vector2f(12, -15));
  const auto gradient = to_eigen<Tracks>(jit(vmap(grad(one)))(tracks));
  EXPECT_EQ(gradient.weight, Eigen::Vector2f(6, 15));
  EXPECT_EQ(gradient.mean, tracks.weight.replicate(1, 3));
}

}  // namespace
}  // namespace rondo::testing
