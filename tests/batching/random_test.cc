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

struct Batch {
  std::vector<Literal> arguments;
  LaneAxes axes;
};

/// Arguments of a program for several lanes; one in three is the same for all of them.
Batch random_batch(const Program& program, std::uint64_t seed) {
  constexpr std::size_t kLanes = 3;
  std::vector<std::vector<Literal>> of_lanes;
  for (std::size_t lane = 0; lane < kLanes; lane++)
    of_lanes.push_back(program.arguments(seed + 1000 * lane));
  Batch batch;
  for (std::size_t i = 0; i < of_lanes[0].size(); i++) {
    if ((seed + i) % 3 == 2) {
      batch.arguments.push_back(of_lanes[0][i]);
      batch.axes.push_back(std::nullopt);
      continue;
    }
    std::vector<Literal> parts;
    for (const auto& lane : of_lanes) parts.push_back(lane[i]);
    batch.arguments.push_back(stacked(parts));
    batch.axes.push_back(0);
  }
  return batch;
}

/// The results of rondo::map over the lanes.
std::vector<Literal> mapped(const LaneFunction& f, const Batch& batch) {
  std::vector<Tensor> lanes;
  for (std::size_t i = 0; i < batch.axes.size(); i++) {
    if (batch.axes[i]) lanes.emplace_back(batch.arguments[i]);
  }
  const auto one = [&](std::vector<Tensor> rows) {
    std::vector<Tensor> given;
    std::size_t next = 0;
    for (std::size_t i = 0; i < batch.axes.size(); i++)
      given.push_back(batch.axes[i] ? rows[next++] : Tensor(batch.arguments[i]));
    return f(given);
  };
  std::vector<Literal> results;
  for (const Tensor& result : map(one, lanes)) results.push_back(result.eval());
  return results;
}

class RandomBatches : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomBatches, AgreeWithTheLoopOverLanes) {
  constexpr std::uint64_t kSeeds = 10;
  for (std::uint64_t seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds; seed++) {
    SCOPED_TRACE("random program of seed " + std::to_string(seed));
    const Program program = Program::random(seed);
    const Batch batch = random_batch(program, seed);
    if (std::find(batch.axes.begin(), batch.axes.end(), 0) == batch.axes.end()) continue;
    try {
      const Tolerance tolerance{.rtol = 0.0, .atol = 2e-4};
      const LaneFunction f = [&](std::span<const Tensor> x) { return program(x); };
      expect_like_loop(f, batch.arguments, batch.axes, tolerance);
      const std::vector<Literal> got = batched(f, batch.arguments, batch.axes);
      EXPECT_EQ(difference(got, mapped(f, batch), tolerance), "");
      if (seed % 4 != 0) continue;
      const EagerScope eager;
      EXPECT_EQ(difference(batched(f, batch.arguments, batch.axes), got, tolerance), "")
          << "under an EagerScope";
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << program.traced().str();
    }
    if (HasFailure()) return;
  }
}

TEST_P(RandomBatches, HaveTheGradientsOfTheLoopOverLanes) {
  constexpr std::uint64_t kSeeds = 5;
  for (std::uint64_t seed = GetParam() * kSeeds; seed < (GetParam() + 1) * kSeeds; seed++) {
    SCOPED_TRACE("random program of seed " + std::to_string(seed));
    const Program program =
        Program::random(seed + 5000, {.statements = 6, .region_statements = 3, .depth = 2});
    const Batch batch = random_batch(program, seed + 5000);
    if (std::find(batch.axes.begin(), batch.axes.end(), 0) == batch.axes.end()) continue;
    try {
      expect_like_loop([&](std::span<const Tensor> x) { return program.gradient(x); },
                       batch.arguments, batch.axes, {.rtol = 1e-3, .atol = 2e-4});
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << program.traced().str();
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomBatches, ::testing::Range<std::uint64_t>(0, 10));

// Gradients that were all zero would make the comparison above trivial.
TEST(RandomBatchesTest, HaveGradientsThatAreNotZero) {
  int moved = 0;
  for (std::uint64_t seed = 5000; seed < 5040; seed++) {
    const Program program =
        Program::random(seed, {.statements = 6, .region_statements = 3, .depth = 2});
    std::vector<Tensor> arguments;
    for (const Literal& argument : program.arguments(seed)) arguments.emplace_back(argument);
    bool is_zero = true;
    for (const Tensor& slope : program.gradient(arguments)) {
      if (is_floating(slope.dtype())) is_zero = is_zero && !any(slope != 0).item<bool>();
    }
    moved += !is_zero;
  }
  EXPECT_GE(moved, 15);
}

}  // namespace
}  // namespace rondo::testing
