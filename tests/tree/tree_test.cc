#include "rondo/tree.h"

#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "sixty_four.h"

// A class with private fields, which lists them itself.
namespace account {

class Balance {
 public:
  Balance() = default;
  Balance(double open, std::vector<double> entries) : open_(open), entries_(std::move(entries)) {}
  double open() const { return open_; }
  const std::vector<double>& entries() const { return entries_; }
  friend auto tree_fields(Balance& balance) { return std::tie(balance.open_, balance.entries_); }

 private:
  double open_ = 0;
  std::vector<double> entries_;
};

struct Base {
  rondo::Tensor x;
};
struct Derived : Base {
  rondo::Tensor y;
};
auto tree_fields(Derived& d) { return std::tie(d.x, d.y); }
auto tree_fields(const Derived& d) { return std::tie(d.x, d.y); }

// An aggregate that excludes a field from the tree.
struct Labelled {
  double value;
  std::string label;
};
auto tree_fields(Labelled& l) { return std::tie(l.value); }

}  // namespace account

namespace {

using rondo::for_each_leaf;
using rondo::leaf_count;
using rondo::leaf_paths;
using rondo::Literal;
using rondo::rebuild_tree;
using rondo::replace_leaves_t;
using rondo::Tensor;
using rondo::TensorTree;
using rondo::TensorType;
using rondo::traced_t;
using rondo::transform_leaves;
using rondo::TreeLeaf;

using Paths = std::vector<std::string>;

struct House {
  Tensor step, slab, tank;
};
struct Street {
  std::array<House, 2> houses;
  std::map<std::string, Tensor> meters;
  std::vector<std::pair<Tensor, Tensor>> pipes;
  std::tuple<> nothing;
};
struct Point {
  double x, y;
};
struct Everything {
  double scalar;
  Point point;
  std::tuple<double, std::pair<double, double>> tuple;
  std::array<Point, 2> array;
  std::vector<std::vector<double>> vector;
  std::map<std::string, std::vector<double>> map;
  std::tuple<> none;
};
struct Node {
  double value;
  std::vector<Node> children;
};
struct Empty {};
struct WithString {
  Tensor value;
  std::string name;
};
struct HasCArray {
  Tensor values[3];
};
struct WithReference {
  Tensor& value;
};

// Numbers the leaves 1, 2, ... in the order in which they are visited.
template <class T>
void number_leaves(T& tree) {
  double next = 0;
  for_each_leaf(tree, [&next](double& leaf) { leaf = ++next; });
}

template <class T>
std::vector<double> leaves(const T& tree) {
  std::vector<double> result;
  for_each_leaf(tree, [&result](const double& leaf) { result.push_back(leaf); });
  return result;
}

Everything everything() {
  Everything all{};
  all.vector = {{0}, {}, {0, 0}};
  all.map = {{"wet", {0}}, {"dry", {0, 0}}};
  number_leaves(all);
  return all;
}

TEST(Tree, LeavesAreTensorsLiteralsTypesAndScalars) {
  static_assert(TreeLeaf<Tensor> && TreeLeaf<Literal> && TreeLeaf<TensorType>);
  static_assert(TreeLeaf<bool> && TreeLeaf<std::int8_t> && TreeLeaf<std::size_t>);
  static_assert(TreeLeaf<float> && TreeLeaf<double> && TreeLeaf<const int&>);
  static_assert(TreeLeaf<std::complex<float>> && TreeLeaf<std::complex<double>>);
  static_assert(TreeLeaf<rondo::float16> && TreeLeaf<rondo::bfloat16>);
  static_assert(!TreeLeaf<std::tuple<Tensor>> && !TreeLeaf<House> && !TreeLeaf<std::string>);
  static_assert(TensorTree<Tensor> && TensorTree<const double&>);
}

TEST(Tree, ContainersAndAggregatesOfTreesAreTrees) {
  static_assert(TensorTree<std::tuple<>> && TensorTree<std::tuple<Tensor, int>>);
  static_assert(TensorTree<std::pair<Tensor, std::tuple<Tensor>>>);
  static_assert(TensorTree<std::array<Tensor, 3>> && TensorTree<std::array<Tensor, 0>>);
  static_assert(TensorTree<std::vector<House>> && TensorTree<std::vector<bool>>);
  static_assert(TensorTree<std::map<std::string, std::vector<Tensor>>>);
  static_assert(TensorTree<std::map<std::string, Tensor, std::less<>>>);
  static_assert(TensorTree<House> && TensorTree<const Street&> && TensorTree<Everything>);
  static_assert(TensorTree<Empty> && TensorTree<Node>);
  static_assert(TensorTree<SixtyFour<Tensor>> && TensorTree<SixtyFour<House>>);
  static_assert(TensorTree<std::tuple<Tensor&, const House&>>);
  static_assert(TensorTree<account::Balance> && TensorTree<account::Derived>);
}

TEST(Tree, OtherTypesAreNot) {
  static_assert(!TensorTree<std::string> && !TensorTree<int*> && !TensorTree<const char*>);
  static_assert(!TensorTree<std::map<int, Tensor>> && !TensorTree<std::vector<std::string>>);
  static_assert(!TensorTree<WithString> && !TensorTree<std::tuple<Tensor, WithString>>);
  static_assert(!TensorTree<HasCArray> && !TensorTree<WithReference>);
  static_assert(!TensorTree<void> && !TensorTree<Tensor[2]>);
  static_assert(!TensorTree<account::Base*>);
}

TEST(Tree, VisitsLeavesInOrder) {
  const Everything all = everything();
  EXPECT_EQ(all.scalar, 1);
  EXPECT_EQ(all.point.x, 2);
  EXPECT_EQ(all.point.y, 3);
  EXPECT_EQ(std::get<0>(all.tuple), 4);
  EXPECT_EQ(std::get<1>(all.tuple), std::pair(5.0, 6.0));
  EXPECT_EQ(all.array[0].x, 7);
  EXPECT_EQ(all.array[1].y, 10);
  EXPECT_EQ(all.vector, (std::vector<std::vector<double>>{{11}, {}, {12, 13}}));
  EXPECT_EQ(all.map.at("dry"), (std::vector<double>{14, 15}));  // keys in ascending order
  EXPECT_EQ(all.map.at("wet"), (std::vector<double>{16}));
  EXPECT_EQ(leaf_count(all), 16u);
  EXPECT_EQ(leaves(all),
            (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
}

TEST(Tree, LeavesOfConstTreesAreConst) {
  const std::tuple<double, std::vector<bool>, Point> tree{1, {true}, {2, 3}};
  for_each_leaf(tree, [](auto& leaf) {
    static_assert(std::is_const_v<std::remove_reference_t<decltype(leaf)>>);
  });
  EXPECT_EQ(leaf_count(tree), 4u);
}

TEST(Tree, HandlesTheProxiesOfVectorBool) {
  std::vector<bool> flags{true, false, false};
  for_each_leaf(flags, [](bool& flag) { flag = !flag; });
  EXPECT_EQ(flags, (std::vector<bool>{false, true, true}));
  EXPECT_EQ(leaf_paths(flags, "f"), (Paths{"f[0]", "f[1]", "f[2]"}));
  const auto numbers = transform_leaves<int>(flags, [](bool flag) { return flag ? 5 : 6; });
  EXPECT_EQ(numbers, (std::vector<int>{6, 5, 5}));
  const auto back = transform_leaves<bool>(numbers, [](int n) { return n == 6; });
  EXPECT_EQ(back, (std::vector<bool>{true, false, false}));
}

TEST(Tree, NamesPaths) {
  EXPECT_EQ(leaf_paths(Tensor(), "x"), Paths{"x"});
  EXPECT_EQ(leaf_paths(House{}, "carry"), (Paths{"carry.step", "carry.slab", "carry.tank"}));
  EXPECT_EQ(leaf_paths(everything(), "s"),
            (Paths{"s.scalar", "s.point.x", "s.point.y", "s.tuple[0]", "s.tuple[1][0]",
                   "s.tuple[1][1]", "s.array[0].x", "s.array[0].y", "s.array[1].x", "s.array[1].y",
                   "s.vector[0][0]", "s.vector[2][0]", "s.vector[2][1]", "s.map[\"dry\"][0]",
                   "s.map[\"dry\"][1]", "s.map[\"wet\"][0]"}));
  Street street;
  street.meters = {{"gas", {}}, {"a \"b\" \\", {}}};
  street.pipes.resize(2);
  EXPECT_EQ(
      leaf_paths(street, ""),
      (Paths{".houses[0].step", ".houses[0].slab", ".houses[0].tank", ".houses[1].step",
             ".houses[1].slab", ".houses[1].tank", R"(.meters["a \"b\" \\"])", ".meters[\"gas\"]",
             ".pipes[0][0]", ".pipes[0][1]", ".pipes[1][0]", ".pipes[1][1]"}));
  EXPECT_EQ(leaf_paths(std::tuple<>(), "x"), Paths{});
  EXPECT_EQ(leaf_paths(Empty(), "x"), Paths{});
}

TEST(Tree, NamesPathsOfLocalAndLambdaLocalStructs) {
  struct Local {
    Point position, velocity;
    double mass;
  };
  EXPECT_EQ(leaf_paths(Local{}, "body"),
            (Paths{"body.position.x", "body.position.y", "body.velocity.x", "body.velocity.y",
                   "body.mass"}));
  const auto nested = [] {
    struct Inner {
      std::vector<Local> bodies;
    };
    return leaf_paths(Inner{{Local{}}}, "i").back();
  };
  EXPECT_EQ(nested(), "i.bodies[0].mass");
}

TEST(Tree, ReachesSixtyFourFields) {
  SixtyFour<double> wide;
  number_leaves(wide);
  EXPECT_EQ(wide.a0, 1);
  EXPECT_EQ(wide.e3, 36);
  EXPECT_EQ(wide.h7, 64);
  const Paths paths = leaf_paths(wide, "w");
  ASSERT_EQ(paths.size(), 64u);
  EXPECT_EQ(paths[0], "w.a0");
  EXPECT_EQ(paths[35], "w.e3");
  EXPECT_EQ(paths[63], "w.h7");
  double next = 100;
  const auto rebuilt = rebuild_tree<double>(wide, [&next] { return next++; });
  EXPECT_EQ(rebuilt.a0, 100);
  EXPECT_EQ(rebuilt.h7, 163);
  EXPECT_EQ(leaf_count(SixtyFour<SixtyFour<float>>()), 4096u);
}

TEST(Tree, ReplacesLeaves) {
  static_assert(std::is_same_v<replace_leaves_t<int, Tensor>, Tensor>);
  static_assert(std::is_same_v<replace_leaves_t<std::tuple<int, Tensor>, Literal>,
                               std::tuple<Literal, Literal>>);
  static_assert(std::is_same_v<replace_leaves_t<std::tuple<>, Tensor>, std::tuple<>>);
  static_assert(std::is_same_v<traced_t<const std::vector<double>&>, std::vector<Tensor>>);
  static_assert(std::is_same_v<traced_t<std::pair<float, std::array<TensorType, 2>>>,
                               std::pair<Tensor, std::array<Tensor, 2>>>);
  static_assert(std::is_same_v<traced_t<std::map<std::string, Literal, std::less<>>>,
                               std::map<std::string, Tensor, std::less<>>>);
  static_assert(
      std::is_same_v<traced_t<std::tuple<Tensor&, const int&>>, std::tuple<Tensor, Tensor>>);
  static_assert(
      std::is_same_v<traced_t<std::tuple<std::tuple<int>>>, std::tuple<std::tuple<Tensor>>>);
  static_assert(std::is_same_v<traced_t<House>, House>);
  static_assert(std::is_same_v<traced_t<const Street&>, Street>);
  static_assert(std::is_same_v<traced_t<std::pair<House, int>>, std::pair<House, Tensor>>);
  static_assert(std::is_same_v<traced_t<account::Derived>, account::Derived>);
  static_assert(std::is_same_v<replace_leaves_t<Node, double>, Node>);
  static_assert(std::is_same_v<traced_t<Empty>, Empty>);
}

TEST(Tree, RebuildsInTheOrderOfTheLeaves) {
  const Everything all = everything();
  double next = 0;
  const Everything rebuilt = rebuild_tree<double>(all, [&next] { return 10 * ++next; });
  std::vector<double> expected = leaves(all);
  for (double& leaf : expected) leaf *= 10;
  EXPECT_EQ(leaves(rebuilt), expected);
  EXPECT_EQ(leaf_paths(rebuilt, "r"), leaf_paths(all, "r"));
  EXPECT_EQ(rebuilt.map.at("wet"), (std::vector<double>{160}));
  EXPECT_EQ(rebuilt.point.y, 30);
}

TEST(Tree, RebuildsWithLeavesOfAnotherType) {
  const std::tuple<std::vector<double>, std::map<std::string, bool>, std::tuple<>,
                   std::pair<float, std::array<int, 2>>, std::tuple<std::tuple<char>>>
      tree{{0, 0}, {{"b", true}, {"a", false}}, {}, {0, {}}, {}};
  int next = 0;
  const auto rebuilt = rebuild_tree<std::int64_t>(tree, [&next] { return ++next; });
  using L = std::int64_t;
  static_assert(
      std::is_same_v<std::remove_const_t<decltype(rebuilt)>,
                     std::tuple<std::vector<L>, std::map<std::string, L>, std::tuple<>,
                                std::pair<L, std::array<L, 2>>, std::tuple<std::tuple<L>>>>);
  EXPECT_EQ(rebuilt,
            (std::remove_const_t<decltype(rebuilt)>{
                {1, 2}, {{"a", 3}, {"b", 4}}, {}, {5, {6, 7}}, std::tuple<std::tuple<L>>{{8}}}));
}

TEST(Tree, TransformsEachLeaf) {
  const auto halves = transform_leaves<double>(std::pair(3, std::vector<int>{5, 7}),
                                               [](int leaf) { return leaf / 2.0; });
  EXPECT_EQ(halves, std::pair(1.5, (std::vector<double>{2.5, 3.5})));
}

TEST(Tree, WalksRecursiveStructs) {
  Node tree{1, {{2, {{3, {}}}}, {4, {}}}};
  EXPECT_EQ(leaf_paths(tree, "t"),
            (Paths{"t.value", "t.children[0].value", "t.children[0].children[0].value",
                   "t.children[1].value"}));
  const Node doubled = transform_leaves<double>(tree, [](double leaf) { return 2 * leaf; });
  EXPECT_EQ(leaves(doubled), (std::vector<double>{2, 4, 6, 8}));
}

TEST(Tree, TakesTheFieldsThatAStructListsItself) {
  const account::Balance balance(1, {2, 3});
  EXPECT_EQ(leaves(balance), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(leaf_paths(balance, "b"), (Paths{"b[0]", "b[1][0]", "b[1][1]"}));
  const account::Balance tenfold =
      transform_leaves<double>(balance, [](double leaf) { return 10 * leaf; });
  EXPECT_EQ(tenfold.open(), 10);
  EXPECT_EQ(tenfold.entries(), (std::vector<double>{20, 30}));
  account::Balance changed = balance;
  number_leaves(changed);
  EXPECT_EQ(leaves(std::pair(balance, changed)), (std::vector<double>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(leaf_paths(account::Derived(), "d"), (Paths{"d[0]", "d[1]"}));
}

TEST(Tree, PrefersTheListedFieldsToReflection) {
  static_assert(TensorTree<account::Labelled>);
  account::Labelled labelled{1, "inlet"};
  number_leaves(labelled);
  EXPECT_EQ(leaf_paths(labelled, "l"), Paths{"l[0]"});
  const auto rebuilt = rebuild_tree<double>(labelled, [] { return 7.0; });
  EXPECT_EQ(rebuilt.value, 7);
  EXPECT_EQ(rebuilt.label, "inlet");
}

TEST(Tree, WalksReferencesInATuple) {
  double a = 0;
  Point point{};
  auto tied = std::tie(a, point);
  number_leaves(tied);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(point.y, 3);
}

}  // namespace
