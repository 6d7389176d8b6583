// Positions that a loop over scalars reads and writes: clamped if they are outside, at no cost if
// they are not.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "executor/agreement.h"
#include "native/x86/decode.h"

namespace rondo {
namespace {

using testing::expect_agreement;

/// Each index read from `at` moves an element of `x`, in sequence.
Function moves(std::int64_t indices, std::int64_t elements, DType dtype) {
  return trace(
      [&](Tensor x, Tensor at) {
        return fori_loop(
            0, indices,
            [&](Tensor i, Tensor x) {
              const Tensor from = convert(at[i], dtype);
              return update(x, from + convert(1, dtype), x[from] * 3 + i);
            },
            x);
      },
      s32({elements}), s64({indices}));
}

TEST(Indices, AreClampedWhereTheyAreOutside) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> at{0,  4,       5,     6,        7,   -1,   -2, 100, 3, -129,
                                     1,  kMost,   2,     -kMost,   127, -128, 5,  255, 4, kMost - 1,
                                     -3, 1 << 31, -1000, 1l << 32, 0};
  const auto count = static_cast<std::int64_t>(at.size());
  for (const std::int64_t size : {1, 2, 5, 6}) {
    for (const DType dtype : {DType::kS8, DType::kS32, DType::kS64, DType::kU32, DType::kU64}) {
      SCOPED_TRACE(::testing::Message() << size << " elements");
      std::vector<std::int32_t> x;
      for (std::int64_t i = 0; i < size; i++) x.push_back(static_cast<std::int32_t>(i * i) - 3);
      const auto got = expect_agreement(moves(count, size, dtype),
                                        {Literal::from(x, {size}), Literal::from(at, {count})});
      if (dtype != DType::kS64) continue;
      for (std::size_t i = 0; i < at.size(); i++) {
        const auto place = [&](std::int64_t index) {
          return static_cast<std::size_t>(std::clamp<std::int64_t>(index, 0, size - 1));
        };
        // Integers wrap.
        const auto after = static_cast<std::int64_t>(static_cast<std::uint64_t>(at[i]) + 1);
        x[place(after)] = static_cast<std::int32_t>(
            static_cast<std::uint32_t>(x[place(at[i])]) * 3 + static_cast<std::uint32_t>(i));
      }
      EXPECT_TRUE(got[0].identical(Literal::from(x, {size})));
    }
  }
}

TEST(Indices, AreNotWaitedForWhereTheyAreInside) {
  // The elements that a trip reads depend on each other: a conditional move between them would
  // lengthen the chain, a jump that is not taken does not.
  const Function walk = trace(
      [](Tensor next) {
        return fori_loop(
            0, 100, [&](Tensor, Tensor i) { return next[i]; }, Tensor(0));
      },
      s32({50}));
  const testing::Lowered lowered(walk);
  int bounds = 0;
  for (const lower::Op& op : lowered.program().code) {
    if (op.code != lower::Opcode::kMin && op.code != lower::Opcode::kMax) continue;
    EXPECT_EQ(op.bits, 1u) << "the result is not said to be nearly always the index";
    bounds++;
  }
  EXPECT_EQ(bounds, 2);
  if (const auto native = native_code::compile(lowered.program())) {
    const std::span<const std::byte> bytes = native->code();
    const std::span<const std::uint8_t> code{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                             bytes.size()};
    for (std::size_t at = 0; at < code.size();) {
      const native_code::Decoded instruction = native_code::x86::decode(code.subspan(at), at);
      if (instruction.bytes == 0) break;  // constants follow
      EXPECT_FALSE(instruction.text.starts_with("cmov")) << instruction.text;
      at += instruction.bytes;
    }
  }
  std::vector<std::int32_t> next;
  for (int i = 0; i < 50; i++) next.push_back((i * 7 + 3) % 50);
  int at = 0;
  for (int i = 0; i < 100; i++) at = next[static_cast<std::size_t>(at)];
  const Executable exe = compile(walk, {.executor = Executor::kCompiled});
  EXPECT_EQ(exe.run({Literal::from(next, {50})})[0].item<std::int32_t>(), at);
}

}  // namespace
}  // namespace rondo
