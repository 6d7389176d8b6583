// Loops that are interchanged with loops over the axes of what they carry, because they read arrays
// at other indices along several axes: windows that move from trip to trip, rows and columns.
#include <gmock/gmock.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"
#include "support/derivative_check.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::Lowered;
using testing::uneven;

/// Expects that all loops of the function are in lanes along several axes.
void expect_in_axes(const Function& function) {
  const Lowered lowered(function);
  EXPECT_TRUE(lowered.is_vectorized()) << lowered;
  EXPECT_GE(lowered.loops_in_nests(), 1) << lowered;
  EXPECT_EQ(lowered.loops_through_memory(), 0) << lowered;
  EXPECT_EQ(lowered.count_in_loops(lower::Opcode::kStore), 0) << lowered;
}

/// Sums over windows of 4 x 3 elements.
template <class T>
Function box_sums(std::int64_t rows, std::int64_t columns) {
  const DType dtype = dtype_of<T>;
  const auto f = [=](Tensor x) {
    return fori_loop(
        0, 12,
        [&](Tensor k, Tensor total) {
          return total + dynamic_slice(x, {k / 3, k % 3}, {rows, columns});
        },
        zeros({dtype, {rows, columns}}));
  };
  return trace(f, TensorType{dtype, {rows + 3, columns + 2}});
}

TEST(LaneAxes, CarryTheSumsOfMovingWindowsInRegisters) {
  for (const std::int64_t columns : {8, 9, 15, 16, 17, 31, 33, 64, 65, 130}) {
    for (const std::int64_t rows : {2, 5}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
      const Function f = box_sums<float>(rows, columns);
      expect_in_axes(f);
      const Literal x = uneven<float>({rows + 3, columns + 2});
      const std::vector<Literal> got = expect_agreement(f, {x});
      const auto from = x.data<float>(), sums = got[0].data<float>();
      for (std::int64_t i = 0; i < rows; i++) {
        for (std::int64_t j = 0; j < columns; j++) {
          float sum = 0;
          for (std::int64_t k = 0; k < 12; k++)
            sum += from[static_cast<std::size_t>((i + k / 3) * (columns + 2) + j + k % 3)];
          ASSERT_EQ(sums[static_cast<std::size_t>(i * columns + j)], sum) << i << ", " << j;
        }
      }
    }
  }
  (void)expect_agreement(box_sums<double>(3, 21), {uneven<double>({6, 23})});
}

TEST(LaneAxes, OfFewElementsOrInOneRowAreOneLoop) {
  for (const auto& [rows, columns] : {std::pair(20, 7), std::pair(1, 40), std::pair(40, 1)}) {
    const Function f = box_sums<float>(rows, columns);
    EXPECT_EQ(Lowered(f).loops_in_nests(), 0) << Lowered(f);
    EXPECT_THAT(Lowered(f).vectorized_loops(), ::testing::ElementsAre(std::max(rows, columns)));
    (void)expect_agreement(f, {uneven<float>({rows + 3, columns + 2})});
  }
}

TEST(LaneAxes, OfThreeAxesAndAxesOfOneElement) {
  for (const Shape& shape : {Shape{3, 4, 18}, Shape{3, 1, 18}, Shape{3, 18, 1}, Shape{1, 3, 18},
                             Shape{7, 3, 18}, Shape{2, 16, 1, 9}}) {
    SCOPED_TRACE(shape.str());
    const auto f = [&](Tensor x) {
      const auto add = [&](Tensor k, Tensor total) {
        std::vector<Tensor> starts(shape.size(), k / 2);
        starts[0] = k;
        return total * 0.5f + dynamic_slice(x, starts, shape.vector());
      };
      return fori_loop(0, 5, add, ones(TensorType{DType::kF32, shape}));
    };
    std::vector<std::int64_t> larger = shape.vector();
    for (std::int64_t& size : larger) size += 3;
    const Literal x = uneven<float>(larger);
    const Function function = trace(f, x);
    expect_in_axes(function);
    (void)expect_agreement(function, {x});
  }
}

TEST(LaneAxes, MultiplyRowsByColumns) {
  const auto multiply = [](Tensor a, Tensor b) {
    const auto add = [&](Tensor k, Tensor c) { return c + outer(column(a, k), b[k]); };
    return fori_loop(0, 7, add, zeros(f64({5, 19})));
  };
  const Literal a = uneven<double>({5, 7}), b = uneven<double>({7, 19});
  const Function f = trace(multiply, a, b);
  expect_in_axes(f);
  const std::vector<Literal> got = expect_agreement(f, {a, b});
  for (std::size_t i = 0; i < 5; i++) {
    for (std::size_t j = 0; j < 19; j++) {
      double sum = 0;
      for (std::size_t k = 0; k < 7; k++)
        sum += a.data<double>()[i * 7 + k] * b.data<double>()[k * 19 + j];
      EXPECT_NEAR(got[0].data<double>()[i * 19 + j], sum, 1e-14);
    }
  }
}

TEST(LaneAxes, ComputeRowsAndColumnsWhereTheyReadThem) {
  const auto nearest = [](Tensor sites) {
    const Tensor y = expand_dims(arange(21, DType::kF32), 1), x = arange(35, DType::kF32);
    const auto visit = [&](Tensor k, Tensor least, Tensor site) {
      const Tensor dy = y - at(sites, {k, 0}), dx = x - at(sites, {k, 1});
      const Tensor distance = dy * dy + dx * dx;
      return std::pair(minimum(least, distance), where(distance < least, k, site));
    };
    return fori_loop(0, 9, visit, std::pair(full(f32({21, 35}), 1e9f), zeros(s32({21, 35}))));
  };
  const Literal sites = testing::ramp({9, 2}, 1.7f, 0.3f);
  expect_in_axes(trace(nearest, sites));
  const std::vector<Literal> got = expect_agreement(trace(nearest, sites), {sites});
  const auto at = sites.data<float>();
  for (std::size_t i = 0; i < 21; i++) {
    for (std::size_t j = 0; j < 35; j++) {
      float least = 1e9f;
      std::int32_t site = 0;
      for (std::size_t k = 0; k < 9; k++) {
        const float dy = static_cast<float>(i) - at[2 * k],
                    dx = static_cast<float>(j) - at[2 * k + 1];
        const float distance = dy * dy + dx * dx;
        if (distance < least) site = static_cast<std::int32_t>(k);
        least = std::min(least, distance);
      }
      EXPECT_FLOAT_EQ(got[0].data<float>()[i * 35 + j], least);
      EXPECT_EQ(got[1].data<std::int32_t>()[i * 35 + j], site);
    }
  }
  // Functions are computed once, as arrays.
  const auto waves = [](Tensor x) {
    const auto add = [&](Tensor k, Tensor sum) {
      return sum + expand_dims(sin(x + convert(k, DType::kF32)), 1) * x;
    };
    return fori_loop(0, 5, add, zeros(f32({40, 40})));
  };
  EXPECT_EQ(Lowered(trace(waves, f32({40}))).loops_in_nests(), 0);
  (void)expect_agreement(trace(waves, f32({40})), {uneven<float>({40})});
}

TEST(LaneAxes, GatherRowsOfTables) {
  const auto f = [](Tensor table, Tensor rows) {
    const auto add = [&](Tensor k, Tensor sum) { return sum * 0.5f + take(table, rows[k], 0); };
    return fori_loop(0, 6, add, zeros(f32({14, 23})));
  };
  const Literal table = uneven<float>({20, 23});
  Literal rows = Literal::zeros(s32({6, 14}));
  for (std::int32_t i = 0; i < 84; i++)
    rows.mutable_data<std::int32_t>()[static_cast<std::size_t>(i)] = (i * 37) % 29 - 4;
  expect_in_axes(trace(f, table, rows));
  (void)expect_agreement(trace(f, table, rows), {table, rows});
}

TEST(LaneAxes, KnowTheirIndices) {
  const auto f = [](Tensor x) {
    const auto trip = [&](Tensor k, Tensor now) {
      const Tensor i = iota(s32({4, 33}), 0), j = iota(s32({4, 33}), 1);
      return where(j > i * k, now + dynamic_slice(x, {k, k}, {4, 33}), now * 2.0f);
    };
    return fori_loop(0, 6, trip, zeros(f32({4, 33})));
  };
  const Literal x = uneven<float>({9, 38});
  expect_in_axes(trace(f, x));
  (void)expect_agreement(trace(f, x), {x});
}

TEST(LaneAxes, HoldLoopsBranchesAndSeveralCarries) {
  const auto f = [](Tensor x, Tensor n) {
    const auto trip = [&](Tensor k, Tensor sums, Tensor most, Tensor count) {
      const auto part = [&](Tensor i, Tensor j) { return dynamic_slice(x, {i, j}, {3, 20}); };
      const Tensor row = fori_loop(
          0, k, [&](Tensor i, Tensor total) { return total + part(i, k); }, zeros(f32({3, 20})));
      const Tensor next = cond(
          k < 2, [&](Tensor now) { return now + row; },
          [&](Tensor now) { return now - part(k, 0); }, sums);
      return std::tuple(next, maximum(most, row), count + k);
    };
    return fori_loop(0, n, trip, std::tuple(zeros(f32({3, 20})), zeros(f32({3, 20})), Tensor(0)));
  };
  const Literal x = uneven<float>({9, 30});
  const Function function = trace(f, x.type(), s32());
  EXPECT_EQ(Lowered(function).loops_in_nests(), 1) << Lowered(function);
  for (const int n : {-1, 0, 1, 5}) (void)expect_agreement(function, {x, Literal::scalar(n)});
}

TEST(LaneAxes, WorkForComplexNumbersAndBytes) {
  const auto f = [](Tensor x, Tensor y) {
    const auto trip = [&](Tensor k, Tensor z, Tensor bytes) {
      return std::pair(z * z + dynamic_slice(x, {k, k}, {3, 17}),
                       bytes ^ dynamic_slice(y, {k, 0}, {3, 17}));
    };
    return fori_loop(0, 4, trip, std::pair(zeros(c64({3, 17})), zeros(u8({3, 17}))));
  };
  Literal x = Literal::zeros(c64({6, 20})), y = Literal::zeros(u8({6, 17}));
  const Literal parts = uneven<float>({240});
  for (std::size_t i = 0; i < 120; i++) {
    x.mutable_data<std::complex<float>>()[i] = {parts.data<float>()[2 * i],
                                                parts.data<float>()[2 * i + 1]};
  }
  for (std::size_t i = 0; i < y.data<std::uint8_t>().size(); i++)
    y.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(37 * i);
  expect_in_axes(trace(f, x, y));
  (void)expect_agreement(trace(f, x, y), {x, y});
}

TEST(LaneAxes, ReadNoOtherLanes) {
  // What a trip reads at other indices is what the one before has made.
  const auto transposed = [](Tensor x) {
    const auto trip = [](Tensor, Tensor now) { return now + 0.5f * transpose(now); };
    return fori_loop(0, 4, trip, x);
  };
  const auto shifted = [](Tensor x) {
    const auto trip = [&](Tensor k, Tensor now) {
      const Tensor part = dynamic_slice(now, {k % 2, 0}, {8, 16});
      return now + concatenate(0, part, dynamic_slice(x, {0, k}, {1, 16}));
    };
    return fori_loop(0, 4, trip, x);
  };
  const Literal square = uneven<float>({16, 16}), x = uneven<float>({9, 16});
  expect_agreement(trace(transposed, square), {square});
  expect_agreement(trace(shifted, x), {x});
}

TEST(LaneAxes, AreNotThoseOfAnotherShape) {
  // As many elements, and as many rows as there are lanes of four rows.
  const auto f = [](Tensor x, Tensor y) {
    const auto trip = [&](Tensor k, Tensor now) {
      const Tensor other = reshape(now + dynamic_slice(x, {k, k}, {4, 12}), {12, 4});
      return reshape(other * y, {4, 12});
    };
    return fori_loop(0, 3, trip, zeros(f32({4, 12})));
  };
  const Literal x = uneven<float>({8, 16}), y = uneven<float>({12, 4});
  (void)expect_agreement(trace(f, x, y), {x, y});
  // The same with an axis of one element more is the same.
  const auto longer = [](Tensor x) {
    const auto trip = [&](Tensor k, Tensor now) {
      const Tensor part = dynamic_slice(x, {k, k}, {4, 12});
      return squeeze(expand_dims(now + part, 0) * 0.5f, {0});
    };
    return fori_loop(0, 3, trip, zeros(f32({4, 12})));
  };
  expect_in_axes(trace(longer, x));
  (void)expect_agreement(trace(longer, x), {x});
}

/// What each trip makes, from windows or from elements of two arrays.
Function stacked(std::int64_t rows, std::int64_t columns) {
  const auto f = [](Tensor x, Tensor u) {
    const auto step = [](Tensor now, Tensor u) {
      const Tensor next = now * 0.75f - u * u;
      return std::pair(next, std::pair(next + 1.0f, u * next));
    };
    return scan(step, x, u);
  };
  return trace(f, f32({rows, columns}), f32({7, rows, columns}));
}

TEST(LaneAxes, WriteAHistoryOfTheirElements) {
  for (const std::int64_t columns : {8, 17, 64, 70}) {
    for (const std::int64_t rows : {2, 7, 16, 70}) {
      SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
      const Function f = stacked(rows, columns);
      EXPECT_EQ(Lowered(f).loops_in_nests(), 1) << Lowered(f);
      EXPECT_EQ(Lowered(f).copies(4 * rows * columns), 0) << Lowered(f);
      const Literal x = uneven<float>({rows, columns}), u = uneven<float>({7, rows, columns});
      const std::vector<Literal> got = expect_agreement(f, {x, u});
      float now = x.data<float>().back();
      for (std::size_t k = 0; k < 7; k++) {
        const std::size_t last = (k + 1) * static_cast<std::size_t>(rows * columns) - 1;
        const float slope = u.data<float>()[last];
        now = now * 0.75f - slope * slope;
        EXPECT_FLOAT_EQ(got[1].data<float>()[last], now + 1);
        EXPECT_FLOAT_EQ(got[2].data<float>()[last], slope * now);
      }
    }
  }
  testing::expect_same_on_threads(stacked(300, 200),
                                  {uneven<float>({300, 200}), uneven<float>({7, 300, 200})});
}

TEST(LaneAxes, OfTwoBatchesKeepTheirHistory) {
  const auto swings = [](Tensor x) {
    const auto step = [](Tensor angle, Tensor time) {
      const Tensor next = angle - time * sin(angle);
      return std::pair(next, next);
    };
    return scan(step, x, full(f64({9}), 0.1));
  };
  const Literal x = uneven<double>({3, 11});
  const Function f = trace(vmap(vmap(swings)), x);
  EXPECT_EQ(Lowered(f).loops_in_nests(), 1) << Lowered(f);
  (void)expect_agreement(f, {x});
  const auto total = [&](Tensor x) {
    const auto [last, all] = swings(x);
    return last + sum(all * all);
  };
  (void)expect_agreement(trace(vmap(vmap(grad(total))), x), {x});
}

TEST(LaneAxes, HaveGradientsAndBatches) {
  const auto of_type = [](DType dtype) {
    return [=](Tensor x) {
      const auto add = [&](Tensor k, Tensor total) {
        return total * 0.75 + sin(dynamic_slice(x, {k, 0}, {3, 12}));
      };
      return sum(fori_loop(0, 4, add, zeros({dtype, {3, 12}})));
    };
  };
  const auto f = of_type(DType::kF32), in_doubles = of_type(DType::kF64);
  const Literal x = uneven<float>({7, 12}), batch = uneven<float>({3, 7, 12});
  const Literal wide = uneven<double>({7, 12});
  EXPECT_EQ(testing::derivative_error(testing::of_tensors<1>(in_doubles), {wide}), "");
  (void)expect_agreement(trace(grad(f), x), {x});
  (void)expect_agreement(trace(vmap(f), batch), {batch});
  (void)expect_agreement(trace(vmap(grad(f)), batch), {batch});
}

TEST(LaneAxes, CarryFewElementsThatAllLanesShare) {
  // As many of them as there are lanes of four rows.
  const auto f = [](Tensor x, Tensor few) {
    const auto trip = [&](Tensor k, Tensor total, Tensor now) {
      return std::pair(total + dynamic_slice(x, {k, k}, {4, 12}) * now[1][2], now * 2.0f);
    };
    return fori_loop(0, 5, trip, std::pair(zeros(f32({4, 12})), few));
  };
  const Literal x = uneven<float>({8, 16}), few = uneven<float>({2, 6});
  (void)expect_agreement(trace(f, x, few), {x, few});
  const auto constant = [](Tensor x, Tensor few) {
    const auto trip = [&](Tensor, Tensor, Tensor) { return std::pair(zeros(few.type()), x); };
    return fori_loop(0, 6, trip, std::pair(few, zeros(x.type())));
  };
  const Literal square = uneven<float>({4, 12});
  (void)expect_agreement(trace(constant, square, few), {square, few});
}

TEST(LaneAxes, MakeTheTripsOfOneLane) {
  const Function f = box_sums<float>(40, 50);
  const Literal x = uneven<float>({43, 52});
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    RunStats stats;
    (void)compile(f, {.executor = executor}).run({x}, {.stats = &stats});
    ASSERT_EQ(stats.loops.size(), 1u);
    EXPECT_EQ(stats.loops[0].trips, 12);
  }
}

TEST(LaneAxes, AreSharedByThreads) {
  testing::expect_same_on_threads(box_sums<float>(300, 200), {uneven<float>({303, 202})});
  testing::expect_same_on_threads(box_sums<float>(2, 20000), {uneven<float>({5, 20002})});
  // Loops over two axes around the lanes; of the outer one there are few trips.
  const auto f = [](Tensor x) {
    const auto add = [&](Tensor k, Tensor total) {
      return total + dynamic_slice(x, {0, k, k}, {3, 100, 200});
    };
    return fori_loop(0, 12, add, zeros(f32({3, 100, 200})));
  };
  const Literal x = uneven<float>({3, 111, 211});
  testing::expect_same_on_threads(trace(f, x), {x});
}

TEST(LaneAxes, EndWhereALimitSays) {
  const Function f = box_sums<float>(6, 50);
  const Literal x = uneven<float>({9, 52});
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(f, {.contract = false, .executor = executor});
    RunStats stats;
    RunOptions options{.stats = &stats};
    options.max_iterations = 12;
    testing::expect_equal(run.run({x}, options)[0], run.run({x})[0]);
    EXPECT_EQ(stats.loops[0].trips, 12);
    options.max_iterations = 11;
    EXPECT_THROW((void)run.run({x}, options), Interrupted);
  }
}

}  // namespace
}  // namespace rondo
