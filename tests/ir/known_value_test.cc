// Tensors of values that were computed before: they become nodes only on request.
#include "ir/known_value.h"

#include <array>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

Literal ramp(std::int64_t n) { return (convert(arange(n), DType::kF32) * 0.5f + 1).eval(); }

std::vector<float> numbers(const Tensor& tensor) {
  const Literal value = tensor.eval();
  return {value.data<float>().begin(), value.data<float>().end()};
}

TEST(KnownValue, IsReadWithoutANode) {
  const Tensor x = ir::make_known(ramp(3));
  const Tensor same = x;
  EXPECT_EQ(x.type(), f32({3}));
  EXPECT_EQ(numbers(x), (std::vector<float>{1, 1.5f, 2}));
  EXPECT_TRUE(x.same_as(same));
  EXPECT_FALSE(x.same_as(ir::make_known(ramp(3))));
  EXPECT_FALSE(ir::is_elsewhere(x));
  EXPECT_FALSE(ir::depends_on_trace({&x, 1}));
  EXPECT_TRUE(ir::constant_value(x)->identical(ramp(3)));
  ASSERT_NE(x.value(), nullptr);
  EXPECT_EQ(x.value()->node_if_made(), nullptr);
}

TEST(KnownValue, OfAJittedCallStaysOneThroughFurtherCalls) {
  const auto twice = jit([](Tensor x) { return x * 2; });
  Tensor x = twice(1.5f);
  for (int i = 0; i < 3; i++) x = twice(x);
  ASSERT_NE(x.value(), nullptr);
  EXPECT_EQ(x.value()->node_if_made(), nullptr);
  EXPECT_EQ(x.item<float>(), 24);
}

TEST(KnownValue, HasOneNodeForAllItsHandles) {
  const Tensor x = ir::make_known(ramp(2));
  const Tensor copy = x;
  const Tensor of_node = Tensor::of(x.node());
  EXPECT_EQ(copy.node(), x.node());
  EXPECT_TRUE(ir::is_constant(x.node()));
  EXPECT_TRUE(x.same_as(of_node));
  EXPECT_TRUE(of_node.same_as(copy));
  EXPECT_FALSE(of_node.same_as(ir::make_known(ramp(2))));
  const Literal a = of_node.eval(), b = x.eval();
  EXPECT_EQ(a.bytes(), b.bytes());  // one storage
}

TEST(KnownValue, OutlivesItsNodesHandlesAndIsOutlivedByThem) {
  Tensor x = ir::make_known(ramp(2));
  Tensor of_node = Tensor::of(x.node());
  of_node = Tensor();
  EXPECT_EQ(numbers(x), (std::vector<float>{1, 1.5f}));
  const Tensor sum = x + x;
  const Function f = trace([&](Tensor y) { return x * y; }, f32({2}));
  x = Tensor();
  EXPECT_EQ(numbers(sum), (std::vector<float>{2, 3}));
  const std::vector<Literal> results = compile(f).run({ramp(2)});
  EXPECT_EQ(results[0].data<float>()[1], 2.25f);
}

TEST(KnownValue, IsNotChangedByWhoWritesToWhatItGave) {
  const Tensor x = ir::make_known(ramp(2));
  Literal taken = x.eval();
  taken.mutable_data<float>()[0] = 7;
  EXPECT_EQ(numbers(x), (std::vector<float>{1, 1.5f}));
  Literal of_node = Tensor::of(x.node()).eval();
  of_node.mutable_data<float>()[0] = 8;
  EXPECT_EQ(numbers(x), (std::vector<float>{1, 1.5f}));
}

/// A program is the same whether it captures a large array as a value or as a constant: both are
/// older than the loop, which therefore gets them as an operand.
TEST(KnownValue, CountsAsMadeWhenItWasComputed) {
  const std::int64_t n = ir::kCopiedConstantElements + 1;
  const auto program = [&](const Tensor& outside) {
    return to_text(trace(
        [&](Tensor x) {
          return fori_loop(
              0, 3, [&](Tensor, Tensor y) { return y * outside; }, x);
        },
        f32({n})));
  };
  const Tensor constant(ramp(n), SourceLocation{});
  EXPECT_EQ(program(ir::make_known(ramp(n))), program(constant));
}

TEST(KnownValue, IsTheSameCaptureInEachCall) {
  const Tensor a = jit([](Tensor x) { return x * 2; })(Literal(ramp(2)));
  const auto f = jit([a](Tensor x) { return x + a; }, {.check_captures = true});
  for (int i = 0; i < 3; i++)
    EXPECT_EQ(numbers(f(Literal(ramp(2)))), (std::vector<float>{3, 4.5f}));
}

TEST(KnownValue, IsUsedUnderAnEagerScope) {
  const Tensor x = ir::make_known(ramp(2));
  EagerScope eager;
  EXPECT_EQ(numbers(x * x), (std::vector<float>{1, 2.25f}));
}

TEST(KnownValue, RefusesALiteralThatWasMovedFrom) {
  Literal moved = ramp(2);
  const Literal to = std::move(moved);
  EXPECT_THROW(static_cast<void>(ir::make_known(std::move(moved))), TraceError);
}

TEST(KnownValue, GivesAllThreadsOneNode) {
  for (int round = 0; round < 50; round++) {
    const Tensor x = ir::make_known(ramp(4));
    std::array<const ir::Node*, 16> nodes{};
    std::vector<std::thread> threads;
    for (const ir::Node*& node : nodes) {
      threads.emplace_back([&node, copy = x] {
        node = copy.node();
        if (numbers(copy + copy)[1] != 3) node = nullptr;
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const ir::Node* node : nodes) EXPECT_EQ(node, x.node());
  }
}

}  // namespace
}  // namespace rondo::testing
