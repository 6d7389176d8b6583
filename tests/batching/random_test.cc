// Random programs, batched, against the loop over lanes.
#include <gtest/gtest.h>

#include "batching/lanes.h"
#include "support/program.h"

namespace rondo::testing {
namespace {

/// Stacked along a new axis 0, byte by byte.
Literal stacked(const std::vector<Literal>& parts) {
  std::vector<std::int64_t> dims = parts[0].shape().vector();
  dims.insert(dims.begin(), static_cast<std::int64_t>(parts.size()));
  Literal all = Literal::zeros({parts[0].dtype(), Shape(dims)});
  const std::int64_t bytes = parts[0].type().bytes();
  for (std::size_t i = 0; i < parts.size() && bytes > 0; i++)
    std::memcpy(all.mutable_bytes() + static_cast<std::int64_t>(i) * bytes, parts[i].bytes(),
                static_cast<std::size_t>(bytes));
  return all;
}

class RandomBatches : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomBatches, AgreeWithTheLoopOverLanes) {
  constexpr std::uint64_t kSeeds = 10;
  constexpr std::size_t kLanes = 3;
  for (std::uint64_t seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds; seed++) {
    SCOPED_TRACE("random program of seed " + std::to_string(seed));
    const Program program = Program::random(seed);
    std::vector<std::vector<Literal>> of_lanes;
    for (std::size_t lane = 0; lane < kLanes; lane++)
      of_lanes.push_back(program.arguments(seed + 1000 * lane));
    std::vector<Literal> arguments;
    LaneAxes axes;
    for (std::size_t i = 0; i < of_lanes[0].size(); i++) {
      if ((seed + i) % 3 == 2) {  // one in three is the same for all lanes
        arguments.push_back(of_lanes[0][i]);
        axes.push_back(std::nullopt);
        continue;
      }
      std::vector<Literal> parts;
      for (const auto& lane : of_lanes) parts.push_back(lane[i]);
      arguments.push_back(stacked(parts));
      axes.push_back(0);
    }
    if (std::find(axes.begin(), axes.end(), 0) == axes.end()) continue;
    try {
      const Tolerance tolerance{.rtol = 0.0, .atol = 2e-4};
      expect_like_loop([&](std::span<const Tensor> x) { return program(x); }, arguments, axes,
                       tolerance);
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << program.traced().str();
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBatches, ::testing::Range<std::uint64_t>(0, 10));

}  // namespace
}  // namespace rondo::testing
