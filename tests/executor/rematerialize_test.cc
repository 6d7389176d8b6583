// Values that several loops read are computed in each of them where that costs little, and stored
// otherwise. The stored value of a program has as many stores in lanes more.
#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <tuple>

#include "executor/agreement.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::Lowered;
using testing::uneven;

constexpr std::int64_t kDown = 48, kAcross = 24, kManyElements = 2000;

/// The number of arrays that a program writes.
std::ptrdiff_t arrays_of(const Function& function) {
  return Lowered(function).count_inside(lower::Opcode::kLanes, lower::Opcode::kStore);
}

Function of_rows(const std::function<std::tuple<Tensor, Tensor>(Tensor, Tensor)>& f) {
  return trace(f, f32({kDown}), f32({kAcross}));
}

void expect_arrays(const Function& f, std::ptrdiff_t arrays) {
  EXPECT_EQ(arrays_of(f), arrays) << Lowered(f);
  expect_agreement(f, {uneven<float>({kDown}), uneven<float>({kAcross})});
}

TEST(Rematerialize, DifferencesOfAllPairs) {
  expect_arrays(of_rows([](Tensor x, Tensor y) {
                  const Tensor off = expand_dims(x, 1) - expand_dims(y, 0);
                  return std::tuple(max(off, {0}), max(transpose(off), {0}));
                }),
                2);
}

TEST(Rematerialize, WhatIsFusedIntoThemAsWell) {
  expect_arrays(of_rows([](Tensor x, Tensor y) {
                  const Tensor off = abs(expand_dims(x, 1) - expand_dims(y, 0));
                  return std::tuple(max(off, {0}), max(transpose(off), {0}));
                }),
                2);
}

// One more op, a division, or a third loop costs more than an array.
TEST(Rematerialize, NotWhatCostsMore) {
  expect_arrays(of_rows([](Tensor x, Tensor y) {
                  const Tensor off = expand_dims(x, 1) / expand_dims(y, 0);
                  return std::tuple(max(off, {0}), max(transpose(off), {0}));
                }),
                3);
  expect_arrays(of_rows([](Tensor x, Tensor y) {
                  const Tensor off = expand_dims(x, 1) - expand_dims(y, 0);
                  const Tensor square = off * off + 0.5f;
                  return std::tuple(max(square, {0}), max(transpose(square), {0}));
                }),
                3);
  expect_arrays(of_rows([](Tensor x, Tensor y) {
                  const Tensor off = expand_dims(x, 1) - expand_dims(y, 0);
                  const Tensor most = max(off, {0}), least = min(off, {0});
                  return std::tuple(most + least, max(transpose(off), {0}));
                }),
                5);
}

// A value that is stored anyway, and one that would be in its place.
TEST(Rematerialize, NotWhatIsAResult) {
  const Function f = trace(
      [](Tensor x, Tensor y) {
        const Tensor off = expand_dims(x, 1) - expand_dims(y, 0);
        return std::tuple(off, max(off, {0}), max(transpose(off), {0}));
      },
      f32({kDown}), f32({kAcross}));
  expect_arrays(f, 3);
}

// Small arrays stay in the first cache.
TEST(Rematerialize, NotFewElements) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor off = expand_dims(x, 1) - expand_dims(x, 0);
        return std::tuple(max(off, {0}), max(transpose(off), {0}));
      },
      f32({24}));
  EXPECT_EQ(arrays_of(f), 3) << Lowered(f);
  expect_agreement(f, {uneven<float>({24})});
}

TEST(Rematerialize, NotWhereAGatherWouldBeStoredInstead) {
  const Function f = trace(
      [](Tensor x, Tensor i) {
        const Tensor twice = 2 * take(x, i);
        return std::tuple(cumsum(twice, 0), cumprod(twice, 0));
      },
      f32({kManyElements}), s32({kManyElements}));
  EXPECT_EQ(arrays_of(f), arrays_of(trace(
                              [](Tensor x, Tensor i) {
                                const Tensor all = take(x, i);
                                return std::tuple(cumsum(all, 0), cumprod(all, 0));
                              },
                              f32({kManyElements}), s32({kManyElements}))))
      << Lowered(f);
}

// An array that is updated in place has another state where the value would be computed again.
TEST(Rematerialize, NotFromArraysThatAreUpdated) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 5,
            [](Tensor i, Tensor x) {
              const Tensor twice = x + x;
              const Tensor first = sum(twice);
              const Tensor next = update(x, i, first);
              return update(next, i + 1, max(twice));
            },
            x);
      },
      f32({kManyElements}));
  EXPECT_EQ(Lowered(f).count_in_loops(lower::Opcode::kCopy), 0) << Lowered(f);
  expect_agreement(f, {uneven<float>({kManyElements})});
}

// Each value is read by the two that follow it: computed again and again, the number of ops would
// grow as the Fibonacci numbers do.
TEST(Rematerialize, NotWithoutBound) {
  const auto ops = [](int length) {
    const Function f = trace(
        [&](Tensor x, Tensor y) {
          for (int i = 0; i < length; i++) {
            const Tensor next = cumsum(x, 0) + y;
            x = y;
            y = next + x;
          }
          return y;
        },
        f32({kManyElements}), f32({kManyElements}));
    return static_cast<double>(Lowered(f).ops());
  };
  EXPECT_LT(ops(40), 2.5 * ops(20));
}

}  // namespace
}  // namespace rondo
