// Compilation: its speed, its instruction set, and its text.

#include "lower/opcodes.h"
#include "native/lane_plan.h"
#include "native/run_native.h"
#include "native/steps.h"
#include "support/processor_time.h"

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;
using NativeCompile = NativeTest;

TEST(NativeTarget, NoneHasNoCode) {
  TestProgram p;
  p.store_at(p.number(Type::kF32, 1), p.result(0));
  const lower::Program program = p.finish();
  EXPECT_EQ(compile(program, nullptr), nullptr);
  EXPECT_EQ(disassembly(program, nullptr), "");
}

lower::Program straight_line(int ops) {
  TestProgram p;
  const Value in = p.argument(0);
  std::vector<Value> values;
  for (std::int64_t i = 0; i < 16; i++) values.push_back(p.load_at(Type::kF32, in, 4 * i));
  for (int i = 0; i < ops; i++) {
    const auto n = values.size();
    const Value a = values[n - 1], b = values[n - 2 - static_cast<std::size_t>(i * 7 % 14)];
    values.push_back(i % 2 == 0 ? p.add(a, b) : p.subtract(a, b));
  }
  p.store_at(values.back(), p.result(0));
  return p.finish();
}

TEST_F(NativeCompile, TakesTimeLinearInTheOps) {
  const auto compiles = [](int ops) {
    return [program = straight_line(ops)] { EXPECT_NE(compile(program), nullptr); };
  };
  // Quadratic code would take 256 times as long.
  EXPECT_LT(testing::growth(compiles(4000), compiles(64000), 64), 64);
}

TEST_F(NativeCompile, LongStraightLinesComputeTheSame) {
  const lower::Program program = straight_line(30000);
  std::vector<float> values(16);
  for (std::size_t i = 0; i < 16; i++) values[i] = 0.01f * static_cast<float>(i);
  Buffers buffers;
  buffers.add_argument(values);
  buffers.add_result(4);
  for (int i = 0; i < 30000; i++) {
    const auto n = values.size();
    const float a = values[n - 1], b = values[n - 2 - static_cast<std::size_t>(i * 7 % 14)];
    values.push_back(i % 2 == 0 ? a + b : a - b);
  }
  for (const Target* target : targets()) {
    ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
    EXPECT_EQ(comparable(buffers.result<float>(0)[0]), comparable(values.back()));
  }
}

/// Many values at once: a frame of many pages. Beyond the limit, no native code.
TEST_F(NativeCompile, LargeFrames) {
  for (const std::int64_t count : {20'000, 200'000}) {
    TestProgram p;
    const Value in = p.argument(0, 8 * count);
    std::vector<Value> values;
    for (std::int64_t i = 0; i < count; i++) values.push_back(p.load_at(Type::kF64, in, 8 * i));
    Value sum = p.number(Type::kF64, 0);
    for (std::size_t i = values.size(); i-- > 0;) sum = p.add(sum, values[i]);
    p.store_at(sum, p.result(0));
    const lower::Program program = p.finish();
    std::vector<double> numbers(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < numbers.size(); i++) numbers[i] = 1.0 / static_cast<double>(i + 1);
    double want = 0;
    for (std::size_t i = numbers.size(); i-- > 0;) want += numbers[i];
    for (const Target* target : targets()) {
      const auto code = compile(program, target);
      if (count > 100'000) {
        EXPECT_EQ(code, nullptr);
        continue;
      }
      ASSERT_NE(code, nullptr);
      Buffers buffers;
      buffers.add_argument(numbers);
      buffers.add_result(8);
      ASSERT_EQ(buffers.run(*code, program), lower::Status::kDone);
      EXPECT_EQ(buffers.result<double>(0)[0], want);
    }
  }
}

TEST_F(NativeCompile, DisassemblyNamesOpsRegistersAndInstructions) {
  TestProgram p;
  const Value in = p.argument(0);
  p.store_at(p.multiply(p.load_at(Type::kF64, in), p.load_at(Type::kF64, in, 8)), p.result(0));
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    const std::string text = disassembly(program, target);
    EXPECT_NE(text.find("f64 v0 = v0 v1\n"), std::string::npos) << text;
    // Each instruction is known.
    const auto code = compile(program, target);
    const std::span<const std::byte> bytes = code->code();
    Decoded next;
    for (std::size_t at = 0; next.text != "ret"; at += next.bytes) {
      const auto* const rest = reinterpret_cast<const std::uint8_t*>(bytes.data()) + at;
      next = target->decode({rest, bytes.size() - at}, at);
      ASSERT_GT(next.bytes, 0u) << text;
    }
    EXPECT_NE(text.find("  ret\n"), std::string::npos) << text;
  }
}

/// Memory that is taken next most likely holds this byte.
void leave_in_memory(std::uint8_t byte) {
  std::vector<std::vector<std::uint8_t>> blocks;
  for (std::size_t bytes = 1 << 10; bytes <= 1 << 16; bytes *= 2) blocks.emplace_back(bytes, byte);
}

TEST_F(NativeCompile, GivesTheSameBytesEachTime) {
  TestProgram p;
  const Value in = p.argument(0);
  // Between constants of several widths some bytes are none of any.
  const auto lanes = p.begin_lanes(p.load_at(Type::kS64, p.argument(1)));
  const Value lane = p.program().lanes[lanes].index;
  const Value x = p.load_at(Type::kF32, in, lane, 4);
  p.store_at(p.multiply(p.add(x, p.number(Type::kF32, 3)), p.number(Type::kF32, 7)), p.result(0),
             lane, 4);
  p.end_lanes();
  p.store_at(p.multiply(p.load_at(Type::kF64, in), p.number(Type::kF64, 5)), p.result(1));
  p.store_at(p.multiply(p.load_at(Type::kF32, in), p.number(Type::kF32, 11)), p.result(2));
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    leave_in_memory(0x55);
    const std::string once = disassembly(program, target);
    leave_in_memory(0xaa);
    EXPECT_EQ(disassembly(program, target), once);
  }
}

/// What code may use is data of the target.
TEST_F(NativeCompile, UsesWhatItsTargetHas) {
  TestProgram p;
  const auto lanes = p.begin_lanes(p.load_at(Type::kS64, p.argument(1)));
  const Value lane = p.program().lanes[lanes].index;
  std::vector<Value> values{p.load_at(Type::kF32, p.argument(0), lane, 4)};
  for (int i = 1; i < 12; i++) values.push_back(p.add(values.back(), p.number(Type::kF32, i)));
  Value sum = values[0];
  for (std::size_t i = values.size(); --i > 0;) sum = p.add(p.multiply(sum, sum), values[i]);
  p.store_at(sum, p.result(0), lane, 4);
  p.end_lanes();
  const lower::Program program = p.finish();
  std::vector<float> numbers(29), want;
  for (std::size_t i = 0; i < numbers.size(); i++)
    numbers[i] = static_cast<float>(i) * 0.01f - 0.3f;
  for (const float x : numbers) {
    std::vector<float> of{x};
    for (int i = 1; i < 12; i++) of.push_back(of.back() + static_cast<float>(i));
    float total = x;
    for (std::size_t i = of.size(); --i > 0;) {
      const float square = total * total;
      total = square + of[i];
    }
    want.push_back(total);
  }
  for (const Target* target : targets()) {
    Target smaller = *target;
    smaller.vector_bytes = target->vector_bytes / 2;
    auto& vectors = smaller.registers[static_cast<std::size_t>(RegisterClass::kVector)].numbers;
    vectors.assign({2, 4, 6, 8});
    auto& general = smaller.registers[static_cast<std::size_t>(RegisterClass::kGeneral)].numbers;
    general.assign({6, 12});
    Target plain = smaller;
    plain.vectors.of[static_cast<std::size_t>(Opcode::kMultiply)] = {};
    for (const Target* t : {target, &std::as_const(smaller), &std::as_const(plain)}) {
      SCOPED_TRACE(disassembly(program, t));
      int most = 0;
      for (const Instruction& step : steps(program, t)) most = std::max<int>(most, step.lanes);
      EXPECT_EQ(most, t == &plain ? 1 : t->vector_bytes / 4);
      Buffers buffers;
      buffers.add_argument(numbers);
      buffers.add_argument(std::vector<std::int64_t>{std::ssize(numbers)});
      buffers.add_result(4 * numbers.size());
      ASSERT_EQ(buffers.run(*compile(program, t), program), lower::Status::kDone);
      EXPECT_EQ(buffers.result<float>(0), want);
    }
  }
}

/// Lanes per vector where y[i] = element(x[i]).
template <class F>
int lanes_of(Type type, const Target* target, F&& element) {
  TestProgram p;
  const auto lanes = p.begin_lanes(p.load_at(Type::kS64, p.argument(1)));
  const Value lane = p.program().lanes[lanes].index;
  const Value x = p.load_at(type, p.argument(0), lane, lower::width(type));
  const Value y = element(p, x);
  p.store_at(y, p.result(0), lane, lower::width(p.type(y)));
  p.end_lanes();
  const lower::Program program = p.finish();
  LaneFacts facts(program);
  std::size_t begin = 0;
  while (program.code[begin].code != Opcode::kLanes) begin++;
  std::size_t end = begin;
  while (program.code[end].code != Opcode::kEndLanes) end++;
  return LanePlan(program, facts, begin, end, *target).lanes();
}

TEST(NativeLanePlan, ChoosesVectorsByTheWidestType) {
  auto square = [](TestProgram& p, Value x) { return p.multiply(x, x); };
  auto widened = [](TestProgram& p, Value x) { return p.convert(x, Type::kF64); };
  auto remainder = [](TestProgram& p, Value x) { return p.remainder(x, x); };
  EXPECT_EQ(lanes_of(Type::kF32, &x86::avx512(), square), 16);
  EXPECT_EQ(lanes_of(Type::kS8, &x86::avx512(), square), 16);
  EXPECT_EQ(lanes_of(Type::kF64, &x86::avx512(), square), 8);
  EXPECT_EQ(lanes_of(Type::kF32, &x86::avx512(), widened), 8);
  EXPECT_EQ(lanes_of(Type::kF32, &x86::avx2(), square), 8);
  EXPECT_EQ(lanes_of(Type::kF64, &x86::avx2(), square), 4);
  EXPECT_EQ(lanes_of(Type::kS64, &x86::avx2(), square), 1);  // no such multiplication
  EXPECT_EQ(lanes_of(Type::kS32, &x86::avx512(), remainder), 1);
}

/// y[i] = table[row(i)][column(i)] with indices of 32 bits or of 64, whose address has one index by
/// lane.
TEST(NativeLanePlan, GathersByIndicesOfTheirWidth) {
  const auto gathers = [](bool is_short) {
    return [is_short](TestProgram& p, Value x) {
      const Value table = p.argument(2, 4096);
      const Value index = p.convert(is_short ? x : p.convert(x, Type::kS64), Type::kS64);
      const Value wide = is_short ? index : p.multiply(index, p.index(3));
      return p.load_at(Type::kF32, table, wide, 4);
    };
  };
  EXPECT_EQ(lanes_of(Type::kS32, &x86::avx512(), gathers(true)), 16);
  EXPECT_EQ(lanes_of(Type::kS32, &x86::avx512(), gathers(false)), 8);
  EXPECT_EQ(lanes_of(Type::kS32, &x86::avx2(), gathers(true)), 1);  // it has no gathers
}

}  // namespace
}  // namespace rondo::native_code
