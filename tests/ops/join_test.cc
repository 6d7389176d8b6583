// Code without `using namespace rondo`: ops found by argument-dependent lookup, and dtypes taken
// from a tensor.
#include "ops/vectors.h"

namespace program {
namespace {

using rondo::DType;
using rondo::Tensor;
using rondo::testing::expect_error;
using rondo::testing::expect_values;

TEST(Join, TakesPartsOneByOne) {
  const Tensor a = rondo::constant({{1, 2}, {3, 4}}), b = rondo::constant({{5, 6}});
  const Tensor u = rondo::constant({1.0f, 2.0f}), v = rondo::constant({3.0f, 4.0f});
  expect_values<std::int32_t>(concatenate(0, a, b), {3, 2}, {1, 2, 3, 4, 5, 6});
  expect_values<std::int32_t>(concatenate(-1, a, a), {2, 4}, {1, 2, 1, 2, 3, 4, 3, 4});
  expect_values<std::int32_t>(concatenate(std::size_t{0}, a), {2, 2}, {1, 2, 3, 4});
  expect_values<float>(stack(0, u, v), {2, 2}, {1, 2, 3, 4});
  expect_values<float>(stack(1, u, v, u), {2, 3}, {1, 3, 1, 2, 4, 2});
  // C++ scalars take the dtype of the tensors, in any position.
  expect_values<float>(stack(0, 1, u[1], 0.5), {3}, {1, 2, 0.5f});
  expect_values<float>(concatenate(0, u, rondo::Literal::from<float>(std::vector<float>{7})), {3},
                       {1, 2, 7});
  const std::vector<Tensor> parts{u, v};
  expect_values<float>(concatenate(parts, 0), {4}, {1, 2, 3, 4});
  expect_values<float>(rondo::concatenate({u, v}, 0), {4}, {1, 2, 3, 4});
  expect_values<float>(rondo::stack({u, v}, 1), {2, 2}, {1, 3, 2, 4});
  const std::string here = rondo::SourceLocation::current().str();
  expect_error([&] { concatenate(2, a, b); }, {"concatenate: axis 2", "join_test.cc:"});
  expect_error([&] { stack(0, a, u); }, {"stack: part 1 is f32[2], part 0 is s32[2,2]"});
  expect_error([&] { stack(0, a[0][0], 1.5f); }, {"1.5", "s32", "join_test.cc:"});
}

TEST(Like, TakesTheDtypeOfATensor) {
  const Tensor x = rondo::zeros(rondo::f64({2})), half = rondo::zeros(rondo::f16());
  expect_values<double>(rondo::eye(2, x), {2, 2}, {1, 0, 0, 1});
  expect_values<double>(rondo::arange(3, x), {3}, {0, 1, 2});
  expect_values<double>(rondo::linspace(0, 1, 3, x), {3}, {0, 0.5, 1});
  expect_values<double>(one_hot(rondo::constant({1, 0}), 2, x), {2, 2}, {0, 1, 1, 0});
  EXPECT_EQ(rondo::eye(3, half).dtype(), DType::kF16);
  EXPECT_EQ(rondo::arange(3, half).dtype(), DType::kF16);
  EXPECT_EQ(rondo::linspace(0, 1, 3, half).dtype(), DType::kF16);
  EXPECT_EQ(rondo::one_hot(rondo::constant({1, 0}), 2, half).dtype(), DType::kF16);
  // In a trace too, where the tensor represents an unknown value.
  const rondo::Function f =
      rondo::trace([](Tensor t) { return t * rondo::eye(2, t); }, rondo::bf16({2}));
  EXPECT_EQ(f.results()[0], rondo::bf16({2, 2}));
  expect_error([&] { rondo::linspace(0, 1, 3, rondo::arange(2)); },
               {"linspace", "s32", "floating"});
  expect_error([] { rondo::eye(2, Tensor()); }, {"empty"});
}

}  // namespace
}  // namespace program
