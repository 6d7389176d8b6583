// Random programs with arbitrary shardings give the results of the reference executor.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/real_plugin.h"
#include "support/compare.h"
#include "support/program.h"
#include "support/program_generator.h"

namespace rondo::testing {
namespace {

class RealMeshRandom : public RealPlugin {};

/// A spec that an array of this shape can have: each axis of the mesh splits one dimension or none.
PartitionSpec random_spec(Dice& dice, const Mesh& mesh, const Shape& shape) {
  std::vector<std::vector<std::string>> axes(shape.size());
  std::vector<std::int64_t> parts(shape.size(), 1);
  for (const auto& [name, size] : mesh.axes()) {
    if (shape.size() == 0 || dice.chance(25)) continue;
    const auto dim = static_cast<std::size_t>(dice.number(0, shape.rank() - 1));
    if (shape[static_cast<std::int64_t>(dim)] % (parts[dim] * size) != 0) continue;
    parts[dim] *= size;
    axes[dim].push_back(name);
  }
  std::vector<DimPartition> dims;
  for (std::vector<std::string>& of_dim : axes)
    dims.push_back(of_dim.empty() && dice.chance(20) ? DimPartition(kUnconstrained)
                                                     : DimPartition::over(std::move(of_dim)));
  return PartitionSpec(std::move(dims));
}

const std::vector<Shape>& split_shapes() {
  static const std::vector<Shape> all = {{8}, {8}, {4}, {4, 2}, {2, 4}, {4, 6}, {2, 2, 3}};
  return all;
}

// Units are rounded at every step; exact kinds differ by 1 or not at all.
constexpr Tolerance kTolerance{.rtol = 0.0, .atol = 2e-4};

// XLA rejects a conditional whose branches have results with different shardings.
constexpr std::string_view kRefused = "Inconsistent conditional sharding";

/// False if XLA rejects the program.
bool expect_same_on_mesh(std::uint64_t seed, const Mesh& mesh) {
  SCOPED_TRACE("random program of seed " + std::to_string(seed));
  Function function;
  try {
    const Program program = Program::random(seed, {.statements = 8,
                                                   .region_statements = 3,
                                                   .depth = 2,
                                                   .shapes = split_shapes(),
                                                   .taps = false});
    Dice dice(seed);
    function = program.traced([&](const Tensor& value) {
      if (value.rank() == 0 || !dice.chance(60)) return value;
      return shard(value, mesh, random_spec(dice, mesh, value.shape()));
    });
    const std::vector<Literal> arguments = program.arguments(seed);
    const std::vector<Literal> want =
        compile(function, {.executor = Executor::kReference}).run(arguments);
    const std::vector<Literal> got =
        compile(function, {.optimize = seed % 2 == 0, .mesh = mesh}).run(arguments);
    const std::string what = difference(got, want, kTolerance);
    EXPECT_TRUE(what.empty()) << what << "\n" << function.str();
  } catch (const std::exception& error) {
    if (std::string_view(error.what()).find(kRefused) != std::string_view::npos) return false;
    ADD_FAILURE() << error.what() << "\n" << (function.empty() ? "" : function.str());
  }
  return true;
}

TEST_F(RealMeshRandom, ProgramsGiveWhatTheReferenceGives) {
  std::vector<pjrt::Device> devices = client().devices();
  devices.resize(4);
  const Mesh mesh({{"data", 2}, {"model", 2}}, devices);
  constexpr std::uint64_t kFirst = 1100, kPrograms = 40;
  std::uint64_t refused = 0;
  for (std::uint64_t seed = kFirst; seed < kFirst + kPrograms; seed++)
    refused += expect_same_on_mesh(seed, mesh) ? 0 : 1;
  EXPECT_LE(refused, kPrograms / 10);
}

}  // namespace
}  // namespace rondo::testing
