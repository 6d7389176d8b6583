// Rows and blocks of an array that does not change are read in place; others are copied.
#include <tuple>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

using lower::Opcode;

constexpr std::int64_t kTableRows = 6, kTableColumns = 40;

Literal view_table() { return ramp({kTableRows, kTableColumns}, 0.25f, -20); }

/// The sum of the first `n` elements, in sequence.
Tensor sum_of_first(Tensor row, Tensor n) {
  return fori_loop(
      0, n, [&](Tensor i, Tensor s) { return s * 0.5f + row[i]; }, Tensor(0.0f));
}

TEST(Views, ARowThatAnInnerLoopReads) {
  const auto f = [](Tensor table) {
    return fori_loop(
        0, kTableRows,
        [&](Tensor i, Tensor s) {
          return s + sum_of_first(table[i], i) - sum_of_first(table[kTableRows - 1 - i], 3);
        },
        Tensor(0.0f));
  };
  const Function function = trace(f, f32({kTableRows, kTableColumns}));
  const Literal elements = view_table();
  const float got = expect_agreement(function, {elements})[0].item<float>();
  const auto values = elements.data<float>();
  const auto first = [&](std::int64_t row, std::int64_t n) {
    float s = 0;
    for (std::int64_t i = 0; i < n; i++)
      s = s * 0.5f + values[static_cast<std::size_t>(row * kTableColumns + i)];
    return s;
  };
  float want = 0;
  for (std::int64_t i = 0; i < kTableRows; i++)
    want = want + first(i, i) - first(kTableRows - 1 - i, 3);
  EXPECT_EQ(got, want);
  const Lowered lowered(function);
  EXPECT_EQ(lowered.count(Opcode::kView), 2) << lowered;
  EXPECT_EQ(lowered.count(Opcode::kLanes), 0) << lowered;
}

TEST(Views, OfWhatWasComputedBeforeTheLoop) {
  const auto f = [](Tensor table) {
    const Tensor roots = sqrt(abs(table));
    return fori_loop(
        0, kTableRows, [&](Tensor i, Tensor s) { return s + sum_of_first(roots[i], i + 1); },
        Tensor(0.0f));
  };
  const Function function = trace(f, f32({kTableRows, kTableColumns}));
  expect_agreement(function, {view_table()});
  EXPECT_EQ(Lowered(function).count(Opcode::kView), 1) << Lowered(function);
}

TEST(Views, OfATableThatTheLoopWritesAreCopies) {
  const auto f = [](Tensor table) {
    return fori_loop(
        0, 2 * kTableRows,
        [](Tensor i, Tensor table) {
          const Tensor row = table[i % kTableRows];
          const Tensor changed = update(table, i % kTableRows, row * 0.5f + 1.0f);
          const Tensor before = sum_of_first(row, 7),
                       now = sum_of_first(changed[i % kTableRows], 7);
          return update(changed, {(i + 1) % kTableRows, i}, before - now);
        },
        table);
  };
  const Function function = trace(f, f32({kTableRows, kTableColumns}));
  expect_agreement(function, {view_table()});
  EXPECT_EQ(Lowered(function).count(Opcode::kView), 0) << Lowered(function);
}

/// Values that are carried or returned are not read in place.
TEST(Views, ThatAreCarriedOrReturned) {
  const auto f = [](Tensor table) {
    const auto [row, other, last] = fori_loop(
        0, kTableRows - 1,
        [&](Tensor i, Tensor row, Tensor other, Tensor) {
          const Tensor here = table[i + 1];
          return std::tuple(other, update(here, i, sum_of_first(row, 5)), here);
        },
        std::tuple(table[0], table[1], table[2]));
    const Tensor chosen = cond(
        row[3] < 0.0f, [&] { return table[4]; },
        [&] { return table[5] + sum_of_first(table[1], 3); });
    return std::tuple(row, other, last, chosen, table[3], table[3]);
  };
  expect_agreement(trace(f, f32({kTableRows, kTableColumns})), {view_table()});
}

TEST(Views, StartsOutsideAreClamped) {
  const auto f = [](Tensor table, Tensor starts) {
    return fori_loop(
        0, starts.dim(0),
        [&](Tensor i, Tensor s) {
          const Tensor block = dynamic_slice(table, {starts[i], 0}, {2, kTableColumns});
          return s + fori_loop(
                         0, 2, [&](Tensor j, Tensor s) { return s + sum_of_first(block[j], 9); },
                         Tensor(0.0f));
        },
        Tensor(0.0f));
  };
  const Function function = trace(f, f32({kTableRows, kTableColumns}), s32({5}));
  expect_agreement(function,
                   {view_table(), Literal::from<std::int32_t>({-7, 0, 3, 5, 2000000000}, {5})});
  EXPECT_GE(Lowered(function).count(Opcode::kView), 1) << Lowered(function);
}

TEST(Views, KernelsReadThem) {
  const auto f = [](Tensor table) {
    return fori_loop(
        0, kTableRows,
        [&](Tensor i, Tensor s) { return s + sort(table[i]) * sum(table[kTableRows - 1 - i]); },
        zeros(f32({kTableColumns})));
  };
  const Function function = trace(f, f32({kTableRows, kTableColumns}));
  expect_agreement(function, {view_table()});
  const Lowered lowered(function);
  EXPECT_GE(lowered.count(Opcode::kView), 1) << lowered;
  EXPECT_EQ(lowered.kernel_calls("sort"), 1) << lowered;
}

TEST(Views, OfOtherTypes) {
  for (DType dtype : {DType::kPred, DType::kS8, DType::kBF16, DType::kF64, DType::kC64}) {
    const auto f = [&](Tensor table) {
      return fori_loop(
          0, kTableRows,
          [&](Tensor i, Tensor s) {
            const Tensor row = table[i];
            return fori_loop(
                0, i, [&](Tensor j, Tensor s) { return where(s == row[j], s, row[j + 1]); }, s);
          },
          convert(Tensor(0), dtype));
    };
    const Literal values = convert(Tensor(view_table()), dtype).eval();
    const Function function = trace(f, values.type());
    for (Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      const Literal got =
          compile(function, {.executor = executor}).run(std::vector<Literal>{values})[0];
      EXPECT_TRUE(got.identical(compile(function, {.executor = Executor::kReference})
                                    .run(std::vector<Literal>{values})[0]))
          << dtype_name(dtype) << ' ' << got.str();
    }
  }
}

// A trip costs what it reads, not the whole row that contains it.
TEST(Views, ALongRowIsNotCopied) {
  const Function function = trace(
      [&](Tensor table) {
        return fori_loop(
            0, 4000, [&](Tensor i, Tensor s) { return s + sum_of_first(table[i % 16], 2); },
            Tensor(0.0f));
      },
      f32({16, 1 << 15}));
  const Executable executable = compile(function, {.executor = Executor::kBytecode});
  EXPECT_EQ(executable.memory_plan().arena_bytes, 0);
  const Lowered lowered(function);
  for (const Opcode copies : {Opcode::kLanes, Opcode::kCopy, Opcode::kCall})
    EXPECT_EQ(lowered.count(copies), 0) << lowered;
}

}  // namespace
}  // namespace rondo::testing
