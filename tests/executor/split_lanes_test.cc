// Lanes in which no index reaches its clamps run apart from the others, and load vectors.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kLanesOfArray = 100;

template <class T>
Tensor numbers_of_lanes() {
  return iota({dtype_of<T>, {kLanesOfArray}}, 0);
}

/// The elements of `x` at index(lane, shift), clamped as every index is, for shifts of all sizes.
template <class T, class Index, class PlainIndex>
void expect_shifted(Index index, PlainIndex plain, const std::vector<T>& shifts) {
  const Literal x = uneven<float>({kLanesOfArray});
  const Function function = trace([&](Tensor x, Tensor shift) { return take(x, index(shift)); },
                                  x.type(), TensorType{dtype_of<T>, {}});
  const Lowered::LaneLoads loads = Lowered(function).loads_in_lanes();
  EXPECT_EQ(loads.gathered, 1);  // in the first and last lanes
  EXPECT_EQ(loads.in_order, 1) << Lowered(function);
  const Executable native = compile(function);
  for (const T shift : shifts) {
    const Literal at = Literal::scalar(shift);
    expect_agreement(function, {x, at});
    const Literal got = native.run({x, at})[0];
    for (std::int64_t lane = 0; lane < kLanesOfArray; lane++) {
      const std::int64_t place = std::clamp<std::int64_t>(plain(lane, shift), 0, kLanesOfArray - 1);
      EXPECT_EQ(got.data<float>()[static_cast<std::size_t>(lane)],
                x.data<float>()[static_cast<std::size_t>(place)])
          << "lane " << lane << ", shift " << +shift;
    }
  }
}

/// Small ones of both signs, those that leave no lane between the clamps, and the largest ones.
template <class T>
std::vector<T> shifts() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all{0, 1, 7, 16, 63, 98, 99, 100, 101, 120, Limits::min(), Limits::max()};
  all.push_back(static_cast<T>(Limits::min() + 50));
  all.push_back(static_cast<T>(Limits::max() - 50));
  if (std::is_signed_v<T>) {
    for (const int shift : {-1, -8, -99, -100, -128}) all.push_back(static_cast<T>(shift));
  }
  return all;
}

template <class T>
void expect_shifts_of_type() {
  const auto wraps = [](std::int64_t number) {
    return static_cast<std::int64_t>(static_cast<T>(number));
  };
  const auto plus = [&](std::int64_t lane, T shift) {
    return wraps(static_cast<std::int64_t>(static_cast<std::uint64_t>(lane) +
                                           static_cast<std::uint64_t>(shift)));
  };
  const auto minus = [&](std::int64_t lane, T shift) {
    return wraps(static_cast<std::int64_t>(static_cast<std::uint64_t>(lane) -
                                           static_cast<std::uint64_t>(shift)));
  };
  const auto reversed = [&](std::int64_t lane, T shift) {
    return wraps(static_cast<std::int64_t>(static_cast<std::uint64_t>(shift) -
                                           static_cast<std::uint64_t>(lane)));
  };
  expect_shifted<T>([](Tensor shift) { return numbers_of_lanes<T>() + shift; }, plus, shifts<T>());
  expect_shifted<T>([](Tensor shift) { return numbers_of_lanes<T>() - shift; }, minus, shifts<T>());
  expect_shifted<T>([](Tensor shift) { return shift - numbers_of_lanes<T>(); }, reversed,
                    shifts<T>());
}

TEST(SplitLanes, HaveTheElementsOfThePlainLoop) {
  expect_shifts_of_type<std::int32_t>();
  expect_shifts_of_type<std::int16_t>();
  expect_shifts_of_type<std::int8_t>();
  expect_shifts_of_type<std::uint32_t>();
  expect_shifts_of_type<std::uint8_t>();
}

TEST(SplitLanes, KnowTheBoundsThatAProgramSets) {
  const auto bounded = [](Tensor shift) {
    return minimum(maximum(numbers_of_lanes<std::int32_t>() - shift, 5), 80);
  };
  const auto plain = [](std::int64_t lane, std::int32_t shift) {
    return std::clamp<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(lane) -
                                                              static_cast<std::uint32_t>(shift)),
                                    5, 80);
  };
  expect_shifted<std::int32_t>(bounded, plain, shifts<std::int32_t>());
}

/// The values of things in a sack, as in a table of dynamic programming.
TEST(SplitLanes, AreInLoops) {
  constexpr std::int64_t kThingsInSack = 12;
  const auto best_values = [&](Tensor sizes, Tensor values) {
    const Tensor size = arange(kLanesOfArray);
    return fori_loop(
        0, kThingsInSack,
        [&](Tensor i, Tensor best) {
          const Tensor rest = take(best, maximum(size - sizes[i], 0));
          return where(size >= sizes[i], maximum(best, rest + values[i]), best);
        },
        zeros(f32({kLanesOfArray})));
  };
  const Function function = trace(best_values, s32({kThingsInSack}), f32({kThingsInSack}));
  EXPECT_EQ(Lowered(function).loads_in_lanes().gathered, 1);
  std::vector<std::int32_t> sizes;
  for (std::int64_t i = 0; i < kThingsInSack; i++)
    sizes.push_back(static_cast<std::int32_t>(5 * i % 37));
  const Literal values = uneven<float>({kThingsInSack});
  std::vector<float> best(kLanesOfArray, 0);
  for (std::size_t i = 0; i < sizes.size(); i++) {
    for (auto size = static_cast<std::int32_t>(kLanesOfArray); size-- > sizes[i];) {
      const auto rest = static_cast<std::size_t>(size - sizes[i]);
      best[static_cast<std::size_t>(size)] =
          std::max(best[static_cast<std::size_t>(size)], best[rest] + values.data<float>()[i]);
    }
  }
  const std::vector<Literal> arguments{Literal::from(sizes, {kThingsInSack}), values};
  expect_agreement(function, arguments);
  expect_equal(compile(function).run(arguments)[0], Literal::from(best, {kLanesOfArray}));
}

/// Both edges of a row are other elements: gathers of one array at two indices.
TEST(SplitLanes, HaveOnePartForSeveralIndices) {
  const auto smoothed = [](Tensor x, Tensor width) {
    const Tensor i = arange(kLanesOfArray);
    return take(x, i - width) + 2 * x + take(x, i + width);
  };
  const Function function = trace(smoothed, f32({kLanesOfArray}), s32({}));
  const Lowered::LaneLoads loads = Lowered(function).loads_in_lanes();
  EXPECT_EQ(loads.gathered, 2);
  EXPECT_EQ(loads.in_order, 4);
  for (const std::int32_t width : {0, 3, 49, 50, 51, 99, 1000, -4})
    expect_agreement(function, {uneven<float>({kLanesOfArray}), Literal::scalar(width)});
}

TEST(SplitLanes, DoNotKeepThreadsFromSharingThem) {
  constexpr std::int64_t kMany = 1 << 21;
  const auto shifted = [](Tensor x, Tensor by) {
    return sqrt(abs(take(x, arange(kMany) - by))) + sin(x);
  };
  const Executable run = compile(trace(shifted, f32({kMany}), s32({})));
  const std::vector<Literal> arguments{uneven<float>({kMany}), Literal::scalar(std::int32_t{77})};
  expect_equal(run.run(arguments, {.threads = 2})[0], run.run(arguments)[0]);
}

}  // namespace
}  // namespace rondo::testing
