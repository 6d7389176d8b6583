// Eigen::Tensor, whose header is included after ours here.
#include <array>
#include <unsupported/Eigen/CXX11/Tensor>
#include <vector>

#include "errors/message.h"
#include "rondo/eigen.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

template <class T>
T numbered_tensor() {
  T tensor(2, 3, 4);
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 4; k++)
        tensor(i, j, k) = static_cast<typename T::Scalar>(100 * i + 10 * j + k);
    }
  }
  return tensor;
}

/// 100 i + 10 j + k at [i, j, k].
std::vector<float> numbers() {
  std::vector<float> values;
  for (int i = 0; i < 24; i++)
    values.push_back(static_cast<float>(100 * (i / 12) + 10 * (i / 4 % 3) + i % 4));
  return values;
}

TEST(EigenTensor, KeepsItsIndicesInEitherOrder) {
  using ColumnMajor = Eigen::Tensor<float, 3>;
  using RowMajor = Eigen::Tensor<float, 3, Eigen::RowMajor>;
  expect_values<float>(from_eigen(numbered_tensor<ColumnMajor>()), {2, 3, 4}, numbers());
  expect_values<float>(from_eigen(numbered_tensor<RowMajor>()), {2, 3, 4}, numbers());

  const auto doubled = jit([](Tensor x) { return x * 2.0f; });
  const ColumnMajor columns = doubled(numbered_tensor<ColumnMajor>());
  const auto rows = to_eigen<RowMajor>(doubled(numbered_tensor<RowMajor>()));
  EXPECT_EQ(columns.dimension(2), 4);
  EXPECT_EQ(columns(1, 2, 3), 246.0f);
  EXPECT_EQ(columns(0, 1, 2), 24.0f);
  EXPECT_EQ(rows(1, 2, 3), 246.0f);
  EXPECT_EQ(rows(1, 0, 2), 204.0f);
}

TEST(EigenTensor, MayBeAMapOrOfFixedSize) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  const Eigen::TensorMap<const Eigen::Tensor<const double, 2>> map(values.data(), 2, 3);
  expect_values<double>(from_eigen(map), {2, 3}, {1, 3, 5, 2, 4, 6});
  using Fixed = Eigen::TensorFixedSize<double, Eigen::Sizes<2, 3>, Eigen::RowMajor>;
  const Fixed fixed = to_eigen<Fixed>(from_eigen(map));
  EXPECT_EQ(fixed(0, 2), 5.0);
  EXPECT_EQ(fixed(1, 0), 2.0);
  expect_values<double>(from_eigen(fixed), {2, 3}, {1, 3, 5, 2, 4, 6});
  EXPECT_REFUSED(to_eigen<Fixed>(Literal::zeros(f64({3, 2}))), "f64[3,2]", "f64[2,3]");
}

TEST(EigenTensor, NamesBothTypesIfTheRankDiffers) {
  EXPECT_REFUSED((to_eigen<Eigen::Tensor<float, 3>>(Literal::zeros(f32({2, 3})))), "f32[2,3]",
                 "f32[?,?,?]", "axes");
}

TEST(EigenTensor, OfRankZeroIsAScalar) {
  Eigen::Tensor<float, 0> scalar;
  scalar() = 7;
  expect_values<float>(from_eigen(scalar), Shape{}, {7});
  EXPECT_EQ((to_eigen<Eigen::Tensor<float, 0>>(Literal::scalar(3.0f))()), 3.0f);
}

}  // namespace
}  // namespace rondo::testing
