// Loops that carry many values, and loops over lanes that read many arrays.
#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/rondo.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

/// Compiles a program of 2,000 parts, and one of 64,000. The larger one leaves the caches: an
/// optimised library takes 80 times as long for it. Where each part searches through all that came
/// before, by the fastest code, it takes 175.
template <class Traced>
void expect_in_proportion(const Traced& traced) {
  const Function few = traced(2000), many = traced(64'000);
  const auto compiles = [](const Function& function) {
    return [&function] { (void)compile(function); };
  };
  EXPECT_LT(growth(compiles(few), compiles(many), 130), 130);
}

TEST(CarriesCost, LoopsCompileInProportionToTheirCarries) {
  expect_in_proportion([](std::size_t carries) {
    const auto step = [](Tensor, std::vector<Tensor> carry) {
      for (Tensor& each : carry) each = each + 1.0f;
      return carry;
    };
    const auto loop = [&](std::vector<Tensor> carry) { return fori_loop(0, 3, step, carry); };
    return trace(loop, std::vector<TensorType>(carries, f32()));
  });
}

TEST(CarriesCost, LoopsOverLanesCompileInProportionToTheirArguments) {
  expect_in_proportion([](std::size_t arguments) {
    const auto of_lane = [](std::vector<Tensor> all) {
      Tensor total = all[0];
      for (std::size_t i = 1; i < all.size(); i++) total = total + all[i];
      return total;
    };
    return trace(vmap(of_lane), std::vector<TensorType>(arguments, f32({4})));
  });
}

}  // namespace
}  // namespace rondo::testing
