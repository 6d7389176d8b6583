// Functions on whole trees: map_leaves, ravel and its inverse, .npz files.
#include "rondo/tree_tools.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "errors/message.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;

struct Plate {
  Tensor w, b;
};
struct Stack {
  std::vector<Plate> layers;
  Tensor scale;
};

Stack some_model() {
  return {{{constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), constant({5.0f, 6.0f})},
           {constant({{7.0f, 8.0f}}), 9.0f}},
          10.0f};
}

std::vector<float> elements(const Tensor& x) {
  const Literal value = x.eval();
  return {value.data<float>().begin(), value.data<float>().end()};
}

TEST(MapLeaves, IsAnOptimizersStep) {
  const auto loss = [](Stack m) {
    Tensor total = square(m.scale);
    for (const Plate& layer : m.layers) total += sum(square(layer.w)) + sum(square(layer.b));
    return total;
  };
  const Stack model = some_model();
  const auto step = [&](Stack m) {
    return map_leaves([](Tensor p, Tensor g) { return p - 0.25 * g; }, m, grad(loss)(m));
  };
  const Stack next = jit(step)(model);  // the gradient is 2 p
  EXPECT_EQ(elements(next.layers[0].w), (std::vector<float>{0.5f, 1, 1.5f, 2}));
  EXPECT_EQ(elements(next.layers[1].b), std::vector<float>{4.5f});
  EXPECT_EQ(elements(next.scale), std::vector<float>{5});
  const Stack momentum = map_leaves([](Tensor p) { return zeros(p.type()); }, model);
  const Stack both =
      map_leaves([](Tensor p, Tensor m, Tensor g) { return p + m + g; }, model, momentum, model);
  EXPECT_EQ(elements(both.layers[0].b), (std::vector<float>{10, 12}));
  const auto [a, b] = map_leaves([](Tensor x) { return x + 1; }, std::tuple(1, 2.5f));
  EXPECT_EQ(a.item<int>(), 2);
  EXPECT_EQ(b.item<float>(), 3.5f);
}

TEST(MapLeaves, RefusesTreesOfAnotherStructure) {
  const auto add = [](Tensor a, Tensor b) { return a + b; };
  Stack shorter = some_model();
  shorter.layers.pop_back();
  EXPECT_REFUSED((void)map_leaves(add, some_model(), shorter), "map_leaves",
                 "lost: tree.layers[1].w, tree.layers[1].b");
}

TEST(Ravel, ListsTheLeavesRowByRow) {
  const auto [vector, unravel] = ravel(some_model());
  EXPECT_EQ(elements(vector), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  const Stack back = unravel(vector * 2);
  ASSERT_EQ(back.layers.size(), 2u);
  EXPECT_EQ(back.layers[1].w.shape(), Shape({1, 2}));
  EXPECT_EQ(elements(back.layers[0].w), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(elements(back.scale), std::vector<float>{20});
  // A gradient through both, and both in a trace.
  const auto squares = [&unravel = unravel](Tensor v) {
    const Stack m = unravel(v);
    return sum(square(m.layers[0].b)) * m.scale;
  };
  EXPECT_EQ(elements(jit(grad(squares))(vector)),
            (std::vector<float>{0, 0, 0, 0, 100, 120, 0, 0, 0, 61}));
  EXPECT_EQ(ravel(std::tuple<>()).first.shape(), Shape({0}));
}

struct Point {
  Tensor x, y;
};
struct Polar {
  Tensor radius, angle;
};

TEST(Ravel, MakesAMatrixOfTheJacobianOfAStructByAStruct) {
  const auto polar = [](Point p) { return Polar{hypot(p.x, p.y), atan2(p.y, p.x)}; };
  const auto [at, unravel] = ravel(Point{3.0f, 4.0f});
  const auto of_vectors = [&, &unravel = unravel](Tensor v) {
    return ravel(polar(unravel(v))).first;
  };
  for (const Literal& jacobian :
       {jit(jacfwd(of_vectors))(at).eval(), jit(jacrev(of_vectors))(at).eval()}) {
    ASSERT_EQ(jacobian.type(), f32({2, 2}));
    const std::vector<float> want{0.6f, 0.8f, -4 / 25.0f, 3 / 25.0f};
    for (std::size_t i = 0; i < want.size(); i++)
      EXPECT_NEAR(jacobian.data<float>()[i], want[i], 1e-6);
  }
}

TEST(Ravel, RefusesDtypesThatDifferAndOtherLengths) {
  EXPECT_REFUSED((void)ravel(std::tuple(1.0f, 2)), "tree[0] is f32[], tree[1] is s32[]",
                 "rondo::convert(x, DType::kF32)");
  const auto [vector, inverse] = ravel(some_model());
  const auto& unravel = inverse;  // a structured binding cannot be captured
  EXPECT_REFUSED((void)unravel(constant({1.0f, 2.0f})), "a vector of 10 elements", "f32[2]");
}

/// A file that is deleted with its test.
class NpzFile {
 public:
  explicit NpzFile(const std::string& name)
      : path_((std::filesystem::temp_directory_path() /
               ("rondo_" + std::to_string(::getpid()) + name + ".npz"))
                  .string()) {}
  ~NpzFile() { std::remove(path_.c_str()); }
  NpzFile(const NpzFile&) = delete;
  NpzFile& operator=(const NpzFile&) = delete;
  const std::string& path() const { return path_; }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

TEST(Npz, BringsBackWhatWasSaved) {
  const NpzFile file("model");
  save_npz(file.path(), some_model());
  Stack prototype = map_leaves([](Tensor x) { return zeros(x.type()); }, some_model());
  const Stack back = load_npz(file.path(), prototype);
  EXPECT_EQ(elements(back.layers[0].w), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(elements(back.scale), std::vector<float>{10});
  const std::map<std::string, Literal> named{{"a", Literal::scalar<std::int64_t>(-5)},
                                             {"b", Literal::from<bool>({true, false}, {2})}};
  save_npz(file.path(), named);
  const auto again = load_npz(file.path(), named);
  EXPECT_TRUE(again.at("b").identical(named.at("b")));
  EXPECT_EQ(
      (load_npz(file.path(), std::map<std::string, TensorType>{{"a", s64()}, {"b", pred({2})}})
           .at("a")
           .item<std::int64_t>()),
      -5);
  save_npz(file.path(), std::tuple(2.5, 3));
  EXPECT_EQ(load_npz(file.path(), std::tuple(0.0, 0)), std::tuple(2.5, 3));
}

TEST(Npz, NamesArraysAfterTheirFields) {
  const NpzFile file("names");
  save_npz(file.path(), some_model());
  const std::string bytes = file.bytes();
  EXPECT_EQ(bytes.substr(0, 4), "PK\3\4");
  for (const char* name : {"layers[0].w.npy", "layers[1].b.npy", "scale.npy"})
    EXPECT_NE(bytes.find(name), std::string::npos) << name;
  save_npz(file.path(), Tensor(1.0f));
  EXPECT_NE(file.bytes().find("arr_0.npy"), std::string::npos);
}

TEST(Npz, RefusesOtherNamesTypesAndFiles) {
  const NpzFile file("others");
  save_npz(file.path(), Plate{constant({1.0f, 2.0f}), 3.0f});
  const auto parts = [&](const auto& prototype) {
    return message_of<ParseError>([&] { (void)load_npz(file.path(), prototype); });
  };
  expect_parts(parts(Stack{{}, 1.0f}), {"missing: scale", "unknown: w, b"});
  expect_parts(parts(Plate{constant({1.0f, 2.0f, 3.0f}), 3.0f}),
               {"w.npy", "is f32[2]", "leaf is f32[3]"});
  expect_parts(parts(Plate{constant({1.0f, 2.0f}), 3}), {"b.npy", "f32[]", "s32[]"});
  const std::string whole = file.bytes();
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{10}, whole.size() / 2, whole.size() - 1}) {
    std::ofstream(file.path(), std::ios::binary) << whole.substr(0, size);
    EXPECT_THROW((void)load_npz(file.path(), Plate{constant({1.0f, 2.0f}), 3.0f}), ParseError)
        << size;
  }
  EXPECT_THROW((void)load_npz("/nowhere/at/all.npz", Tensor(1)), ParseError);
  EXPECT_THROW(save_npz("/nowhere/at/all.npz", Tensor(1)), ExecutionError);
}

}  // namespace
}  // namespace rondo
