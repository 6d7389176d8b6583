// For processors whose instructions have few constants as operands and few forms of addresses.
#include <algorithm>
#include <cmath>

#include "native/run_native.h"
#include "native/steps.h"

namespace rondo::native_code {
namespace {

using lower::Status;
using lower::Type;
using lower::Value;
using NativeOperands = NativeTest;

/// Of one kind and type, before the first loop begins, or after.
std::ptrdiff_t count_steps(const lower::Program& program, const Target* target, Kind kind,
                           Type type, bool before_loop) {
  const std::vector<Instruction> all = steps(program, target);
  const auto loop = std::find_if(all.begin(), all.end(),
                                 [](const Instruction& i) { return i.kind == Kind::kForBegin; });
  const auto matches = [&](const Instruction& i) { return i.kind == kind && i.type == type; };
  return before_loop ? std::count_if(all.begin(), loop, matches)
                     : std::count_if(loop, all.end(), matches);
}

/// x = x * 0.7 + (x - 0.3), twenty times.
TEST_F(NativeOperands, ConstantsOfALoopAreInRegistersBeforeIt) {
  TestProgram p;
  const Value start = p.load_at(Type::kF32, p.argument(0)), out = p.result(0);
  const auto loop = p.begin_for(p.index(0), p.index(20), 1, std::vector<Value>{start});
  const Value x = p.carry_of_for(loop, 0).param;
  const Value decay = p.multiply(x, p.number(Type::kF32, 0.7));
  p.end_for(std::vector<Value>{p.add(decay, p.subtract(x, p.number(Type::kF32, 0.3)))});
  p.store_at(p.carry_of_for(loop, 0).result, out);
  const lower::Program program = p.finish();
  float want = 1.5f;
  for (int i = 0; i < 20; i++) {
    const float scaled = want * 0.7f, moved = want - 0.3f;
    want = scaled + moved;
  }
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    Buffers buffers;
    buffers.add_argument(std::vector<float>{1.5f});
    buffers.add_result(4);
    ASSERT_EQ(buffers.run(*code, program), Status::kDone);
    EXPECT_EQ(buffers.result<float>(0)[0], want);
    const std::ptrdiff_t moved = target->takes_constant != nullptr ? 2 : 0;
    EXPECT_EQ(count_steps(program, target, Kind::kMove, Type::kF32, true), moved);
    EXPECT_EQ(count_steps(program, target, Kind::kMove, Type::kF32, false), 0);
  }
}

/// y[i] = x[i] + x[i + 1] * x[i + 2] + x[i + 300], by a loop that carries the last one.
TEST_F(NativeOperands, NeighborsShareTheirAddress) {
  constexpr std::int64_t kCount = 50;
  TestProgram p;
  const Value x = p.argument(0), y = p.result(0);
  const auto loop =
      p.begin_for(p.index(0), p.index(kCount), 1, std::vector<Value>{p.number(Type::kF64, 0)});
  const Value i = p.index_of_for(loop), last = p.carry_of_for(loop, 0).param;
  const auto at = [&](std::int64_t offset) { return p.load(Type::kF64, {x, offset, {{i, 8}}}); };
  const Value product = p.multiply(at(8), at(16));
  const Value sum = p.add(p.add(p.add(at(0), product), at(2400)), last);
  p.store(sum, {y, 0, {{i, 8}}});
  p.end_for(std::vector<Value>{sum});
  const lower::Program program = p.finish();
  std::vector<double> values(kCount + 301), want(kCount);
  for (std::size_t k = 0; k < values.size(); k++) values[k] = std::sin(static_cast<double>(k));
  double before = 0;
  for (std::size_t k = 0; k < want.size(); k++) {
    const double made = values[k + 1] * values[k + 2];
    want[k] = before = values[k] + made + values[k + 300] + before;
  }
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    Buffers buffers;
    buffers.add_argument(values);
    buffers.add_result(kCount * 8);
    ASSERT_EQ(buffers.run(*code, program), Status::kDone);
    EXPECT_EQ(buffers.result<double>(0), want);
    const std::ptrdiff_t sums = target->fits_access != nullptr ? 1 : 0;
    EXPECT_EQ(count_steps(program, target, Kind::kAddress, Type::kPointer, false), sums);
  }
}

/// Constants further from the code that reads them than an instruction reaches.
TEST_F(NativeOperands, ConstantsFarAwayAreRead) {
  // A sum of bf16 is about ten instructions.
  constexpr int kSums = 28000;
  TestProgram p;
  Value x = p.load_at(Type::kBF16, p.argument(0));
  bfloat16 want(2.0f);
  for (int k = 0; k < kSums; k++) {
    const bfloat16 by(static_cast<float>(k % 97 - 48) * 0.37f);
    x = p.add(x, p.constant(Type::kBF16, lower::to_bits(by)));
    want = lower::binary<lower::Opcode::kAdd>(want, by);
  }
  p.store_at(x, p.result(0));
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    const auto code = compile(program, target);
    Buffers buffers;
    buffers.add_argument(std::vector<bfloat16>{bfloat16(2.0f)});
    buffers.add_result(2);
    ASSERT_EQ(buffers.run(*code, program), Status::kDone);
    EXPECT_EQ(lower::to_bits(buffers.result<bfloat16>(0)[0]), lower::to_bits(want));
  }
}

}  // namespace
}  // namespace rondo::native_code
