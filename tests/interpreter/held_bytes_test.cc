// The memory that executables report to hold, compared with what was allocated for them and not
// released.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "gtest/gtest.h"
#include "native/code_memory.h"
#include "rondo/rondo.h"
#include "support/allocations.h"

#if !defined(RONDO_TEST_SANITIZED)

namespace rondo::testing {
namespace {

/// By this thread and as machine code.
std::int64_t held_now() {
  release_cached_memory();
  return held_bytes + static_cast<std::int64_t>(native_code::code_bytes_in_use());
}

struct Program {
  std::string name;
  Function function;
};

std::vector<Program> programs() {
  const TensorType v = f32({8}), matrix = f32({64, 64}), table = f32({1000});
  std::vector<Program> all;
  all.push_back({"a product and a sum", trace([](Tensor a, Tensor b) { return a * b + a; }, v, v)});
  all.push_back({"20 sines", trace(
                                 [](Tensor x) {
                                   for (int i = 0; i < 20; i++) x = sin(x);
                                   return x;
                                 },
                                 v)});
  all.push_back({"200 ops", trace(
                                [](Tensor x, Tensor y) {
                                  for (int i = 0; i < 100; i++) x = x * y + y;
                                  return x;
                                },
                                v, v)});
  all.push_back({"fori_loop", trace(
                                  [](Tensor x) {
                                    return fori_loop(
                                        0, 10, [](Tensor, Tensor y) { return y * 2.0f + 1.0f; }, x);
                                  },
                                  v)});
  all.push_back({"while_loop", trace(
                                   [](Tensor x) {
                                     return while_loop([](Tensor y) { return sum(y) < 100.0f; },
                                                       [](Tensor y) { return y * 2.0f + 1.0f; }, x);
                                   },
                                   v)});
  all.push_back({"sort and a constant", trace(
                                            [](Tensor x) {
                                              std::vector<float> values(1000);
                                              for (std::size_t i = 0; i < 1000; i++)
                                                values[i] = static_cast<float>(i * i);
                                              return sort(x) * Literal::from(values);
                                            },
                                            table)});
  all.push_back({"products", trace([](Tensor a, Tensor b) { return matmul(matmul(a, b), a); },
                                   matrix, matrix)});
  all.push_back(
      {"reductions", trace([](Tensor x) { return std::pair(sum(x, 0), max(x)); }, matrix)});
  all.push_back(
      {"a derivative", trace(
                           [](Tensor x) {
                             return grad([](Tensor y) {
                               return sum(fori_loop(
                                   0, 10, [](Tensor, Tensor z) { return sin(z) * 2.0f; }, y));
                             })(x);
                           },
                           v)});
  all.push_back({"50 branches", trace(
                                    [](Tensor i, Tensor x) {
                                      std::vector<std::function<Tensor(Tensor)>> branches;
                                      for (int k = 0; k < 50; k++) {
                                        branches.emplace_back([k](const Tensor& y) {
                                          return y * (static_cast<float>(k) + 0.5f);
                                        });
                                      }
                                      return switch_case(i, branches, x);
                                    },
                                    s32(), f32())});
  return all;
}

void expect_close(std::int64_t said, std::int64_t held, const std::string& of) {
  EXPECT_GT(static_cast<double>(said), 0.8 * static_cast<double>(held)) << of << ": " << held;
  EXPECT_LT(static_cast<double>(said), 1.2 * static_cast<double>(held)) << of << ": " << held;
}

TEST(HeldBytes, AreWhatAnExecutableHolds) {
  for (const Executor executor : {Executor::kCompiled, Executor::kBytecode, Executor::kReference}) {
    const std::size_t count = programs().size();
    for (std::size_t i = 0; i < count; i++) {
      const auto made = [&] {
        // The function is released with the executable compiled from it.
        Executable executable = compile(programs()[i].function, {.executor = executor});
        std::vector<Literal> arguments;
        for (const TensorType& type : executable.function().params())
          arguments.push_back(Literal::zeros(type));
        executable.run(arguments);  // which leaves memory for the next run
        return executable;
      };
      static_cast<void>(made());  // what is created only once
      const std::int64_t before = held_now();
      const Executable executable = made();
      const std::int64_t held = held_now() - before;
      expect_close(
          executable.bytes(), held,
          programs()[i].name + " on executor " + std::to_string(static_cast<int>(executor)));
    }
  }
}

/// Fills the cache by `fill`, as the only user, and compares.
template <class Fill>
void expect_cache_counts(const std::string& of, const Fill& fill) {
  fill();  // what is created only once
  clear_executable_cache();
  const std::int64_t before = held_now();
  fill();
  const std::int64_t held = held_now() - before;
  expect_close(executable_cache().bytes, held, of);
  clear_executable_cache();
}

TEST(HeldBytes, OfTheCacheAreThoseOfJittedFunctions) {
  const auto small = jit([](Tensor x) { return x * 2.0f + 1.0f; });
  expect_cache_counts("small functions", [&] {
    for (int n = 1; n <= 100; n++) small(zeros(f32({n}))).eval();
  });
  const auto loops = jit([](Tensor x) {
    return fori_loop(
        0, 10, [](Tensor, Tensor y) { return sin(y) + 1.0f; }, x);
  });
  expect_cache_counts("loops", [&] {
    for (int n = 1; n <= 30; n++) loops(zeros(f32({n}))).eval();
  });
}

TEST(HeldBytes, OfTheCacheAreThoseOfLazyGraphs) {
  expect_cache_counts("lazy graphs", [] {
    for (int n = 1; n <= 100; n++) {
      Tensor x = Literal::zeros(f32({n}));
      for (int i = 0; i < 5; i++) x = x * 2.0f + 1.0f;
      x.eval();
    }
  });
}

}  // namespace
}  // namespace rondo::testing

#endif
