// Sorts of few elements, which are inlined into the loops around them, compared with
// std::stable_sort.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "native/target.h"

namespace rondo::testing {
namespace {

using native_code::available_target;

/// Sorts of few elements are inlined if the machine has native code.
bool sorts_in_loops() { return available_target() != nullptr; }

/// Floats that compare equal but differ in bits, and NaNs that do.
const std::vector<float> kValues{1.5f, -0.0f, 0.0f, std::bit_cast<float>(0x7fc00001u),
                                 std::bit_cast<float>(0xffc00002u)};

/// All sequences of `count` of these values.
std::vector<float> all_lines(std::int64_t count) {
  std::vector<float> lines;
  std::vector<std::size_t> which(static_cast<std::size_t>(count), 0);
  while (true) {
    for (const std::size_t i : which) lines.push_back(kValues[i]);
    auto digit = which.begin();
    while (digit != which.end() && ++*digit == kValues.size()) *digit++ = 0;
    if (digit == which.end()) return lines;
  }
}

/// The positions of a sequence's elements in sorted order.
std::vector<std::int32_t> places_of(const float* line, std::int64_t count, bool descending) {
  std::vector<std::int32_t> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](std::int32_t i, std::int32_t j) {
    const float a = line[descending ? j : i], b = line[descending ? i : j];
    return a < b || (std::isnan(b) && !std::isnan(a));
  });
  return places;
}

std::vector<Tensor> sorted_in_all_ways(const Tensor& x, std::int64_t axis) {
  const Tensor place = iota({DType::kS32, x.shape()}, axis);
  const auto falling =
      sort_by(std::pair(place, x), axis, [](auto a, auto b) { return a.second > b.second; });
  const auto rising = sort_by(std::tuple(x, place * 3, convert(place, DType::kF64)), axis,
                              [](auto a, auto b) { return std::get<0>(a) < std::get<0>(b); });
  return {sort(x, axis),       argsort(x, axis),
          falling.first,       falling.second,
          std::get<1>(rising), std::get<2>(rising),
          std::get<0>(rising), sort_by(x, axis, [](Tensor a, Tensor b) { return b < a; })};
}

void expect_in_order(const std::vector<Literal>& got, const std::vector<float>& lines,
                     std::int64_t count, bool in_columns) {
  const std::int64_t rows = std::ssize(lines) / count;
  std::vector<std::vector<std::uint32_t>> floats;
  for (const std::size_t result :
       {std::size_t{0}, std::size_t{3}, std::size_t{6}, std::size_t{7}}) {
    const auto data = got[result].data<float>();
    std::vector<std::uint32_t>& bits = floats.emplace_back(data.size());
    std::memcpy(bits.data(), data.data(), data.size() * sizeof(float));
  }
  for (std::int64_t row = 0; row < rows; row++) {
    const float* line = lines.data() + row * count;
    const auto up = places_of(line, count, false), down = places_of(line, count, true);
    for (std::int64_t k = 0; k < count; k++) {
      const auto at = static_cast<std::size_t>(in_columns ? k * rows + row : row * count + k);
      const std::int32_t rises = up[static_cast<std::size_t>(k)],
                         falls = down[static_cast<std::size_t>(k)];
      ASSERT_EQ(got[1].data<std::int32_t>()[at], rises) << "line " << row << ", place " << k;
      ASSERT_EQ(got[2].data<std::int32_t>()[at], falls) << "line " << row << ", place " << k;
      ASSERT_EQ(got[4].data<std::int32_t>()[at], 3 * rises);
      ASSERT_EQ(got[5].data<double>()[at], rises);
      ASSERT_EQ(floats[0][at], std::bit_cast<std::uint32_t>(line[rises]));
      ASSERT_EQ(floats[1][at], std::bit_cast<std::uint32_t>(line[falls]));
      ASSERT_EQ(floats[2][at], std::bit_cast<std::uint32_t>(line[rises]));
      ASSERT_EQ(floats[3][at], std::bit_cast<std::uint32_t>(line[falls]));
    }
  }
}

Function traced_sorts(const Shape& shape, std::int64_t axis) {
  return trace([&](Tensor x) { return sorted_in_all_ways(x, axis); },
               TensorType{DType::kF32, shape});
}

TEST(FewSorted, AllLinesOfUpToFive) {
  for (std::int64_t count = 2; count <= 5; count++) {
    const std::vector<float> lines = all_lines(count);
    const std::int64_t rows = std::ssize(lines) / count;
    const Function in_rows = traced_sorts({rows, count}, 1);
    SCOPED_TRACE(in_rows.str());
    const Literal x = Literal::from(lines, {rows, count});
    expect_in_order(expect_agreement(in_rows, {x}), lines, count, false);
    const bool strided = sorts_in_loops() && available_target()->most_lane_stride > 0;
    const std::int64_t most = strided ? 5 : sorts_in_loops() ? 4 : 0;
    EXPECT_EQ(calls_kernels(in_rows), count > most);
    const Function in_columns = traced_sorts({count, rows}, 0);
    expect_in_order(expect_agreement(in_columns, {transpose(Tensor(x)).eval()}), lines, count,
                    true);
    EXPECT_EQ(calls_kernels(in_columns), !sorts_in_loops());
  }
}

TEST(FewSorted, AllLinesOneByOne) {
  for (std::int64_t count = 2; count <= 5; count++) {
    const std::vector<float> lines = all_lines(count);
    const std::int64_t rows = std::ssize(lines) / count;
    const Function f = trace(
        [](Tensor x) { return map([](Tensor line) { return sorted_in_all_ways(line, 0); }, x); },
        f32({rows, count}));
    SCOPED_TRACE(f.str());
    expect_in_order(expect_agreement(f, {Literal::from(lines, {rows, count})}), lines, count,
                    false);
    EXPECT_EQ(calls_kernels(f), !sorts_in_loops());
  }
}

/// Many different numbers, some of them twice.
std::vector<float> few_numbers(std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(static_cast<float>((i * i * 7 + i * 37) % 61) * 0.5f - 9);
  return values;
}

TEST(FewSorted, EveryCountUpToTheKernels) {
  for (std::int64_t count = 1; count <= 18; count++) {
    for (const std::int64_t rows : {1, 3, 37}) {
      const std::vector<float> lines = few_numbers(rows * count);
      for (const std::int64_t axis : {0, 1}) {
        const Literal in_rows = Literal::from(lines, {rows, count});
        const Literal x = axis == 1 ? in_rows : transpose(Tensor(in_rows)).eval();
        const Function f = traced_sorts(x.shape(), axis);
        SCOPED_TRACE(f.str());
        expect_in_order(expect_agreement(f, {x}), lines, count, axis == 0);
        const Function integers =
            trace([&](Tensor x) { return sort(x, axis); }, TensorType{DType::kS32, x.shape()});
        EXPECT_EQ(calls_kernels(integers), count > 16);
      }
    }
  }
}

TEST(FewSorted, EachDtype) {
  for (const DType dtype :
       {DType::kPred, DType::kS8, DType::kS16, DType::kS32, DType::kS64, DType::kU8, DType::kU16,
        DType::kU32, DType::kU64, DType::kF16, DType::kBF16, DType::kF64, DType::kC64}) {
    for (const Shape& shape : {Shape{7}, Shape{5, 4}, Shape{2, 9, 3}, Shape{0, 4}, Shape{1, 1}}) {
      const Literal x =
          convert(Tensor(Literal::from(few_numbers(shape.elements()), shape)), dtype).eval();
      for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
        const Function f = trace(
            [&](Tensor x) {
              const Tensor place = iota({DType::kS64, x.shape()}, axis);
              const auto key = [](const Tensor& a) {
                return is_pred(a.dtype())      ? convert(a, DType::kU8)
                       : is_complex(a.dtype()) ? real(a)
                                               : a;
              };
              const auto pair = sort_by(std::pair(key(x), std::pair(place, x)), axis,
                                        [](auto a, auto b) { return a.first > b.first; });
              return std::tuple(sort(x, axis), argsort(x, axis), pair);
            },
            x);
        SCOPED_TRACE(f.str());
        (void)expect_agreement(f, {x});
      }
    }
  }
  const Literal wide =
      Literal::from<std::uint64_t>({~0ull, 1, 1ull << 63, 0, (1ull << 63) - 1}, {5});
  const auto got = expect_agreement(trace([](Tensor x) { return sort(x); }, wide), {wide});
  const std::vector<std::uint64_t> want{0, 1, (1ull << 63) - 1, 1ull << 63, ~0ull};
  for (std::size_t i = 0; i < want.size(); i++) EXPECT_EQ(got[0].data<std::uint64_t>()[i], want[i]);
}

TEST(FewSorted, InfinitiesOfBothSigns) {
  const float inf = INFINITY;
  const std::vector<float> line{inf, 3, -inf, NAN, -2, inf, -0.0f, -inf};
  for (std::size_t count = 2; count <= line.size(); count++) {
    const std::vector<float> some(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(count));
    const Literal x = Literal::from(some, {std::ssize(some)});
    expect_in_order(expect_agreement(traced_sorts(x.shape(), 0), {x}), some, std::ssize(some),
                    false);
  }
}

TEST(FewSorted, AMedianFilter) {
  constexpr std::int64_t kTrips = 300;
  std::vector<float> signal = few_numbers(kTrips);
  signal[40] = NAN;
  for (const std::int64_t window : {3, 5, 9}) {
    const Function f = trace(
        [&](Tensor signal) {
          return scan(
              [&](Tensor seen, Tensor next) {
                const Tensor now = concatenate({slice(seen, {1}, {window}), reshape(next, {1})}, 0);
                return std::pair(now, sort(now)[window / 2]);
              },
              zeros(f32({window})), signal);
        },
        f32({kTrips}));
    const Lowered lowered(f);
    EXPECT_EQ(lowered.kernel_calls("sort"), sorts_in_loops() ? 0 : 1) << lowered;
    EXPECT_EQ(lowered.loops_in_registers(), sorts_in_loops() ? 1 : 0) << lowered;
    const auto got = expect_agreement(f, {Literal::from(signal, {kTrips})});
    std::vector<float> seen(static_cast<std::size_t>(window), 0.0f);
    for (std::size_t trip = 0; trip < signal.size(); trip++) {
      seen.erase(seen.begin());
      seen.push_back(signal[trip]);
      const auto places = places_of(seen.data(), window, false);
      const float want =
          seen[static_cast<std::size_t>(places[static_cast<std::size_t>(window / 2)])];
      const float median = got[1].data<float>()[trip];
      EXPECT_TRUE(median == want || (std::isnan(median) && std::isnan(want))) << trip;
    }
  }
}

TEST(FewSorted, InEachLane) {
  const Literal x = Literal::from(few_numbers(240), {60, 4});
  const Function f = trace(
      [](Tensor x) {
        return vmap([](Tensor x) {
          return fori_loop(
              0, 9,
              [](Tensor, Tensor x) {
                const Tensor order = argsort(x);
                return sort(x * stack({0.5f, -1.5f, 0.25f, 1.0f}, 0)) + convert(order, DType::kF32);
              },
              x);
        })(x);
      },
      x);
  EXPECT_EQ(runs_by_lane(f), sorts_in_loops()) << Lowered(f);
  (void)expect_agreement(f, {x});
}

TEST(FewSorted, GradientsGoWhereTheElementsCameFrom) {
  for (const std::int64_t count : {3, 8, 12}) {
    const Literal x = Literal::from(few_numbers(count), {count});
    const Function f = trace(
        [&](Tensor x) {
          const Tensor weights = iota(f32({count}), 0) + 1.0f;
          return grad([&](Tensor x) { return sum(weights * sort(x)); })(x);
        },
        x);
    const Literal got = expect_agreement(f, {x})[0];
    const auto places = places_of(x.data<float>().data(), count, false);
    for (std::size_t k = 0; k < places.size(); k++)
      EXPECT_EQ(got.data<float>()[static_cast<std::size_t>(places[k])], static_cast<float>(k + 1));
    const Function in_loop = trace(
        [&](Tensor x) {
          const auto last = [](Tensor x) {
            return sum(square(fori_loop(
                0, 6, [](Tensor, Tensor x) { return sort(x * -0.75f) + x * 0.125f; }, x)));
          };
          return std::pair(grad(last)(x), jvp(last, std::tuple(x), std::tuple(x * 0.5f + 1.0f)));
        },
        x);
    (void)expect_agreement(in_loop, {x});
    if (count <= 8) {
      const Lowered lowered(in_loop);
      EXPECT_EQ(lowered.loops_through_memory() == 0, sorts_in_loops()) << lowered;
    }
  }
}

}  // namespace
}  // namespace rondo::testing
