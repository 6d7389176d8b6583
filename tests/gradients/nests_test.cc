// Deeply nested loops, on a thread whose stack has a known size.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>

#include "rondo/rondo.h"
#include "support/on_stack.h"
#include "support/processor_time.h"

#if defined(__GLIBC__) || defined(__APPLE__)

namespace rondo::testing {
namespace {

Tensor nested_whiles(int depth, const Tensor& x, const std::function<Tensor(Tensor)>& innermost) {
  if (depth == 0) return innermost(x);
  return while_loop([](Tensor c) { return c < 0.4; },
                    [&](Tensor c) { return nested_whiles(depth - 1, c, innermost); }, x);
}

Tensor nested_foris(int depth, const Tensor& x) {
  if (depth == 0) return sin(x);
  return fori_loop(
      0, 1, [&](Tensor, Tensor c) { return nested_foris(depth - 1, c); }, x);
}

/// A loop of a nest takes several stack frames, which are larger without optimization.
#ifdef __OPTIMIZE__
constexpr int kDepth = 2000;
#else
constexpr int kDepth = 200;
#endif

TEST(DeepNests, OfWhilesAreTracedRunAndDifferentiatedOnTheUsualStack) {
  double value = 0, slope = 0;
  on_stack(std::size_t{8} << 20, [&] {
    // Each of the loops makes one trip, since the innermost one ends at once.
    const auto f = [](Tensor x) {
      return nested_whiles(kDepth, x, [](Tensor c) { return c + 1; });
    };
    value = compile(trace(f, f64())).run({Literal::scalar(0.1)})[0].item<double>();
    slope = compile(trace(grad(f), f64())).run({Literal::scalar(0.1)})[0].item<double>();
  });
  EXPECT_DOUBLE_EQ(value, 1.1);
  EXPECT_DOUBLE_EQ(slope, 1);
}

TEST(DeepNests, AreAnErrorWhereTheStackIsTooSmall) {
  std::string message;
  on_stack(std::size_t{1} << 20, [&] {
    try {
      (void)grad([](Tensor x) { return nested_whiles(3000, x, [](Tensor c) { return sin(c); }); })(
          0.5);
    } catch (const TraceError& error) {
      message = error.what();
    }
  });
  EXPECT_NE(message.find("this thread's stack is nearly used up"), std::string::npos) << message;
  EXPECT_NE(message.find("nests_test.cc"), std::string::npos) << message;
}

TEST(DeepNests, OfCountedLoopsAreTracedAndDifferentiatedInLinearTime) {
  const auto to_depth = [](int depth) {
    return [=] { (void)trace(grad([=](Tensor x) { return nested_foris(depth, x); }), f64()); };
  };
  double ratio = 0;
  on_stack(std::size_t{256} << 20,
           [&] { ratio = growth(to_depth(kDepth / 16), to_depth(kDepth / 2), 24); });
  EXPECT_LT(ratio, 24);  // linear: 8, quadratic: 64
}

}  // namespace
}  // namespace rondo::testing
#endif
