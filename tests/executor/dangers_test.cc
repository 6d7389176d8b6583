// The most likely errors of loops over arrays: carries that share memory, tails of blocks, lanes
// that stop at different trips. Arrays of every length around the blocks.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

// Beyond a block of 64 lanes, and each mask of a tail.
constexpr std::int64_t kLongest = 67;

Literal wave(std::int64_t size, double phase) {
  std::vector<double> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = std::sin(static_cast<double>(i) * 0.7 + phase) * 3;
  return Literal::from(values, {size});
}

Literal small(int n) { return Literal::scalar(std::int32_t{n}); }

using Three = std::tuple<Tensor, Tensor, Tensor>;

/// Carries that are permuted, unchanged, or start as one array; slices and reductions of them.
TEST(Dangers, CarriesThatShareMemory) {
  const auto f = [](Tensor x, Tensor y, Tensor n) {
    const std::int64_t size = x.shape()[0];
    const auto [a, b, c] = fori_loop(
        0, n,
        [&](Tensor i, Three carry) {
          const auto& [a, b, c] = carry;
          const Tensor turned = reverse(a, {0}) + b * 0.5;
          const Tensor shifted =
              size > 2 ? concatenate({slice(c, {1}, {size}), slice(c, {0}, {1})}, 0) : c;
          return Three(b, shifted, turned + sum(c) * convert(i, DType::kF64) * 0.125);
        },
        Three(x, x, y));
    const auto [d, e] = fori_loop(
        0, n, [](Tensor, std::pair<Tensor, Tensor> c) { return std::pair(c.second, c.first); },
        std::pair(a, b));
    return std::tuple(d, e, c, a);
  };
  for (std::int64_t size = 1; size <= kLongest; size += size < 10 ? 1 : 19) {
    const Function traced = trace(f, f64({size}), f64({size}), s32());
    for (const int n : {0, 1, 2, 5}) {
      SCOPED_TRACE(::testing::Message() << size << " elements, " << n << " trips");
      expect_agreement(traced, {wave(size, 0.1), wave(size, 1.3), small(n)});
    }
  }
}

/// In-place updates of arrays that are read as a slice, or as a whole, before and after.
TEST(Dangers, SlicesOfCarriesThatAreWrittenInPlace) {
  const auto f = [](Tensor x, Tensor n) {
    const std::int64_t size = x.shape()[0], half = size / 2;
    return fori_loop(
        0, n,
        [&](Tensor i, std::pair<Tensor, Tensor> c) {
          const auto& [t, s] = c;
          const Tensor moved = update(t, i, t[i + half] + sum(slice(t, {half}, {size})) * s);
          const Tensor again = update(moved, size - 1 - i, t[i] - moved[i + 1]);
          return std::pair(again, s * 0.5 + max(slice(moved, {0}, {half + 1})) + again[half]);
        },
        std::pair(x, Tensor(0.25)));
  };
  for (std::int64_t size = 2; size <= kLongest; size += size < 10 ? 1 : 13) {
    const Function traced = trace(f, f64({size}), s32());
    for (const int n : {0, 1, 3, 8}) {
      SCOPED_TRACE(::testing::Message() << size << " elements, " << n << " trips");
      expect_agreement(traced, {wave(size, 0.4), small(n)});
    }
  }
}

/// A different number of trips in each lane, zero for some; loops and reductions inside.
TEST(Dangers, LanesThatStopAtDifferentTrips) {
  const auto f = [](Tensor x, Tensor n) {
    const auto lane = [](Tensor x, Tensor n) {
      const auto [i, last] =
          while_loop([&](Tensor i, Tensor) { return i < n; },
                     [](Tensor i, Tensor y) { return std::pair(i + 1, y * 1.25 - y * y * 0.125); },
                     std::pair(Tensor(0), x));
      const Tensor row = fori_loop(
          0, n - 2, [&](Tensor i, Tensor r) { return r * 0.5 + convert(i, DType::kF64) * x; },
          arange(3, DType::kF64) + last);
      return std::tuple(last, sum(row * row), i);
    };
    return vmap(lane)(x, n);
  };
  for (std::int64_t size = 1; size <= kLongest; size++) {
    const Function traced = trace(f, f64({size}), s32({size}));
    std::vector<std::int32_t> trips(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < trips.size(); i++) trips[i] = static_cast<std::int32_t>(i * 5 % 7);
    SCOPED_TRACE(size);
    expect_agreement(traced, {wave(size, 0.2), Literal::from(trips, {size})});
  }
}

/// Every pair of dtypes, at every length of a tail.
TEST(Dangers, ConversionsAtEveryLength) {
  const std::vector<DType> all{DType::kPred, DType::kS8,  DType::kS16, DType::kS32, DType::kS64,
                               DType::kU8,   DType::kU16, DType::kU32, DType::kU64, DType::kF16,
                               DType::kBF16, DType::kF32, DType::kF64};
  for (const DType from : all) {
    const auto f = [&](Tensor x) {
      const Tensor given = convert(x, from);
      std::vector<Tensor> made;
      for (const DType to : all) made.push_back(convert(given, to));
      return made;
    };
    for (std::int64_t size = 0; size <= kLongest; size += size % 9 == 4 ? 5 : 1) {
      SCOPED_TRACE(::testing::Message() << dtype_name(from) << ", " << size << " elements");
      const Function traced = trace(f, f64({size}));
      const std::vector<Literal> arguments{wave(size, 0.9)};
      const auto want = compile(traced, {.executor = Executor::kReference}).run(arguments);
      for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
        const auto got = compile(traced, {.contract = false, .executor = executor}).run(arguments);
        for (std::size_t i = 0; i < got.size(); i++)
          ASSERT_TRUE(got[i].identical(want[i])) << dtype_name(all[i]) << got[i].str();
      }
    }
  }
}

}  // namespace
}  // namespace rondo::testing
