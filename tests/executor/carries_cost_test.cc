// Loops that carry many values, loops over lanes that read many arrays, and branches with many
// results.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/rondo.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

/// Compiles a program of 2,000 parts, and one of 64,000. The larger one exceeds the caches, so it
/// takes more than 32 times as long. `bound` is about halfway, as a factor, between what an
/// optimised library takes and what it took when each part was searched for among all others.
template <class Traced>
void expect_in_proportion(double bound, const Traced& traced) {
  const Function few = traced(2000), many = traced(64'000);
  const auto compiles = [](const Function& function) {
    return [&function] { (void)compile(function); };
  };
  EXPECT_LT(growth(compiles(few), compiles(many), bound), bound);
}

TEST(CarriesCost, LoopsCompileInProportionToTheirCarries) {
  expect_in_proportion(130, [](std::size_t carries) {  // 80; 224
    const auto step = [](Tensor, std::vector<Tensor> carry) {
      for (Tensor& each : carry) each = each + 1.0f;
      return carry;
    };
    const auto loop = [&](std::vector<Tensor> carry) { return fori_loop(0, 3, step, carry); };
    return trace(loop, std::vector<TensorType>(carries, f32()));
  });
}

TEST(CarriesCost, LoopsOverLanesCompileInProportionToTheirArguments) {
  expect_in_proportion(130, [](std::size_t arguments) {  // 80; 175
    const auto of_lane = [](std::vector<Tensor> all) {
      Tensor total = all[0];
      for (std::size_t i = 1; i < all.size(); i++) total = total + all[i];
      return total;
    };
    return trace(vmap(of_lane), std::vector<TensorType>(arguments, f32({4})));
  });
}

TEST(CarriesCost, BranchesCompileInProportionToTheirResults) {
  expect_in_proportion(250, [](std::size_t results) {  // 98; 670
    const auto turned = [](std::vector<Tensor> all) {
      std::rotate(all.begin(), all.begin() + 1, all.end());
      return all;
    };
    const auto same = [](std::vector<Tensor> all) { return all; };
    const auto either = [&](Tensor is_turned, std::vector<Tensor> all) {
      return cond(is_turned, turned, same, all);
    };
    return trace(either, pred(), std::vector<TensorType>(results, f32({4})));
  });
}

}  // namespace
}  // namespace rondo::testing
