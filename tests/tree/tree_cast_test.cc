#include <array>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/node.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace {

using rondo::DType;
using rondo::Literal;
using rondo::Tensor;
using rondo::tree_cast;
using rondo::TreeConvertible;

struct Tank {
  Tensor level, flow;
};
struct Numbers {
  double level, flow;
};

TEST(TreeCast, ConvertsWhatConvertsByItselfOrLeafByLeaf) {
  static_assert(TreeConvertible<int, Tensor> && TreeConvertible<const Literal&, Tensor>);
  static_assert(TreeConvertible<Tank, Tank> && TreeConvertible<const Tank&, Tank>);
  static_assert(TreeConvertible<std::tuple<int, Tensor>, std::tuple<Tensor, Tensor>>);
  static_assert(TreeConvertible<std::vector<double>, std::vector<Tensor>>);
  static_assert(TreeConvertible<std::pair<Tank, float>, std::pair<Tank, Tensor>>);
  static_assert(TreeConvertible<std::map<std::string, std::array<int, 2>>,
                                std::map<std::string, std::array<Tensor, 2>>>);
  static_assert(TreeConvertible<std::pair<Tensor, Tensor>, std::tuple<Tensor, Tensor>>);
  static_assert(TreeConvertible<std::tuple<>, std::tuple<>>);
}

TEST(TreeCast, RefusesOtherStructures) {
  static_assert(!TreeConvertible<std::string, Tensor> && !TreeConvertible<int*, Tensor>);
  static_assert(!TreeConvertible<std::tuple<Tensor>, std::tuple<Tensor, Tensor>>);
  static_assert(!TreeConvertible<std::tuple<Tensor, Tensor>, Tank>);
  static_assert(!TreeConvertible<Numbers, Tank> && !TreeConvertible<Tank, Tensor>);
  static_assert(!TreeConvertible<std::vector<int>, std::array<Tensor, 2>>);
  static_assert(!TreeConvertible<rondo::TensorType, Tensor>);
  static_assert(!TreeConvertible<std::vector<rondo::TensorType>, std::vector<Tensor>>);
  static_assert(!TreeConvertible<void, Tensor>);
}

TEST(TreeCast, MakesTensorsOfScalars) {
  const auto cast = tree_cast<std::tuple<std::vector<Tensor>, std::map<std::string, Tensor>, Tank>>(
      std::tuple(std::vector<double>{1, 2}, std::map<std::string, int>{{"a", 1}, {"b", 2}},
                 Tank{true, 1.5f}));
  const auto& [numbers, named, tank] = cast;
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[1].dtype(), DType::kF64);
  EXPECT_TRUE(numbers[1].is_scalar_literal());
  EXPECT_EQ(named.at("b").dtype(), DType::kS32);
  EXPECT_EQ(tank.level.dtype(), DType::kPred);
  EXPECT_EQ(tank.flow.dtype(), DType::kF32);
  EXPECT_EQ(tank.flow.rank(), 0);
}

TEST(TreeCast, PlacesTheNewTensorsWhereTheCallerSays) {
  const std::vector<double> numbers{1, 2};
  const auto cast =
      tree_cast<std::vector<Tensor>>(numbers, rondo::SourceLocation{"tanks.cc", "run", 71});
  EXPECT_EQ(cast[1].node()->line, 71u);
  const unsigned line = __LINE__ + 1;
  const auto here = tree_cast<std::vector<Tensor>>(numbers);
  EXPECT_EQ(here[1].node()->line, line);
}

TEST(TreeCast, KeepsTensors) {
  const Tensor x = 3;
  const auto cast =
      tree_cast<std::pair<Tensor, std::vector<Tensor>>>(std::pair(x, std::vector<Tensor>{x}));
  EXPECT_TRUE(cast.first.same_as(x));
  EXPECT_TRUE(cast.second[0].same_as(x));
  const auto mixed = tree_cast<std::tuple<Tensor, Tensor>>(std::tuple(x, 2.5));
  EXPECT_TRUE(std::get<0>(mixed).same_as(x));
  EXPECT_EQ(std::get<1>(mixed).dtype(), DType::kF64);
}

}  // namespace
