// Kernels of few elements, which are inlined into the loops around them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

/// Few different values, including NaN and both zeros.
std::vector<float> with_ties(std::int64_t count, std::int64_t seed) {
  const float some[] = {1, -0.0f, 0, 2, -3, 2, NAN, INFINITY, -INFINITY};
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; i++) {
    const auto which = static_cast<std::size_t>((i * i * 7 + i * 3 + seed * (i + 5)) % 31);
    values.push_back(some[which < 9 ? which : which % 6]);
  }
  return values;
}

std::int32_t first_greatest(const float* x, std::int64_t count, std::int64_t step) {
  std::int64_t at = 0;
  for (std::int64_t i = 1; i < count; i++) {
    const float next = x[i * step], best = x[at * step];
    if (next > best || (std::isnan(next) && !std::isnan(best))) at = i;
  }
  return static_cast<std::int32_t>(at);
}

TEST(FewElements, TheFirstGreatestOfEveryCount) {
  for (std::int64_t count = 1; count < 36; count++) {
    for (const std::int64_t rows : {1, 3, 37}) {
      const std::vector<float> values = with_ties(rows * count, count);
      const Literal x = Literal::from(values, {rows, count}),
                    y = Literal::from(values, {count, rows});
      const Function f = trace(
          [](Tensor x, Tensor y) {
            return std::tuple(argmax(x, 1), argmax(y, 0), argmin(-x, 1), argmin(y, 0));
          },
          x, y);
      SCOPED_TRACE(f.str());
      const std::vector<Literal> got = expect_agreement(f, {x, y});
      for (std::int64_t row = 0; row < rows; row++) {
        const auto at = static_cast<std::size_t>(row);
        const std::int32_t want = first_greatest(values.data() + row * count, count, 1);
        EXPECT_EQ(got[0].data<std::int32_t>()[at], want);
        EXPECT_EQ(got[1].data<std::int32_t>()[at], first_greatest(&values[at], count, rows));
        EXPECT_EQ(got[2].data<std::int32_t>()[at], want);
      }
      EXPECT_FALSE(calls_kernels(f));
    }
  }
}

TEST(FewElements, TheFirstGreatestOfEachDtype) {
  for (const DType dtype : {DType::kPred, DType::kS8, DType::kU8, DType::kS16, DType::kU32,
                            DType::kS64, DType::kU64, DType::kF16, DType::kBF16, DType::kF64}) {
    for (const Shape& shape : {Shape{7}, Shape{2, 9, 5}, Shape{0, 4}, Shape{1, 1}}) {
      const Literal floats = Literal::from(with_ties(shape.elements(), 3), shape);
      const Literal x = convert(Tensor(floats), dtype).eval();
      for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
        if (shape[axis] == 0) continue;
        const Function f =
            trace([&](Tensor x) { return std::pair(argmax(x, axis), argmin(x, axis)); }, x);
        SCOPED_TRACE(f.str());
        (void)expect_agreement(f, {x});
        EXPECT_FALSE(calls_kernels(f));
      }
    }
  }
}

// Each trip lowers the greatest, as a search does with its best candidate.
TEST(FewElements, TheGreatestInALoop) {
  for (const std::int64_t count : {2, 3, 5, 8, 13, 16, 32}) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; i++)
      values.push_back(static_cast<float>(i * 37 % 23) * 0.25f);
    const Literal x = Literal::from(values, {count});
    const Function f = trace(
        [](Tensor x) {
          return fori_loop(
              0, 100,
              [](Tensor, Tensor x) {
                const Tensor best = argmax(x, 0);
                return update(x, best, x[best] * 0.75f - 0.125f);
              },
              x);
        },
        x);
    EXPECT_FALSE(calls_kernels(f)) << Lowered(f);
    const Literal got = expect_agreement(f, {x})[0];
    for (int trip = 0; trip < 100; trip++) {
      float& best = values[static_cast<std::size_t>(first_greatest(values.data(), count, 1))];
      best = best * 0.75f - 0.125f;
    }
    for (std::size_t i = 0; i < values.size(); i++) EXPECT_EQ(got.data<float>()[i], values[i]) << i;
  }
}

// By lane: a batched loop keeps its candidates in registers.
TEST(FewElements, TheGreatestInEachLane) {
  const Literal x = Literal::from(with_ties(240, 11), {40, 6});
  const Function f = trace(
      [](Tensor x) {
        return vmap([](Tensor x) {
          return fori_loop(
              0, 9,
              [](Tensor, Tensor x) {
                const Tensor is_best = iota(s32({6}), 0) == argmax(x, 0);
                return where(is_best, x * 0.5f - 1, x);
              },
              x);
        })(x);
      },
      x);
  EXPECT_TRUE(runs_by_lane(f)) << Lowered(f);
  (void)expect_agreement(f, {x});
}

template <class T>
std::vector<T> running(const Literal& x, std::int64_t axis, bool reverse,
                       const std::function<T(T, T)>& combine) {
  const std::int64_t rows = x.shape()[1 - axis], count = x.shape()[axis];
  std::vector<T> totals(x.data<T>().begin(), x.data<T>().end());
  const auto at = [&](std::int64_t row, std::int64_t k) -> T& {
    const std::int64_t place = reverse ? count - 1 - k : k;
    return totals[static_cast<std::size_t>(axis == 0 ? place * rows + row : row * count + place)];
  };
  for (std::int64_t row = 0; row < rows; row++) {
    for (std::int64_t k = 1; k < count; k++) at(row, k) = combine(at(row, k - 1), at(row, k));
  }
  return totals;
}

TEST(FewElements, RunningTotals) {
  const auto later = [](float a, float b) { return std::isnan(a) || a > b ? a : b; };
  for (const std::int64_t count : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17}) {
    for (const std::int64_t rows : {1, 5}) {
      std::vector<float> values;
      for (std::int64_t i = 0; i < rows * count; i++)
        values.push_back(static_cast<float>((i * 37 + 11) % 101) * 0.375f - 15);
      for (const std::int64_t axis : {0, 1}) {
        const Literal x =
            Literal::from(values, axis == 0 ? Shape{count, rows} : Shape{rows, count});
        for (const bool reverse : {false, true}) {
          const Function f = trace(
              [&](Tensor x) {
                return std::tuple(cumsum(x, axis, reverse), cummax(x, axis, reverse),
                                  cumprod(x, axis, reverse), cummin(x, axis, reverse));
              },
              x);
          SCOPED_TRACE(f.str());
          const std::vector<Literal> got = expect_agreement(f, {x});
          // These sums are exact.
          const std::vector<float> sums = running<float>(x, axis, reverse, std::plus<>()),
                                   most = running<float>(x, axis, reverse, later);
          for (std::size_t i = 0; i < values.size(); i++) {
            EXPECT_EQ(got[0].data<float>()[i], sums[i]) << i;
            EXPECT_EQ(got[1].data<float>()[i], most[i]) << i;
          }
          const bool few = rows == 1 ? count <= 16 : count <= 8;
          const bool of_columns = rows > 1 && axis == 0;
          EXPECT_EQ(calls_kernels(f), !few && !of_columns);
        }
      }
    }
  }
}

TEST(FewElements, RunningTotalsOfEachDtype) {
  for (const DType dtype : {DType::kPred, DType::kS8, DType::kU16, DType::kS64, DType::kF16,
                            DType::kBF16, DType::kF64, DType::kC64, DType::kC128}) {
    const bool has_order = dtype != DType::kC64 && dtype != DType::kC128;
    for (const Shape& shape : {Shape{7}, Shape{0}, Shape{1}, Shape{3, 6}, Shape{0, 4}}) {
      const Literal x = convert(Tensor(ramp(shape, 0.75f, -2)), dtype).eval();
      const Function f = trace(
          [&](Tensor x) {
            return std::pair(cumsum(x, -1), has_order ? cummax(x, -1, true) : cumprod(x, -1));
          },
          x);
      SCOPED_TRACE(f.str());
      (void)expect_agreement(f, {x});
    }
  }
  std::vector<float> values = with_ties(12, 5);
  values.erase(std::remove_if(values.begin(), values.end(), [](float x) { return std::isnan(x); }),
               values.end());
  values.push_back(NAN);
  const Literal x = Literal::from(values, {std::ssize(values)});
  const Function f =
      trace([](Tensor x) { return std::tuple(cummax(x, 0), cummin(x, 0, true), cumsum(x, 0)); }, x);
  (void)expect_agreement(f, {x});
}

TEST(FewElements, RunningTotalsInLoopsAndLanes) {
  const auto step = [](Tensor, Tensor x) { return cumsum(x, 0) * 0.5f - cummax(x, 0) * 0.25f; };
  const Function one = trace([&](Tensor x) { return fori_loop(0, 20, step, x); }, f32({6}));
  EXPECT_FALSE(calls_kernels(one)) << Lowered(one);
  (void)expect_agreement(one, {ramp({6}, 0.5f, -1)});
  const Function many =
      trace([&](Tensor x) { return vmap([&](Tensor x) { return fori_loop(0, 20, step, x); })(x); },
            f32({33, 6}));
  EXPECT_TRUE(runs_by_lane(many)) << Lowered(many);
  (void)expect_agreement(many, {ramp({33, 6}, 0.125f, -3)});
}

TEST(FewElements, OfRowsAreComputedColumnByColumn) {
  for (const std::int64_t columns : {2, 3, 4, 7}) {
    const Function f = trace([](Tensor x, Tensor w) { return x * expand_dims(w, 1) - w[0]; },
                             f32({100, columns}), f32({100}));
    EXPECT_EQ(Lowered(f).lanes_of_elements(),
              std::vector{columns < 4 ? std::int64_t{100} : columns})
        << Lowered(f);
    (void)expect_agreement(f, {ramp({100, columns}, 0.25f, -3), ramp({100}, 0.5f, 2)});
  }
}

TEST(FewElements, OfUpdatesAreNoLanes) {
  const Function f =
      trace([](Tensor x, Tensor ids) { return segment_sum(x, ids, 9); }, f32({50, 3}), s32({50}));
  EXPECT_EQ(Lowered(f).count_inside(lower::Opcode::kIf, lower::Opcode::kLanes), 0) << Lowered(f);
  std::vector<std::int32_t> ids;
  for (std::int32_t i = 0; i < 50; i++) ids.push_back(i * 5 % 11 - 1);
  (void)expect_agreement(f, {ramp({50, 3}, 0.25f, -3), Literal::from(ids, {50})});
}

TEST(FewElements, OfProductsThatLoopsAddUpCallNoKernel) {
  const auto products = [](const TensorType& type, const TensorType& rows) {
    const auto step = [](Tensor x, Tensor row) {
      const Tensor product = vdot(x, row);
      return std::pair(x + product, product);
    };
    return trace([&](Tensor x, Tensor rows) { return scan(step, x, rows); }, type, rows);
  };
  EXPECT_FALSE(calls_kernels(products(f32({24}), f32({9, 24}))));
  EXPECT_TRUE(calls_kernels(products(f32({25}), f32({9, 25}))));
  (void)expect_agreement(products(s32({20}), s32({2, 20})),
                         {Literal::from(std::vector<std::int32_t>(20, 3), {20}),
                          Literal::from(std::vector<std::int32_t>(40, -2), {2, 20})});
}

}  // namespace
}  // namespace rondo::testing
