// Indices out of range along axes that are split over the devices of a mesh are clamped, as on one
// device and in the reference; and scatter drops updates that do not fit.
#include <string>
#include <vector>

#include "pjrt/real_plugin.h"
#include "support/compare.h"

namespace rondo::testing {
namespace {

const PartitionSpec kRows{"data", std::nullopt};
const PartitionSpec kColumns{std::nullopt, "data"};

class RealMeshIndices : public RealPlugin {
 protected:
  static Mesh mesh() { return Mesh({{"data", 4}, {"model", 2}}, client().devices()); }

  /// `f(x, i)` for an f32[8,4] with this sharding and integers of this type.
  template <class F>
  void expect_same_as_reference(const F& f, const PartitionSpec& spec,
                                const std::vector<Literal>& indices) {
    const Mesh devices = mesh();
    const Literal x = reshape(iota(f32({32}), 0) + 100, {8, 4}).eval();
    const auto split = [&](Tensor t, Tensor i) { return f(shard(t, devices, spec), i); };
    const Function program = trace(split, x.type(), indices.front().type());
    const Executable reference = compile(program, {.executor = Executor::kReference});
    for (const bool optimize : {true, false}) {
      const Executable on_mesh = compile(program, {.optimize = optimize, .mesh = devices});
      for (const Literal& index : indices) {
        const std::string what =
            difference(on_mesh.run({x, index}), reference.run({x, index}), kExactly);
        EXPECT_TRUE(what.empty()) << "index " << index.str() << ": " << what;
      }
    }
  }
  template <class T>
  static std::vector<Literal> scalars(std::initializer_list<T> values) {
    std::vector<Literal> all;
    for (const T value : values) all.push_back(Literal::scalar(value));
    return all;
  }
  static std::vector<Literal> places() { return scalars<std::int32_t>({-9, -1, 0, 3, 7, 8, 100}); }
};

TEST_F(RealMeshIndices, UpdateOfARow) {
  const auto f = [](Tensor x, Tensor i) { return update(x, i, -1.0); };
  expect_same_as_reference(f, kRows, places());
  expect_same_as_reference(f, kColumns, places());
}

TEST_F(RealMeshIndices, UpdateOfAnElement) {
  expect_same_as_reference(
      [](Tensor x, Tensor i) {
        return update(x, {i, i + 1}, -1.0);
      },
      kRows, places());
  expect_same_as_reference(
      [](Tensor x, Tensor i) {
        return update(x, {i, i + 1}, -1.0);
      },
      {"data", "model"}, places());
}

TEST_F(RealMeshIndices, UpdateOfAPartThatLiesOnSeveralDevices) {
  const auto f = [](Tensor x, Tensor i) {
    return dynamic_update_slice(x, -ones(f32({3, 2})), {i, i - 2});
  };
  expect_same_as_reference(f, kRows, places());
  expect_same_as_reference(f, kColumns, places());
  expect_same_as_reference(f, {"data", "model"}, places());
}

TEST_F(RealMeshIndices, IndicesOfEveryWidth) {
  const auto f = [](Tensor x, Tensor i) { return update(x, i, -1.0) + x[i]; };
  expect_same_as_reference(f, kRows, scalars<std::int8_t>({-128, 5, 127}));
  expect_same_as_reference(f, kRows, scalars<std::uint8_t>({0, 5, 255}));
  expect_same_as_reference(
      f, kRows, scalars<std::int64_t>({-(std::int64_t{1} << 40), 5, std::int64_t{1} << 40}));
  expect_same_as_reference(f, kRows, scalars<std::uint64_t>({0, 5, ~std::uint64_t{0}}));
}

TEST_F(RealMeshIndices, UpdateInALoop) {
  const Mesh devices = mesh();
  const auto f = [&](Tensor x, Tensor first) {
    return fori_loop(
        0, 5,
        [&](Tensor i, Tensor c) {
          return shard(update(c, first + 3 * i, convert(i, DType::kF32)), devices, kRows);
        },
        x);
  };
  expect_same_as_reference(f, kRows, places());
}

TEST_F(RealMeshIndices, ConstantsThatAreOutOfRange) {
  const auto f = [](Tensor x, Tensor i) {
    return dynamic_update_slice(x, -ones(f32({2, 2})), {100, -5}) + convert(i, DType::kF32);
  };
  expect_same_as_reference(f, kRows, scalars<std::int32_t>({1}));
}

TEST_F(RealMeshIndices, DynamicSlice) {
  const auto f = [](Tensor x, Tensor i) {
    return std::tuple(x[i], dynamic_slice(x, {i, i - 2}, {3, 2}));
  };
  expect_same_as_reference(f, kRows, places());
  expect_same_as_reference(f, kColumns, places());
}

TEST_F(RealMeshIndices, TakeAndGather) {
  const Literal some = constant({-100, -1, 0, 3, 7, 8, 100}).eval();
  const auto f = [](Tensor x, Tensor i) {
    const GatherDims pairs{.offset_dims = {1, 2}, .start_index_map = {1, 0}, .index_vector_dim = 1};
    return std::tuple(take(x, i, 0), take(x, i, 1), gather(x, stack({i - 1, i}, 1), pairs, {3, 2}));
  };
  expect_same_as_reference(f, kRows, {some});
  expect_same_as_reference(f, kColumns, {some});
}

TEST_F(RealMeshIndices, ScatterDropsWhatDoesNotFit) {
  const Literal some = constant({-100, -1, 0, 3, 7, 8, 100}).eval();
  const auto f = [](Tensor x, Tensor i) {
    const ScatterDims rows{.update_window_dims = {1},
                           .inserted_window_dims = {0},
                           .scatter_dims_to_operand_dims = {0},
                           .index_vector_dim = 1};
    return scatter(x, i, ones(f32({7, 4})), rows, [](Tensor a, Tensor b) { return a + b; });
  };
  expect_same_as_reference(f, kRows, {some});
  expect_same_as_reference(f, kColumns, {some});
}

TEST_F(RealMeshIndices, GradientsOfSlicesAndUpdates) {
  const auto f = [](Tensor x, Tensor i) {
    const auto loss = [&](Tensor t) { return sum(square(update(t, i - 1, 2.0)[i]) * t); };
    return grad(loss)(x);
  };
  expect_same_as_reference(f, kRows, places());
}

}  // namespace
}  // namespace rondo::testing
