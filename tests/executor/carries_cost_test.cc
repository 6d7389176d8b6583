// Loops that carry many values, and loops over lanes that read many arrays.
#include <vector>

#include "gtest/gtest.h"
#include "rondo/rondo.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

double seconds_to_compile(const Function& function) {
  return least_seconds([&] { (void)compile(function); });
}

TEST(CarriesCost, LoopsCompileInProportionToTheirCarries) {
  const auto counters = [](std::size_t carries) {
    const auto step = [](Tensor, std::vector<Tensor> carry) {
      for (Tensor& each : carry) each = each + 1.0f;
      return carry;
    };
    const auto loop = [&](std::vector<Tensor> carry) { return fori_loop(0, 3, step, carry); };
    return trace(loop, std::vector<TensorType>(carries, f32()));
  };
  const double of_few = seconds_to_compile(counters(2000));
  EXPECT_LT(seconds_to_compile(counters(16000)), 14 * of_few) << of_few << " s for 2000 carries";
}

TEST(CarriesCost, LoopsOverLanesCompileInProportionToTheirArguments) {
  const auto sum = [](std::size_t arguments) {
    const auto of_lane = [](std::vector<Tensor> all) {
      Tensor total = all[0];
      for (std::size_t i = 1; i < all.size(); i++) total = total + all[i];
      return total;
    };
    return trace(vmap(of_lane), std::vector<TensorType>(arguments, f32({4})));
  };
  const double of_few = seconds_to_compile(sum(4000));
  EXPECT_LT(seconds_to_compile(sum(40000)), 17 * of_few) << of_few << " s for 4000 arguments";
}

}  // namespace
}  // namespace rondo::testing
