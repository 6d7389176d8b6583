// A floating C++ scalar in a quotient with an integer tensor is ambiguous: floating or integer
// division.
#include "errors/message.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using testing::expect_scalar;

TEST(QuotientErrors, OfAnIntegerTensorAndAFloatingScalar) {
  const Tensor n = constant({7, 8});
  EXPECT_REFUSED(
      n / 2.0, "the C++ scalar 2.0 beside s32[2]",
      "rondo::convert(x, rondo::DType::kF32) / 2.0, for integers x / 2, which truncates.");
  EXPECT_REFUSED(1.0f / n, "1.0f / rondo::convert(x, rondo::DType::kF32), for integers 1 / x,");
  EXPECT_REFUSED(n % 2.5, "rem", "convert(x, rondo::DType::kF32) % 2.5");
  EXPECT_REFUSED(rem(n, 2.0), "rem", "for integers x % 2,");
  EXPECT_REFUSED(rem(2.0, n), "rem");
  Tensor m = n;
  EXPECT_REFUSED(m /= 2.0, "the C++ scalar 2.0 beside s32[2]");
  EXPECT_REFUSED(convert(n, DType::kU8) / float16(2.0f), "u8[2]");
}

TEST(QuotientErrors, LeaveWhatIsClear) {
  const Tensor n = constant({7, 8});
  expect_scalar((n / 2)[0].eval(), 3);
  expect_scalar((n % 2)[0].eval(), 1);
  expect_scalar((convert(n, DType::kF32) / 2)[0].eval(), 3.5f);
  expect_scalar((1 / convert(n, DType::kF32))[1].eval(), 0.125f);
  // In other ops an exact conversion is made.
  expect_scalar((n * 2.0)[0].eval(), 14);
  EXPECT_REFUSED(n * 2.5, "inexact scalar");
}

TEST(ShapeErrors, SuggestKeepdims) {
  const Tensor x = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  EXPECT_REFUSED(x - mean(x, {1}), "do not broadcast", "the second was reduced over axis 1",
                 "rondo::mean(x, {1}, /*keepdims=*/true)");
  EXPECT_REFUSED(mean(x, {1}) - x, "the first was reduced over axis 1");
  EXPECT_REFUSED(x + constant({1.0f, 2.0f, 3.0f, 4.0f}), "reshape or expand_dims");
}

struct Kalman {
  Tensor mean, count;
};

TEST(InitErrors, NameTheLeafTheLoopAndTheLineOfTheNumber) {
  const auto run = [](Kalman init, Tensor x) {
    return while_loop([](Kalman f) { return f.count < 3; },
                      [&](Kalman f) {
                        const Tensor gain = (f.mean + 1) * 2;  // keeps the dtype of the init
                        return Kalman{gain * x, f.count + 1};
                      },
                      init, {.name = "filter"});
  };
  const std::string line = RONDO_HERE;
  const Kalman init{0.5, 0};  // the line after
  const std::string here =
      "quotient_test.cc:" + std::to_string(std::stoi(line.substr(line.find(':') + 1)) + 1);
  testing::expect_parts(testing::message_of([&] { run(init, 1.0f); }),
                        {"f64[]", "f32[]", "carry.mean of the body of while_loop 'filter'",
                         "began as the C++ double 0.5 at " + here, "write 0.5f"});
  // An int that meets a float, in a fori_loop, a scan and a condition.
  const auto count = [](Tensor x) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor s) { return s + x; }, 0);
  };
  testing::expect_parts(testing::message_of([&] { (void)count(1.5f); }),
                        {"carry of the body of fori_loop", "began as the C++ int 0", "write 0.0f"});
  testing::expect_parts(testing::message_of([] {
                          (void)scan([](Tensor c, Tensor x) { return std::pair(c + x, x); }, 0.0,
                                     ones(f32({3})));
                        }),
                        {"carry of the body of scan", "the C++ double 0.0", "write 0.0f"});
  testing::expect_parts(testing::message_of([] {
                          (void)while_loop([](Tensor x) { return x < Tensor(3.0f); },
                                           [](Tensor x) { return x + 1; }, 0);
                        }),
                        {"the condition of while_loop", "the C++ int 0", "write 0.0f"});
  // A body that returns the other dtype.
  testing::expect_parts(
      testing::message_of([] {
        (void)while_loop([](Tensor x) { return x < 3; },
                         [](Tensor x) { return convert(x, DType::kF32); }, 0.0);
      }),
      {"carry: f64[] goes in, f32[] comes out", "it began as the C++ double 0.0", "write 0.0f"});
}

}  // namespace
}  // namespace rondo
