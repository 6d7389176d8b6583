// Paddings of axes that are split over the devices of a mesh. XLA's partitioner gives wrong
// elements for some negative paddings, and ends the process for some interior ones.
#include <cstdint>
#include <string>
#include <vector>

#include "pjrt/real_plugin.h"
#include "support/compare.h"

namespace rondo::testing {
namespace {

class RealMeshPad : public RealPlugin {
 protected:
  static Mesh mesh() { return Mesh({{"data", 4}, {"model", 2}}, client().devices()); }
  static void expect_same_as_reference(const Function& f, const std::string& what) {
    std::vector<Literal> arguments;
    for (const TensorType& type : f.params())
      arguments.push_back(random::uniform(random::key(1), type, -1, 1).eval());
    const std::vector<Literal> want = compile(f, {.executor = Executor::kReference}).run(arguments);
    const std::string differs =
        difference(compile(f, {.mesh = mesh()}).run(arguments), want, {.rtol = 1e-6});
    EXPECT_TRUE(differs.empty()) << what << ": " << differs;
  }
};

std::string text(std::int64_t low, std::int64_t high, std::int64_t interior) {
  return std::to_string(low) + ", " + std::to_string(high) + ", " + std::to_string(interior);
}

TEST_F(RealMeshPad, OfEveryKindAlongASplitAxis) {
  const Mesh devices = mesh();
  for (const std::int64_t interior : {0, 1, 2}) {
    for (const std::int64_t low : {-5, -1, 0, 2}) {
      for (const std::int64_t high : {-1, 0, 1, 6}) {
        const std::int64_t size = 4 + 3 * interior + low + high;
        if (size <= 0) continue;
        const auto padded = [&](const Tensor& x) { return pad(x, 5.0, {low}, {high}, {interior}); };
        const auto before = [&](Tensor x) { return padded(shard(x, devices, {"data"})); };
        const auto after = [&](Tensor x) { return shard(padded(x), devices, {"data"}); };
        expect_same_as_reference(trace(before, f32({4})), text(low, high, interior));
        if (size % 4 == 0)
          expect_same_as_reference(trace(after, f32({4})), text(low, high, interior));
      }
    }
  }
}

TEST_F(RealMeshPad, OfSeveralAxesAtOnce) {
  const Mesh devices = mesh();
  const auto f = [&](Tensor x) {
    x = shard(x, devices, {"data", "model", std::nullopt});
    return std::tuple(pad(x, 1.0, {-2, 1, 0}, {3, -1, 2}, {1, 2, 0}),
                      pad(x, 1.0, {-9, 0, 0}, {10, 0, 0}), pad(x, 1.0, {0, 0, 1}, {0, 1, -1}));
  };
  expect_same_as_reference(trace(f, f32({8, 2, 3})), "three axes");
}

TEST_F(RealMeshPad, GradientsOfSlicesWithStrides) {
  const Mesh devices = mesh();
  const auto loss = [&](Tensor x) {
    x = shard(x, devices, {"data"});
    return sum(square(slice(x, {1}, {16}, {2})) * slice(x, {0}, {15}, {2}));
  };
  expect_same_as_reference(trace([&](Tensor x) { return grad(loss)(x); }, f32({16})), "strides");
}

}  // namespace
}  // namespace rondo::testing
