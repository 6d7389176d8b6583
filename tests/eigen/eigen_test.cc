// Eigen's objects as literals and tensors, and back, compared element by element with Eigen.
#include "rondo/eigen.h"

#include <Eigen/Dense>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

using RowMajorF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>;

template <class M>
M numbered(Eigen::Index rows, Eigen::Index columns) {
  M m(rows, columns);
  for (Eigen::Index i = 0; i < rows; i++) {
    for (Eigen::Index j = 0; j < columns; j++)
      m(i, j) = static_cast<typename M::Scalar>(10 * i + j + 1);
  }
  return m;
}

/// Element [i, j] of the literal is (i, j) of the matrix.
template <class T, class M>
void expect_same_elements(const Literal& literal, const M& matrix) {
  ASSERT_EQ(literal.type(), (TensorType{dtype_of<T>, {matrix.rows(), matrix.cols()}}));
  const auto data = literal.data<T>();
  for (Eigen::Index i = 0; i < matrix.rows(); i++) {
    for (Eigen::Index j = 0; j < matrix.cols(); j++)
      EXPECT_EQ(data[static_cast<std::size_t>(i * matrix.cols() + j)], matrix(i, j));
  }
}

TEST(FromEigen, KeepsTheIndicesOfAMatrixInEitherOrder) {
  expect_same_elements<float>(from_eigen(numbered<Eigen::MatrixXf>(3, 4)),
                              numbered<Eigen::MatrixXf>(3, 4));
  expect_same_elements<float>(from_eigen(numbered<RowMajorF>(3, 4)), numbered<RowMajorF>(3, 4));
  expect_same_elements<double>(from_eigen(numbered<Eigen::Matrix3d>(3, 3)),
                               numbered<Eigen::Matrix3d>(3, 3));
  using Fixed = Eigen::Matrix<int, 2, 3, Eigen::RowMajor>;
  expect_same_elements<int>(from_eigen(numbered<Fixed>(2, 3)), numbered<Fixed>(2, 3));
  expect_same_elements<float>(from_eigen(numbered<Eigen::ArrayXXf>(2, 5)),
                              numbered<Eigen::ArrayXXf>(2, 5));
  expect_same_elements<float>(from_eigen(numbered<Eigen::Array22f>(2, 2)),
                              numbered<Eigen::Array22f>(2, 2));
  // More than a block of the copy.
  expect_same_elements<float>(from_eigen(numbered<Eigen::MatrixXf>(70, 45)),
                              numbered<Eigen::MatrixXf>(70, 45));
}

TEST(FromEigen, MakesRankOneOfAVectorType) {
  expect_values<float>(from_eigen(Eigen::Vector3f(1, 2, 3)), {3}, {1, 2, 3});
  expect_values<float>(from_eigen(Eigen::RowVector3f(1, 2, 3)), {3}, {1, 2, 3});
  const Eigen::VectorXd dynamic = Eigen::Vector4d(1, 2, 3, 4);
  expect_values<double>(from_eigen(dynamic), {4}, {1, 2, 3, 4});
  const Eigen::ArrayXi array = Eigen::Array3i(7, 8, 9);
  expect_values<int>(from_eigen(array), {3}, {7, 8, 9});
  // A matrix type of one column stays a matrix.
  expect_values<float>(from_eigen(Eigen::MatrixXf(Eigen::Vector2f(1, 2))), {2, 1}, {1, 2});
}

TEST(FromEigen, TakesMapsBlocksAndExpressions) {
  const Eigen::MatrixXf m = numbered<Eigen::MatrixXf>(4, 5);
  expect_same_elements<float>(from_eigen(m.transpose()), Eigen::MatrixXf(m.transpose()));
  expect_same_elements<float>(from_eigen(m.block(1, 2, 3, 2)),
                              Eigen::MatrixXf(m.block(1, 2, 3, 2)));
  expect_same_elements<float>(from_eigen(m * m.transpose()), Eigen::MatrixXf(m * m.transpose()));
  expect_same_elements<float>(from_eigen(m.array().square()), Eigen::ArrayXXf(m.array().square()));
  expect_values<float>(from_eigen(m.row(2)), {5}, {21, 22, 23, 24, 25});
  expect_values<float>(from_eigen(m.col(1).reverse()), {4}, {32, 22, 12, 2});
  const std::vector<float> values = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const Eigen::Map<const Eigen::MatrixXf, 0, Strided> map(values.data(), 2, 2, Strided(6, 2));
  expect_values<float>(from_eigen(map), {2, 2}, {0, 6, 2, 8});
  const Eigen::Ref<const Eigen::MatrixXf> ref = m.leftCols(2);
  expect_same_elements<float>(from_eigen(ref), Eigen::MatrixXf(m.leftCols(2)));
}

TEST(FromEigen, TakesEachScalarOfADtype) {
  using C = std::complex<double>;
  Eigen::Matrix2cd c;
  c << C(1, 2), C(3, 4), C(5, 6), C(7, 8);
  expect_same_elements<C>(from_eigen(c), c);
  Eigen::Matrix<bool, 2, 1> flags;
  flags << true, false;
  expect_values<bool>(from_eigen(flags), {2}, {true, false});
  Eigen::Matrix<std::uint8_t, 1, 2> bytes;
  bytes << 250, 3;
  expect_values<std::uint8_t>(from_eigen(bytes), {2}, {250, 3});
  Eigen::Matrix<Eigen::half, 2, 2> half;
  half << Eigen::half(1.5f), Eigen::half(2), Eigen::half(-3), Eigen::half(0.25f);
  const Literal halves = from_eigen(half);
  ASSERT_EQ(halves.type(), f16({2, 2}));
  EXPECT_EQ(static_cast<float>(halves.data<float16>()[1]), 2.0f);
  EXPECT_EQ((to_eigen<Eigen::Matrix<Eigen::half, 2, 2>>(halves)), half);
  Eigen::Matrix<Eigen::bfloat16, 3, 1> brain;
  brain << Eigen::bfloat16(1), Eigen::bfloat16(-2), Eigen::bfloat16(0.5f);
  EXPECT_EQ(static_cast<float>(from_eigen(brain).data<bfloat16>()[2]), 0.5f);
}

TEST(FromEigen, TakesArraysWithoutElements) {
  EXPECT_EQ(from_eigen(Eigen::MatrixXf(0, 3)).type(), f32({0, 3}));
  EXPECT_EQ(from_eigen(Eigen::VectorXd()).type(), f64({0}));
  EXPECT_EQ(to_eigen<Eigen::MatrixXf>(Literal::zeros(f32({0, 3}))).cols(), 3);
  EXPECT_EQ(to_eigen<Eigen::VectorXf>(Literal()).size(), 0);
}

TEST(FromEigen, KeepsTheMemoryOfWhatIsMovedIn) {
  Eigen::VectorXf v = Eigen::VectorXf::LinSpaced(100, 0, 99);
  const void* const elements = v.data();
  Literal literal = from_eigen(std::move(v));
  EXPECT_EQ(static_cast<const void*>(literal.bytes()), elements);
  ASSERT_EQ(literal.type(), f32({100}));
  EXPECT_EQ(literal.data<float>()[99], 99.0f);
  // A copy shares it, and a write to one copies.
  const Literal copy = literal;
  EXPECT_EQ(static_cast<const void*>(copy.bytes()), elements);
  literal.mutable_data<float>()[0] = 5;
  EXPECT_NE(static_cast<const void*>(literal.bytes()), elements);
  EXPECT_EQ(copy.data<float>()[0], 0.0f);
  EXPECT_EQ((Tensor(copy) + 1.0f).eval().data<float>()[99], 100.0f);

  RowMajorF rows = numbered<RowMajorF>(3, 2);
  const void* const of_rows = rows.data();
  const Literal kept = from_eigen(std::move(rows));
  EXPECT_EQ(static_cast<const void*>(kept.bytes()), of_rows);
  // These need another order of the elements.
  Eigen::MatrixXf columns = numbered<Eigen::MatrixXf>(3, 2);
  const void* const of_columns = columns.data();
  const Literal reordered = from_eigen(std::move(columns));
  EXPECT_NE(static_cast<const void*>(reordered.bytes()), of_columns);
  expect_same_elements<float>(reordered, numbered<RowMajorF>(3, 2));
}

template <class M>
void expect_round_trip(const M& matrix) {
  const M again = to_eigen<M>(from_eigen(matrix));
  EXPECT_TRUE((again.array() == matrix.array()).all());
  const M of_tensor = to_eigen<M>(Tensor(from_eigen(matrix)));
  EXPECT_TRUE((of_tensor.array() == matrix.array()).all());
}

TEST(ToEigen, GivesBackWhatFromEigenTook) {
  expect_round_trip(numbered<Eigen::MatrixXf>(3, 5));
  expect_round_trip(numbered<RowMajorF>(3, 5));
  expect_round_trip(numbered<Eigen::Matrix4d>(4, 4));
  expect_round_trip(numbered<Eigen::ArrayXXd>(4, 2));
  expect_round_trip(Eigen::VectorXd(Eigen::Vector3d(1, 2, 3)));
  expect_round_trip(Eigen::RowVectorXf(Eigen::RowVector3f(1, 2, 3)));
  expect_round_trip(numbered<Eigen::Matrix<int, Eigen::Dynamic, 3>>(5, 3));
  expect_round_trip(numbered<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>>(3, 4));
}

TEST(ToEigen, EvaluatesALazyTensor) {
  const Eigen::MatrixXf a = numbered<Eigen::MatrixXf>(3, 4), b = numbered<Eigen::MatrixXf>(4, 2);
  const Tensor product = matmul(from_eigen(a), from_eigen(b));
  EXPECT_EQ(to_eigen<Eigen::MatrixXf>(product), a * b);
  // A tensor converts, too, where it initializes or is assigned.
  Eigen::MatrixXf c = product;
  EXPECT_EQ(c, a * b);
  const Eigen::MatrixXf d(product);
  EXPECT_EQ(d, a * b);
  c = transpose(product);
  EXPECT_EQ(c, (a * b).transpose());
  const Eigen::Matrix<float, 3, 2> fixed = product;
  EXPECT_EQ(fixed, a * b);
}

TEST(ToEigen, AMapSharesTheStorage) {
  Literal literal = Literal::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const auto rows = to_eigen<Eigen::Map<const RowMajorF>>(literal);
  EXPECT_EQ(static_cast<const void*>(rows.data()), static_cast<const void*>(literal.bytes()));
  EXPECT_EQ(rows(1, 0), 4.0f);
  const auto strided = to_eigen<Eigen::Map<const Eigen::MatrixXf, 0, Strided>>(literal);
  EXPECT_EQ(static_cast<const void*>(strided.data()), static_cast<const void*>(literal.bytes()));
  EXPECT_EQ(strided, rows);
  const auto strided_rows = to_eigen<Eigen::Map<const RowMajorF, 0, Strided>>(literal);
  EXPECT_EQ(strided_rows, rows);

  const Literal vector = Literal::from<double>({1, 2, 3}, {3});
  EXPECT_EQ((to_eigen<Eigen::Map<const Eigen::VectorXd>>(vector)), Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ((to_eigen<Eigen::Map<const Eigen::VectorXd, 0, Strided>>(vector)),
            Eigen::Vector3d(1, 2, 3));
  // Writes through a Map change this literal alone.
  const Literal copy = literal;
  auto written = to_eigen<Eigen::Map<RowMajorF>>(literal);
  written(0, 1) = 20;
  EXPECT_EQ(literal.data<float>()[1], 20.0f);
  EXPECT_EQ(copy.data<float>()[1], 2.0f);
}

TEST(ToEigen, NamesBothTypesIfADtypeOrSizeDiffers) {
  const Tensor x = Literal::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_REFUSED(to_eigen<Eigen::MatrixXd>(x), "to_eigen", "f32[2,3]", "f64[?,?]", "convert");
  EXPECT_REFUSED(to_eigen<Eigen::Matrix3f>(x), "f32[2,3]", "f32[3,3]", "dynamic");
  EXPECT_REFUSED((to_eigen<Eigen::Matrix<float, Eigen::Dynamic, 2>>(x)), "f32[2,3]", "f32[?,2]");
  EXPECT_REFUSED(to_eigen<Eigen::VectorXf>(x), "f32[2,3]", "f32[?]", "2 axes", "reshape");
  using AtMost2 = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, 0, 2, 2>;
  EXPECT_REFUSED(to_eigen<AtMost2>(x), "f32[2,3]", "f32[<=2,<=2]");
  const Literal literal = x.eval();
  EXPECT_REFUSED((to_eigen<Eigen::Map<const Eigen::VectorXf>>(literal)), "f32[2,3]", "f32[?]");
  // A conversion has no line.
  expect_parts(message_of([&] { static_cast<void>(Eigen::Matrix3f(x)); }),
               {"f32[2,3]", "f32[3,3]"});
}

TEST(ToEigen, InsideATraceIsAnError) {
  const auto f = jit([](Tensor x) { return Tensor(to_eigen<Eigen::VectorXf>(x)); });
  EXPECT_REFUSED(f(Eigen::VectorXf(Eigen::Vector3f(1, 2, 3))), "to_eigen inside a trace", "arg0");
  const auto g = jit([](Tensor x) {
    const Eigen::VectorXf v = x;
    return Tensor(v);
  });
  expect_parts(message_of([&] { (void)g(Eigen::VectorXf(Eigen::Vector3f(1, 2, 3))); }),
               {"a conversion to an array inside a trace", "arg0"});
}

TEST(ToEigen, RefusesALiteralThatWasMovedFrom) {
  Literal literal = Literal::from<float>({1, 2}, {2});
  const Literal taken = std::move(literal);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the test
  EXPECT_REFUSED(to_eigen<Eigen::Vector2f>(literal), "moved from");
}

static_assert(std::is_convertible_v<Eigen::MatrixXf, Tensor>);
static_assert(std::is_convertible_v<Tensor, Eigen::MatrixXf>);
// `F * x` of a matrix and a tensor would not be a product of matrices.
template <class A, class B>
concept Multiplies = requires(const A& a, const B& b) {
  a* b;
};
static_assert(!Multiplies<Eigen::MatrixXf, Tensor> && !Multiplies<Tensor, Eigen::MatrixXf>);

}  // namespace
}  // namespace rondo::testing
