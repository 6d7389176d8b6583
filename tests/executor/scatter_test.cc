// Scatters on the compiled executor: loops over the updates, on the array in place.
#include <cstdint>
#include <vector>

#include "executor/agreement.h"

namespace rondo {
namespace {

using testing::calls_kernels;
using testing::expect_agreement;

std::ptrdiff_t copies(const Function& f) { return testing::Lowered(f).count(lower::Opcode::kCopy); }

const ScatterDims kOneAxis{
    .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};

std::vector<float> values(std::int64_t n) {
  std::vector<float> made;
  for (std::int64_t i = 0; i < n; i++) made.push_back(static_cast<float>(i % 7) - 2.5f);
  return made;
}

TEST(Scatters, AreLoopsOverUpdates) {
  const std::vector<std::int32_t> at{3, 0, 3, -1, 4, 5, 3, 0, 2000000000};
  const std::vector<float> x{1, 2, 3, 4, 5}, by = values(9);
  const auto run = [&](auto combine, auto plain) {
    const Function f =
        trace([&](Tensor x, Tensor at, Tensor by) { return scatter(x, at, by, kOneAxis, combine); },
              f32({5}), s32({9, 1}), f32({9}));
    EXPECT_FALSE(calls_kernels(f));
    std::vector<float> want = x;
    for (std::size_t i = 0; i < at.size(); i++) {
      if (at[i] < 0 || at[i] >= 5) continue;  // dropped
      float& to = want[static_cast<std::size_t>(at[i])];
      to = plain(to, by[i]);
    }
    const auto got = expect_agreement(
        f, {Literal::from(x, {5}), Literal::from(at, {9, 1}), Literal::from(by, {9})});
    EXPECT_TRUE(got[0].identical(Literal::from(want, {5})));
  };
  run([](Tensor a, Tensor b) { return a + b; }, [](float a, float b) { return a + b; });
  run([](Tensor a, Tensor b) { return minimum(a, b); },
      [](float a, float b) { return std::min(a, b); });
  run([](Tensor, Tensor b) { return b; }, [](float, float b) { return b; });
  run([](Tensor a, Tensor b) { return a - 2 * b; },  // in this order
      [](float a, float b) { return a - 2 * b; });
}

TEST(Scatters, AtAKnownPlaceOutsideOfTheArrayWriteNothing) {
  for (const int place : {-2, 3, 2000000000}) {
    const Function f = trace(
        [&](Tensor x) {
          return scatter(x, full(s32({2, 1}), place), x * 2.0f, kOneAxis,
                         [](Tensor, Tensor b) { return b; });
        },
        f32({2}));
    const Literal x = Literal::from<float>({1.5f, -2});
    EXPECT_TRUE(expect_agreement(f, {x})[0].identical(x));
  }
}

TEST(Scatters, AtPlacesThatAreInBoundsByTheirTypeAskNothing) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 600; i++) bytes.push_back(static_cast<std::uint8_t>(i * i % 257));
  for (const std::int64_t bins : {256, 255}) {
    const Function f = trace(
        [&](Tensor bytes) {
          return scatter(zeros(s32({bins})), reshape(bytes, {600, 1}), full(s32({600}), 1),
                         kOneAxis, [](Tensor a, Tensor b) { return a + b; });
        },
        TensorType{DType::kU8, {600}});
    const testing::Lowered lowered(f);
    EXPECT_EQ(lowered.count(lower::Opcode::kIf), bins == 256 ? 0 : 1) << lowered;
    std::vector<std::int32_t> want(static_cast<std::size_t>(bins), 0);
    for (const std::uint8_t byte : bytes)
      if (byte < bins) want[byte]++;
    const auto got = expect_agreement(f, {Literal::from(bytes, {600})});
    EXPECT_TRUE(got[0].identical(Literal::from(want, {bins})));
  }
}

TEST(Scatters, OfWindowsInAllArrangements) {
  struct Case {
    Shape x, at, by;
    ScatterDims dims;
  };
  const std::vector<Case> cases{
      // Rows, then rows whose axis comes first in the updates, short and long ones.
      {{6, 3}, {4, 1}, {4, 3}, {{1}, {0}, {0}, 1}},
      {{6, 3}, {4, 1}, {3, 4}, {{0}, {0}, {0}, 1}},
      {{6, 20}, {4, 1}, {4, 20}, {{1}, {0}, {0}, 1}},
      {{20, 6}, {4, 1}, {20, 4}, {{0}, {1}, {1}, 1}},
      // Windows of 2 by 9 that may not fit, with two index components.
      {{4, 12}, {5, 2}, {5, 2, 9}, {{1, 2}, {}, {0, 1}, 1}},
      {{4, 12}, {2, 5}, {5, 2, 9}, {{1, 2}, {}, {0, 1}, 0}},
      {{4, 12}, {5, 2}, {2, 5, 9}, {{0, 2}, {}, {1, 0}, 1}},
      // Indices of two axes, without an axis of components.
      {{6}, {2, 4}, {2, 4}, {{}, {0}, {0}, 2}},
      // One update; none of the components; a lane for each row.
      {{6, 3}, {1}, {3}, {{0}, {0}, {0}, 0}},
      {{5}, {3, 0}, {3, 5}, {{1}, {}, {}, 1}},
      {{3, 6}, {3, 4, 1}, {3, 4}, {{}, {1}, {1}, 2, {0}, {0}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.x.str() + " at " + c.at.str() + " by " + c.by.str());
    for (const DType dtype : {DType::kF32, DType::kC64, DType::kS8}) {
      const Function f = trace(
          [&](Tensor x, Tensor at, Tensor by) {
            return scatter(convert(x, dtype), at, convert(by, dtype), c.dims,
                           [](Tensor a, Tensor b) { return a + a + b; });
          },
          TensorType{DType::kF32, c.x}, TensorType{DType::kS32, c.at},
          TensorType{DType::kF32, c.by});
      EXPECT_FALSE(calls_kernels(f));
      std::vector<std::int32_t> at;
      for (std::int64_t i = 0; i < c.at.elements(); i++)
        at.push_back(static_cast<std::int32_t>(i * 5 % 9) - 1);
      expect_agreement(f, {Literal::from(values(c.x.elements()), c.x), Literal::from(at, c.at),
                           Literal::from(values(c.by.elements()), c.by)});
    }
  }
}

TEST(Scatters, TakeIndicesOfAnyType) {
  for (const DType dtype : {DType::kU8, DType::kS16, DType::kS64, DType::kU64}) {
    const Function f = trace(
        [&](Tensor x, Tensor at) {
          const Tensor places = concatenate({convert(at, dtype), convert(at - 7, dtype)}, 0);
          return scatter(x, expand_dims(places, 1), ones(f32({10})), kOneAxis,
                         [](Tensor a, Tensor b) { return a + b; });
        },
        f32({250}), s32({5}));
    EXPECT_FALSE(calls_kernels(f));
    expect_agreement(f, {Literal::from(values(250), {250}),
                         Literal::from<std::int32_t>({0, 3, 249, 9, 250}, {5})});
  }
}

TEST(Scatters, ChangeTheArrayOfALoopWhereItStands) {
  const Function f = trace(
      [](Tensor x, Tensor at) {
        return fori_loop(
            0, 20,
            [&](Tensor i, Tensor x) {
              // From the old array, at two positions that are not those that are read.
              return scatter(x, at, take(x, squeeze(at, {1}) + i, 0) + 1, kOneAxis,
                             [](Tensor a, Tensor b) { return a + b; });
            },
            x);
      },
      s32({1000}), s32({2, 1}));
  EXPECT_FALSE(calls_kernels(f));
  EXPECT_EQ(copies(f), 1);  // of the argument, before the loop
  std::vector<std::uint32_t> x(1000);
  for (std::uint32_t i = 0; i < 1000; i++) x[i] = i % 13;
  std::vector<std::int32_t> start(x.begin(), x.end());
  for (std::uint32_t i = 0; i < 20; i++) {
    const std::uint32_t a = x[5 + i] + 1, b = x[990 + std::min(i, 9u)] + 1;
    x[5] += a;
    x[990] += b;
  }
  const std::vector<std::int32_t> want(x.begin(), x.end());
  const auto got = expect_agreement(
      f, {Literal::from(start, {1000}), Literal::from<std::int32_t>({5, 990}, {2, 1})});
  EXPECT_TRUE(got[0].identical(Literal::from(want, {1000})));
}

TEST(Scatters, OfAnArrayByItself) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor y = x * 3;
        const Tensor z =
            scatter(y, expand_dims(y, 1), y, kOneAxis, [](Tensor a, Tensor b) { return a + b; });
        return scatter(z, expand_dims(reverse(z, {0}) % 4, 1), reverse(z, {0}), kOneAxis,
                       [](Tensor a, Tensor b) { return a * b; });
      },
      s32({7}));
  const std::vector<std::int32_t> x{2, 0, 1, 1, 0, 2, 5};
  std::vector<std::int32_t> y, z, want;
  for (const std::int32_t v : x) y.push_back(3 * v);
  z = y;
  for (const std::int32_t v : y) {
    if (v < 7) z[static_cast<std::size_t>(v)] += v;
  }
  want = z;
  for (std::size_t i = 7; i-- > 0;) want[static_cast<std::size_t>(z[i] % 4)] *= z[i];
  const auto got = expect_agreement(f, {Literal::from(x, {7})});
  EXPECT_TRUE(got[0].identical(Literal::from(want, {7})));
}

TEST(Scatters, OfFewBytesInLargeArraysCostWhatTheyWrite) {
  // Each lane has its own position: an update of a vmap.
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 50,
            [](Tensor i, Tensor x) {
              return vmap([&](Tensor row, Tensor lane) { return update(row, lane * 2 + i, i); })(
                  x, arange(3));
            },
            x);
      },
      s32({3, 100}));
  EXPECT_FALSE(calls_kernels(f));
  EXPECT_LE(copies(f), 1);
  std::vector<std::int32_t> want(300, 7);
  for (std::size_t i = 0; i < 50; i++) {
    for (std::size_t lane = 0; lane < 3; lane++)
      want[lane * 100 + lane * 2 + i] = static_cast<std::int32_t>(i);
  }
  const auto got =
      expect_agreement(f, {Literal::from(std::vector<std::int32_t>(300, 7), {3, 100})});
  EXPECT_TRUE(got[0].identical(Literal::from(want, {3, 100})));
}

}  // namespace
}  // namespace rondo
