// Gathers on the compiled executor: loops that read at positions from an array of indices.
#include <algorithm>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

Literal gather_table(const TensorType& type) {
  return compile(trace([&] {
                   return convert(
                       reshape(iota({DType::kS32, Shape({type.elements()})}, 0),
                               std::vector<std::int64_t>(type.shape.begin(), type.shape.end())) *
                               3 -
                           7,
                       type.dtype);
                 }),
                 {.optimize = false})
      .run({})[0];
}

template <class T>
Literal indices(std::vector<T> values, std::vector<std::int64_t> dims) {
  return Literal::from(std::move(values), Shape(dims));
}

template <class F>
void check_gather(F f, const Literal& x, const Literal& at) {
  const Function function = trace(f, x.type(), at.type());
  EXPECT_FALSE(calls_kernels(function));
  expect_agreement(function, {x, at});
}

TEST(Gathers, ElementsAndRows) {
  const auto elements = [](Tensor x, Tensor i) { return take(x, i, 0); };
  const std::vector<int> at{3, 0, -2, 100, 6, 6, 1};
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kU8, DType::kC64,
                            DType::kC128, DType::kS64}) {
    check_gather(elements, gather_table({dtype, {7}}), indices(at, {7}));
    check_gather(elements, gather_table({dtype, {7, 5}}), indices(at, {7}));
    check_gather(elements, gather_table({dtype, {7, 1, 40}}), indices(at, {7}));
  }
  check_gather(elements, gather_table(f32({7})),
               indices<std::int64_t>({INT64_MIN, INT64_MAX, 4}, {3}));
  check_gather(elements, gather_table(f32({7})), indices<std::uint64_t>({UINT64_MAX, 2, 6}, {3}));
  check_gather(elements, gather_table(f32({300})), indices<std::uint8_t>({255, 0, 7}, {3}));
  check_gather([](Tensor x, Tensor i) { return take(x, i, 1) + 1; }, gather_table(f32({4, 7})),
               indices(at, {7}));
  check_gather([](Tensor x, Tensor i) { return take(x * 2, i + 1, 0) * 3; },
               gather_table(f32({7, 3})), indices(at, {7}));
}

TEST(Gathers, AtStackedPlacesAreOneLoop) {
  const Literal table = gather_table({DType::kU8, {64}});
  const Literal numbers = indices<std::uint32_t>({0, 4095, 1234, 77, 640, 2222, 3001}, {7});
  const Function f = trace(
      [](Tensor table, Tensor numbers) {
        // Of more work than to be computed for each part.
        const Tensor word = (numbers / 3u + numbers / 7u * 5u) & 4095u;
        return take(table, stack(1, word >> 6, word & 63u));
      },
      table.type(), numbers.type());
  EXPECT_EQ(Lowered(f).count(lower::Opcode::kLanes), 1) << Lowered(f);
  EXPECT_EQ(Lowered(f).count(lower::Opcode::kDivide), 2) << Lowered(f);
  EXPECT_EQ(Lowered(f).arena_bytes(), 0) << Lowered(f);
  const std::vector<Literal> got = expect_agreement(f, {table, numbers});
  for (std::size_t i = 0; i < 7; i++) {
    const std::uint32_t number = numbers.data<std::uint32_t>()[i];
    const std::uint32_t word = (number / 3 + number / 7 * 5) & 4095;
    EXPECT_EQ(got[0].data<std::uint8_t>()[2 * i], table.data<std::uint8_t>()[word >> 6]);
    EXPECT_EQ(got[0].data<std::uint8_t>()[2 * i + 1], table.data<std::uint8_t>()[word & 63]);
  }
  // Several components, each from another part.
  check_gather(
      [](Tensor x, Tensor i) {
        const Tensor places = concatenate({i + 1, 4 - i}, 1);
        return gather(x, places, {{}, {0, 1}, {0, 1}, 1, {}, {}}, {1, 1});
      },
      gather_table(f32({5, 6})), indices<int>({0, 1, 4, 5, -3}, {5, 1}));
}

TEST(Gathers, WindowsAndManyComponents) {
  const Literal x = gather_table(f32({5, 6, 4}));
  const auto windows = [](GatherDims dims, std::vector<std::int64_t> sizes) {
    return [=](Tensor x, Tensor i) { return gather(x, i, dims, sizes); };
  };
  const Literal pairs = indices<int>({0, 1, 4, 5, -3, 9, 2, 2}, {4, 2});
  check_gather(windows({{1}, {0, 1}, {0, 1}, 1, {}, {}}, {1, 1, 4}), x, pairs);
  check_gather(windows({{1, 2}, {0}, {1, 0}, 1, {}, {}}, {1, 3, 2}), x, pairs);
  check_gather(windows({{0, 2, 3}, {}, {2, 0}, 1, {}, {}}, {2, 3, 1}), x, pairs);
  check_gather(windows({{1}, {0, 1}, {0, 1}, 0, {}, {}}, {1, 1, 4}), x,
               indices<int>({0, 4, -3, 1, 5, 9}, {2, 3}));
  // One slice for each element of an axis that both have.
  check_gather(windows({{1}, {1}, {1}, 1, {0}, {0}}, {1, 1, 2}), x,
               indices<int>({5, 0, 7, 3, -1}, {5, 1}));
}

TEST(Gathers, OfOneValue) {
  const auto same = [](Tensor, Tensor i) { return take(full(f32({9}), 1.5), i, 0) * 2; };
  check_gather(same, gather_table(f32({2})), indices<int>({3, 0, 20}, {3}));
  const auto shifted = [](Tensor x, Tensor i) {
    return fori_loop(
        0, 4, [&](Tensor, Tensor i) { return i + take(reshape(x, {7}), i, 0); }, i);
  };
  check_gather(shifted, gather_table(s32({7, 1})), indices<int>({3, 0, 20, 1, 1, 5, -1}, {7}));
}

TEST(Gathers, OfNothing) {
  const Function none =
      trace([](Tensor x, Tensor i) { return take(x, i, 0); }, f32({0, 3}), s32({0}));
  expect_agreement(none, {Literal::zeros(f32({0, 3})), Literal::zeros(s32({0}))});
}

// An update in place must not overwrite what a gather of the same array still reads.
TEST(Gathers, OfAnArrayThatIsUpdated) {
  const Function permuted = trace(
      [](Tensor x, Tensor i) {
        return fori_loop(
            0, 5, [&](Tensor, Tensor x) { return take(x, i, 0) + update(x * 0, 2, x[1]); }, x);
      },
      f32({7}), s32({7}));
  expect_agreement(permuted, {gather_table(f32({7})), indices<int>({6, 5, 4, 3, 2, 1, 0}, {7})});
  const Function part = trace(
      [](Tensor x, Tensor i) {
        return fori_loop(
            0, 5, [&](Tensor, Tensor x) { return dynamic_update_slice(x, take(x, i, 0), {2}); }, x);
      },
      f32({7}), s32({3}));
  expect_agreement(part, {gather_table(f32({7})), indices<int>({4, 2, 0}, {3})});
}

// Searches in one table, written for arrays: each lane reads at its current position.
TEST(Gathers, InLoopsThatRunByLane) {
  for (const std::int64_t lanes : {3, 16, 70, 200}) {
    std::vector<float> sorted, wanted;
    for (int i = 0; i < 200; i++) sorted.push_back(static_cast<float>(i) * 1.5f);
    for (std::int64_t i = 0; i < lanes; i++)
      wanted.push_back(static_cast<float>((i * 67) % 320) - 9.25f);
    const auto search = [](Tensor sorted, Tensor wanted) {
      const Tensor zero = convert(wanted * 0, DType::kS32);
      auto [low, high] = while_loop([](Tensor low, Tensor high) { return any(low < high); },
                                    [&](Tensor low, Tensor high) {
                                      const Tensor middle = (low + high) / 2, on = low < high,
                                                   less = take(sorted, middle, 0) < wanted;
                                      return std::tuple(where(on & less, middle + 1, low),
                                                        where(on & !less, middle, high));
                                    },
                                    std::tuple(zero, zero + 200));
      return low;
    };
    const Literal x = Literal::from(sorted, {200}), y = Literal::from(wanted, {lanes});
    const Function function = trace(search, x.type(), y.type());
    const auto got = expect_agreement(function, {x, y})[0];
    for (std::size_t i = 0; i < wanted.size(); i++) {
      EXPECT_EQ(got.data<std::int32_t>()[i],
                std::lower_bound(sorted.begin(), sorted.end(), wanted[i]) - sorted.begin());
    }
    if (lanes != 200) {
      EXPECT_TRUE(runs_by_lane(function)) << Lowered(function);
    }
  }
}

// Each lane reads a row of its own at an index of its own.
TEST(Gathers, OfRowsOfTheLanes) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kS32, DType::kU8}) {
    const Literal x = gather_table({dtype, {67, 5}});
    std::vector<int> at;
    for (int lane = 0; lane < 67; lane++) at.push_back(lane * 7 % 11 - 3);
    const auto read = [](Tensor row, Tensor i) {
      const auto step = [&](Tensor, Tensor i, Tensor sum) {
        return std::tuple(i + 2 - 5 * convert(i > 4, DType::kS32), sum + row[i]);
      };
      return std::get<1>(fori_loop(0, 9, step, std::tuple(i, row[0])));
    };
    const Function function =
        trace([&](Tensor x, Tensor i) { return vmap(read)(x, i); }, x.type(), s32({67}));
    EXPECT_TRUE(runs_by_lane(function)) << Lowered(function);
    expect_agreement(function, {x, Literal::from(at, {67})});
  }
}

TEST(Gathers, OfLanesBySeveralComponents) {
  // Each lane walks through an array by two indices of its own, which leave it on all sides.
  const Literal x = gather_table({DType::kF32, {9, 13}});
  for (const std::int64_t lanes : {8, 9, 31, 67}) {
    const auto walk = [](Tensor x, Tensor from) {
      const auto step = [&](Tensor, Tensor i, Tensor j, Tensor sum) {
        const Tensor here = at(x, {i, j}), beside = x[i][j - 1];
        return std::tuple(i + 3, j - convert(here > 20, DType::kS32) * 5, sum + here - beside / 4);
      };
      const auto [i, j, total] = fori_loop(0, 12, step, std::tuple(from, from * 2, Tensor(0.5f)));
      return total;
    };
    std::vector<int> starts;
    for (int lane = 0; lane < lanes; lane++) starts.push_back(lane * 7 % 23 - 8);
    const Literal from = Literal::from(starts, {lanes});
    const Function function = trace(
        [&](Tensor x, Tensor from) {
          return vmap(walk, {.in_axes = {std::nullopt, 0}})(x, from);
        },
        x.type(), from.type());
    EXPECT_TRUE(runs_by_lane(function)) << Lowered(function);
    const Literal got = expect_agreement(function, {x, from})[0];
    for (std::size_t lane = 0; lane < starts.size(); lane++) {
      const auto element = [&](int i, int j) {
        const auto row = static_cast<std::size_t>(std::clamp(i, 0, 8)),
                   column = static_cast<std::size_t>(std::clamp(j, 0, 12));
        return x.data<float>()[row * 13 + column];
      };
      int i = starts[lane], j = i * 2;
      float sum = 0.5f;
      for (int trip = 0; trip < 12; trip++) {
        const float here = element(i, j), beside = element(i, j - 1);
        i += 3;
        if (here > 20) j -= 5;
        sum = sum + here - beside / 4;
      }
      EXPECT_NEAR(got.data<float>()[lane], sum, 1e-4f) << lane;
    }
  }
}

}  // namespace
}  // namespace rondo::testing
