#include "lower/contract.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/agreement.h"
#include "lower/builder.h"

namespace rondo::lower {
namespace {

std::ptrdiff_t count(const Program& program, Opcode code) {
  return std::count_if(program.code.begin(), program.code.end(),
                       [&](const Op& op) { return op.code == code; });
}

TEST(Contract, MakesOneOpOfAProductAndASumWhereNothingElseNeedsTheProduct) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kF32, {base, 0, {}}), y = b.load(Type::kF32, {base, 4, {}}),
              z = b.load(Type::kF32, {base, 8, {}});
  const Value used_twice = b.multiply(y, z);
  b.store(b.add(b.multiply(x, y), z), {base, 12, {}});
  b.store(b.add(used_twice, x), {base, 16, {}});
  b.store(used_twice, {base, 20, {}});
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kFma), 1);
  EXPECT_EQ(count(program, Opcode::kMultiply), 1);
  EXPECT_EQ(count(program, Opcode::kAdd), 1);
}

TEST(Contract, LeavesIntegersAlone) {
  Builder b;
  const Value base = b.buffer({Storage::kArgument, 0, 0, 64});
  const Value x = b.load(Type::kS32, {base, 0, {}});
  const Value y = b.load(Type::kS32, {base, 4, {}});
  b.store(b.add(b.multiply(x, y), y), {base, 8, {}});
  Program program = b.finish();
  contract(program);
  EXPECT_EQ(count(program, Opcode::kFma), 0);
}

TEST(Contract, IsChosenByAnOption) {
  const Function f =
      trace([](Tensor x, Tensor y, Tensor z) { return x * y + z; }, f32(), f32(), f32());
  const float x = 1 + 0x1p-12f;
  const auto run = [&](bool contracts) {
    return compile(f, {.contract = contracts, .executor = Executor::kBytecode})
        .run({Literal::scalar(x), Literal::scalar(x), Literal::scalar(-1.f)})[0]
        .item<float>();
  };
  EXPECT_EQ(run(false), 0x1p-11f);
  EXPECT_EQ(run(true), 0x1p-11f + 0x1p-24f);
}

}  // namespace
}  // namespace rondo::lower
