// The cost of tracing and compiling programs with very many branches or results.
#include <algorithm>
#include <functional>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/rondo.h"
#include "support/allocations.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

/// Branches with a different constant in each.
Function many_branches(int count) {
  return trace(
      [&](Tensor i, Tensor x) {
        std::vector<std::function<Tensor(Tensor)>> branches;
        for (int k = 0; k < count; k++) {
          branches.emplace_back(
              [k](const Tensor& y) { return y * (static_cast<float>(k) + 0.5f); });
        }
        return switch_case(i, branches, x);
      },
      s32(), f32());
}

TEST(CompileCost, ManyBranchesTakeMemoryInProportion) {
  const auto bytes_of = [](int count) {
    const std::int64_t before = allocated_bytes;
    const Function function = many_branches(count);
    EXPECT_EQ(function.stats().regions, count);
    return allocated_bytes - before;
  };
  bytes_of(100);  // what is created only once
  const std::int64_t few = bytes_of(1000), many = bytes_of(4000);
  EXPECT_LE(many, 6 * few) << few << " bytes for 1000 branches";  // 0 under a sanitizer
}

TEST(CompileCost, ManyBranchesTakeTimeInProportion) {
  const auto few = [] { (void)many_branches(500); };
  const auto many = [] { (void)many_branches(32'000); };
  EXPECT_LT(growth(few, many, 380), 380);  // 140 times; 4,096 if quadratic
}

TEST(CompileCost, ManyBranchesGiveWhatTheirConstantsSay) {
  const Executable program = compile(many_branches(300));
  for (const int k : {0, 1, 150, 299, 400}) {
    const auto got = program.run({Literal::scalar(k), Literal::scalar(2.0f)})[0].item<float>();
    EXPECT_EQ(got, 2 * (static_cast<float>(std::min(k, 299)) + 0.5f)) << k;
  }
}

TEST(CompileCost, ManyResultsTakeTimeInProportion) {
  const auto many_results = [](int count) {
    return trace(
        [&](Tensor x) {
          std::vector<Tensor> results;
          for (int i = 0; i < count; i++) results.push_back(x * (static_cast<float>(i) + 1));
          return results;
        },
        f32());
  };
  const Function few = many_results(8000), many = many_results(128'000);
  // Beyond the caches 34 times; 256 if quadratic.
  EXPECT_LT(growth([&] { (void)compile(few); }, [&] { (void)compile(many); }, 90), 90);
}

}  // namespace
}  // namespace rondo::testing
