// What compile() reports of a program, and what it rejects.
#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "executor/agreement.h"
#include "native/target.h"
#include "support/processor_time.h"
#include "support/sanitized.h"

namespace rondo::testing {
namespace {

/// Of what is thrown.
template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const ExecutionError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Compile, ProgramIsTheLoopsThatRun) {
  const Function f = trace(
      [](Tensor n, Tensor x) {
        return fori_loop(0, n, [](Tensor, Tensor y) { return y * 0.5f; }, x, {.name = "halve"});
      },
      s32(), f32());
  const std::string text = compile(f, {.executor = Executor::kBytecode}).program();
  EXPECT_NE(text.find("bytecode"), std::string::npos) << text;
  EXPECT_NE(text.find("'halve'"), std::string::npos) << text;
  EXPECT_NE(text.find("multiply f32"), std::string::npos) << text;
  const std::string reference = compile(f, {.executor = Executor::kReference}).program();
  EXPECT_NE(reference.find("reference"), std::string::npos) << reference;
}

TEST(Compile, DisassemblyIsThatOfALoop) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor y = while_loop([](Tensor y) { return y < 10; }, [](Tensor y) { return y + 1; },
                                    x, {.name = "up"});
        return while_loop([](Tensor y) { return y > 0; }, [](Tensor y) { return y * 0.5f - 1; },
                          sqrt(y), {.name = "down"});
      },
      f32());
  const Executable compiled = compile(f, {.executor = Executor::kCompiled});
  const std::string all = compiled.disassembly(), down = compiled.disassembly("down");
  ASSERT_EQ(all.empty(), native_code::available_target() == nullptr);
  if (all.empty()) return;
  EXPECT_NE(all.find("sqrt f32"), std::string::npos) << all;
  EXPECT_EQ(down.find("sqrt f32"), std::string::npos) << down;
  EXPECT_NE(all.find(down), std::string::npos);
  EXPECT_NE(down.find("fms f32"), std::string::npos) << down;
  EXPECT_EQ(compiled.disassembly("up").find("fms f32"), std::string::npos);
  EXPECT_EQ(compiled.disassembly("sideways"), "");
  EXPECT_EQ(compile(f, {.executor = Executor::kBytecode}).disassembly(), "");
}

/// Arrays whose size overflows an s64, and some whose size does not.
TEST(Compile, RefusesWhatNoMachineHasMemoryFor) {
  const auto sorted = [](std::int64_t size) {
    return trace([&](Tensor x) { return sum(sort(broadcast_to(x, {size}))); }, f64());
  };
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const std::string text =
        message([&] { (void)compile(sorted(std::int64_t{1} << 61), {.executor = executor}); });
    EXPECT_NE(text.find("2^62 bytes"), std::string::npos) << text;
    // One array, or also the sorted one; guarded memory has pages around it.
    const MemoryPlan plan =
        compile(sorted(std::int64_t{1} << 55), {.executor = executor}).memory_plan();
    EXPECT_GE(plan.arena_bytes, std::int64_t{1} << 58);
    EXPECT_LE(plan.arena_bytes, (std::int64_t{1} << 59) + (1 << 20));
  }
}

#if !defined(RONDO_TEST_SANITIZED)
TEST(Compile, ARunWithoutMemorySaysHowMuchItNeeds) {
  const Function f =
      trace([](Tensor x) { return sum(sort(broadcast_to(x, {std::int64_t{1} << 55}))); }, f64());
  const Executable program = compile(f, {.executor = Executor::kCompiled});
  const std::string text = message([&] { program.run({Literal::scalar(1.0)}); });
  EXPECT_NE(text.find("out of memory"), std::string::npos) << text;
  // The arena, and the executor's own needs: bytecode also stores its values there.
  const std::size_t at = text.find("needs ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::int64_t needed = std::stoll(text.substr(at + 6)),
                     arena = program.memory_plan().arena_bytes;
  EXPECT_GE(needed, arena) << text;
  EXPECT_LE(needed, arena + (1 << 20)) << text;
}
#endif

TEST(Compile, TheMemoryPlanHasTheArena) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor y = sort(x);
        return sum(y * reverse(y, {0}));
      },
      f32({10'000}));
  const MemoryPlan plan = compile(f, {.executor = Executor::kBytecode}).memory_plan();
  EXPECT_TRUE(plan.empty());
  EXPECT_GE(plan.arena_bytes, 40'000);  // the sorted array
  EXPECT_LT(plan.arena_bytes, 3 * 40'000);
  // What a loop keeps for the backward pass is part of it.
  const Function slope =
      trace(grad([](Tensor x) {
              return fori_loop(0, 1000, [](Tensor, Tensor y) { return sin(y); }, x,
                               {.checkpoint = Checkpoint::tape(), .name = "sines"});
            }),
            f32());
  const MemoryPlan kept = compile(slope, {.executor = Executor::kBytecode}).memory_plan();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_GE(kept[0].bytes, 4000);
  EXPECT_GE(kept.arena_bytes, kept[0].bytes);
}

/// A table that only a loop needs is stored where the result will be. Results of one element, and
/// those that are computed by the loop or before it, are not used.
TEST(Compile, TheMemoryOfAResultServesBeforeItIsMade) {
  constexpr std::int64_t kRows = 5000;
  const auto marked = [](Tensor t, bool in_place) {
    return fori_loop(
        0, 20,
        [=](Tensor i, std::pair<Tensor, Tensor> c) {
          const auto& [table, total] = c;
          const Tensor next = in_place ? update(table, i * 3, total + 1) : table * total;
          return std::pair(next, total + table[i * 3 + 3] * 0.25);
        },
        std::pair(t, Tensor(0.5)));
  };
  const auto later = [&](bool in_place) {
    return trace(
        [&](Tensor t) {
          const auto [table, total] = marked(t, in_place);
          return reverse(t, {0}) * total;
        },
        f64({kRows}));
  };
  const auto before = trace(
      [&](Tensor t) {
        const Tensor doubled = t * 2;
        const auto [table, total] = marked(t, true);
        return std::tuple(doubled, table, total);
      },
      f64({kRows}));
  std::vector<double> values(kRows);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = std::sin(static_cast<double>(i));
  const Literal t = Literal::from(values, {kRows});
  const auto arena = [](const Function& f) {
    return compile(f, {.executor = Executor::kBytecode}).memory_plan().arena_bytes;
  };
  EXPECT_LT(arena(later(true)), 8 * kRows);
  // A double buffer, with one half in the result's memory.
  EXPECT_LT(arena(later(false)), 2 * (8 * kRows));
  for (const Function& f : {later(true), later(false), before}) expect_agreement(f, {t});
}

TEST(Compile, AProgramThatTakesMoreMemoryThanItMayIsRefused) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor y = sort(x);
        return sum(y * reverse(y, {0}));
      },
      f32({10'000}));
  CompileOptions options{.executor = Executor::kBytecode, .memory_limit = 10'000};
  try {
    compile(f, options);
    FAIL() << "nothing was thrown";
  } catch (const ExecutionError& error) {
    EXPECT_NE(std::string(error.what()).find("memory_limit"), std::string::npos) << error.what();
  }
  options.memory_limit = 1'000'000;
  EXPECT_NO_THROW(compile(f, options));
}

/// Straight-line scalar code in which nothing folds.
Function straight_line(int ops) {
  return trace(
      [ops](Tensor x, Tensor y) {
        for (int i = 0; i < ops; i += 3) {
          const Tensor z = x * y;
          y = x - y;
          x = z + y;
        }
        return std::pair(x, y);
      },
      f32(), f32());
}

TEST(Compile, TimeAndCodeAreLinearInTheOps) {
  const Function few = straight_line(10'000), many = straight_line(100'000);
  const auto compiles = [](const Function& function, std::int64_t& bytes) {
    return [&] { bytes = compile(function, {.executor = Executor::kCompiled}).bytes(); };
  };
  std::int64_t bytes_of_few = 0, bytes_of_many = 0;
  // Quadratic passes would take 100 times as long.
  EXPECT_LT(testing::growth(compiles(few, bytes_of_few), compiles(many, bytes_of_many), 40), 40);
  EXPECT_LT(bytes_of_many, 11 * bytes_of_few);
}

/// Results of one executable on 16 threads at once, each with different arguments.
void expect_threads_agree(const Function& f, Executor executor) {
  const Executable compiled = compile(f, {.executor = executor});
  std::vector<std::thread> threads;
  std::vector<int> equal(16, 0);
  for (std::size_t t = 0; t < equal.size(); t++) {
    threads.emplace_back([&, t] {
      const Literal x = Literal::from(std::vector<float>(100, static_cast<float>(t)), {100});
      const Literal first = compiled.run({x})[0];
      for (int i = 0; i < 20; i++) equal[t] += compiled.run({x})[0].identical(first);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : equal) EXPECT_EQ(count, 20);
}

TEST(Compile, OneExecutableRunsOnManyThreads) {
  const auto counted = [](Tensor x) {
    return fori_loop(
        0, 50, [](Tensor i, Tensor y) { return sin(y) + convert(i, DType::kF32); }, x);
  };
  // A kernel, an arena that is not part of the stack, and a growing tape.
  const auto grown = [](Tensor x) {
    const Tensor y = sort(concatenate(std::vector<Tensor>(20, x), 0));
    return while_loop([](Tensor z) { return z < 1e5f; }, [](Tensor z) { return z * 1.5f; },
                      sum(y * reverse(y, {0})) + 1, {.checkpoint = Checkpoint::tape()});
  };
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    expect_threads_agree(trace(counted, f32({100})), executor);
    expect_threads_agree(trace(grad(grown), f32({100})), executor);
  }
}

}  // namespace
}  // namespace rondo::testing
