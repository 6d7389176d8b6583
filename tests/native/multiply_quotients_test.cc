// Quotients and remainders by constants in lanes, beside those of C++.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "lower/opcodes.h"
#include "native/run_native.h"
#include "native/steps.h"

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Value;
using NativeQuotients = NativeTest;

enum class Order : std::uint8_t { kQuotientFirst, kRemainderFirst, kInAnInnerLoop };

/// Results 0 and 1 are x / by and x % by of argument 0.
template <class T>
lower::Program divided(T by, Order order) {
  TestProgram p;
  const std::int64_t width = sizeof(T);
  const auto lanes = p.begin_lanes(p.load_at(lower::Type::kS64, p.argument(1)));
  const Value lane = p.program().lanes[lanes].index;
  const Value x = p.load_at(type_of_host<T>(), p.argument(0), lane, width);
  const Value divisor = p.constant(type_of_host<T>(), lower::to_bits(by));
  const auto store_quotient = [&] { p.store_at(p.divide(x, divisor), p.result(0), lane, width); };
  const auto store_remainder = [&] {
    p.store_at(p.remainder(x, divisor), p.result(1), lane, width);
  };
  if (order == Order::kQuotientFirst) store_quotient();
  store_remainder();
  if (order == Order::kInAnInnerLoop) {
    p.begin_for(p.index(0), p.index(2), 1, {});
    store_quotient();
    p.end_for({});
  }
  if (order == Order::kRemainderFirst) store_quotient();
  p.end_lanes();
  return p.finish();
}

template <class T>
class NativeQuotientsOf : public NativeTest {};
using Narrow = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::uint8_t,
                                std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(NativeQuotientsOf, Narrow);

TYPED_TEST(NativeQuotientsOf, AreThoseOfCpp) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::mt19937 random(7);
  for (const T by : {T(3), T(7), T(10), T(Limits::max() - 1), Limits::max(), T(0 - T(3)),
                     T(0 - T(11)), Limits::min(), T(1), T(0)}) {
    std::vector<T> x = edge_values<T>();
    for (int i = 0; i < 200; i++) x.push_back(static_cast<T>(random()));
    // Multiples of the divisor and their neighbours are where a rounded product would be wrong.
    for (int i = -20; i < 20; i++) {
      for (int near = -1; near <= 1; near++)
        x.push_back(static_cast<T>(static_cast<std::uint64_t>(by) * static_cast<unsigned>(i) +
                                   static_cast<unsigned>(near)));
    }
    std::vector<T> quotients, remainders;
    for (const T value : x) {
      quotients.push_back(by == 0 ? static_cast<T>(-1) : static_cast<T>(value / by));
      remainders.push_back(by == 0 ? value : static_cast<T>(value % by));
    }
    for (const Order order :
         {Order::kQuotientFirst, Order::kRemainderFirst, Order::kInAnInnerLoop}) {
      const lower::Program program = divided(by, order);
      for (const Target* target : targets()) {
        SCOPED_TRACE(disassembly(program, target));
        Buffers buffers;
        buffers.add_argument(x);
        buffers.add_argument(std::vector<std::int64_t>{std::ssize(x)});
        buffers.add_result(x.size() * sizeof(T));
        buffers.add_result(x.size() * sizeof(T));
        ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
        ASSERT_EQ(buffers.result<T>(0), quotients) << +by;
        ASSERT_EQ(buffers.result<T>(1), remainders) << +by;
      }
    }
  }
}

TEST_F(NativeQuotients, AreProductsOfVectors) {
  for (const Target* target : targets()) {
    for (const Order order : {Order::kQuotientFirst, Order::kRemainderFirst}) {
      const lower::Program program = divided<std::int32_t>(7, order);
      SCOPED_TRACE(disassembly(program, target));
      int quotients = 0, conversions = 0, vectors = 0;
      for (const Instruction& step : steps(program, target)) {
        if (step.kind != Kind::kCompute) continue;
        if (step.op == Opcode::kDivide || step.op == Opcode::kRemainder) quotients++;
        if (step.lanes < 2) continue;
        vectors++;
        if (step.op == Opcode::kConvert) conversions++;
      }
      EXPECT_EQ(quotients, 0);
      // To f64 and back, once for both results.
      EXPECT_GT(conversions, 0);
      EXPECT_EQ(vectors % 5, 0) << "convert, multiply, convert, multiply, subtract";
      EXPECT_EQ(conversions, vectors / 5 * 2);
    }
  }
}

}  // namespace
}  // namespace rondo::native_code
