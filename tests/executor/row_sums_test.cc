// Sums of computed arrays over axes that no single loop covers: broadcasts, slices.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::Lowered;
using testing::uneven;

constexpr std::int64_t kRows = 5, kLength = 901;

Literal row_numbers(Shape shape, float first) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = first + std::sin(static_cast<float>(i * i % 1009));
  return Literal::from(values, shape);
}

std::int64_t arena_bytes(const Function& function, bool contract) {
  return compile(function, {.contract = contract, .executor = Executor::kBytecode})
      .memory_plan()
      .arena_bytes;
}

/// The difference of each matrix element and its column's number.
double difference(const Literal& matrix, const Literal& column, std::int64_t i) {
  return static_cast<double>(matrix.data<float>()[static_cast<std::size_t>(i)] -
                             column.data<float>()[static_cast<std::size_t>(i / kLength)]);
}

TEST(RowSums, OfFloatsNeedNoArrayWhereTheirOrderIsFree) {
  const auto f = [](Tensor x, Tensor c) { return sum(square(x - expand_dims(c, 1))); };
  const Literal x = row_numbers({kRows, kLength}, 1), c = row_numbers({kRows}, -1);
  const Function function = trace(f, x, c);
  EXPECT_EQ(arena_bytes(function, true), 0);
  EXPECT_GE(arena_bytes(function, false), kRows * kLength * 4);
  double want = 0;
  for (std::int64_t i = 0; i < kRows * kLength; i++) want += std::pow(difference(x, c, i), 2);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const float got = compile(function, {.executor = executor}).run({x, c})[0].item<float>();
    EXPECT_NEAR(got, want, 1e-6 * want);
  }
  (void)expect_agreement(function, {x, c});
}

TEST(RowSums, OfIntegersAndExtremesNeverNeedAnArray) {
  const Literal x = row_numbers({kRows, kLength}, 1), c = row_numbers({kRows}, -1);
  const auto greatest = [](Tensor x, Tensor c) { return max(x - expand_dims(c, 1)); };
  const auto count = [](Tensor x, Tensor c) {
    return sum(convert(x > expand_dims(c, 1) + 2, DType::kS32)) + 7;
  };
  const auto all_less = [](Tensor x, Tensor c) { return all(x < expand_dims(c, 1) + 3); };
  double most = -INFINITY;
  int above = 7;
  bool less = true;
  for (std::int64_t i = 0; i < kRows * kLength; i++) {
    most = std::max(most, difference(x, c, i));
    const float of_row = c.data<float>()[static_cast<std::size_t>(i / kLength)],
                element = x.data<float>()[static_cast<std::size_t>(i)];
    above += element > of_row + 2;
    less = less && element < of_row + 3;
  }
  for (const Function& function :
       {trace(greatest, x, c), trace(count, x, c), trace(all_less, x, c)})
    EXPECT_LE(arena_bytes(function, false), 64) << function.str();
  EXPECT_EQ(expect_agreement(trace(greatest, x, c), {x, c})[0].item<float>(),
            static_cast<float>(most));
  EXPECT_EQ(expect_agreement(trace(count, x, c), {x, c})[0].item<int>(), above);
  EXPECT_EQ(expect_agreement(trace(all_less, x, c), {x, c})[0].item<bool>(), less);
}

TEST(RowSums, GoOnFromRowToRowWithinAxesThatStay) {
  const auto f = [](Tensor x, Tensor weights) { return sum(x * weights, {1, 2}); };
  const Literal x = row_numbers({3, kRows, kLength}, 0.25f), weights = row_numbers({kLength}, 1);
  const Function function = trace(f, x, weights);
  EXPECT_EQ(arena_bytes(function, true), 0);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Literal got = compile(function, {.executor = executor}).run({x, weights})[0];
    for (std::size_t k = 0; k < 3; k++) {
      double want = 0;
      for (std::size_t i = 0; i < kRows * kLength; i++) {
        want += static_cast<double>(x.data<float>()[k * kRows * kLength + i] *
                                    weights.data<float>()[i % kLength]);
      }
      EXPECT_NEAR(got.data<float>()[k], want, 1e-4 * (1 + std::abs(want)));
    }
  }
  (void)expect_agreement(function, {x, weights});
}

/// In the documented order: 64 partial results, combined pairwise.
template <class T, class Combine>
T in_order(const std::vector<T>& row, T start, Combine combine) {
  std::vector<T> partials(row.begin(), row.begin() + std::min<std::ptrdiff_t>(64, std::ssize(row)));
  for (std::size_t i = 64; i < row.size(); i++)
    partials[i % 64] = combine(partials[i % 64], row[i]);
  for (std::size_t half = 32; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half && j + half < partials.size(); j++)
      partials[j] = combine(partials[j], partials[j + half]);
  }
  return row.empty() ? start : combine(start, partials[0]);
}

/// Long rows: blocks of 2^17 elements, in sequence.
template <class T, class Combine>
T in_blocks(const std::vector<T>& row, T start, Combine combine) {
  if (row.size() <= std::size_t{1} << 20) return in_order(row, start, combine);
  for (std::size_t i = 0; i < row.size(); i += std::size_t{1} << 17) {
    const std::size_t end = std::min(row.size(), i + (std::size_t{1} << 17));
    start = in_order(std::vector<T>(row.begin() + static_cast<std::ptrdiff_t>(i),
                                    row.begin() + static_cast<std::ptrdiff_t>(end)),
                     start, combine);
  }
  return start;
}

/// So many f64s that their sum has other bits in another order.
Literal long_rows(Shape shape) {
  std::vector<double> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = 1.0 / static_cast<double>(1 + i * 7919 % 1000003) - 1e-4;
  return Literal::from(values, shape);
}

TEST(RowSums, OfLongRowsGoByBlocks) {
  const auto total = [](Tensor x) {
    return reduce(x, Tensor(Literal::scalar(0.5)), {}, [](Tensor a, Tensor b) { return a + b; });
  };
  constexpr std::int64_t kLong = std::int64_t{1} << 20;
  for (const std::int64_t n : {kLong, kLong + 1, kLong + (1 << 17), 3 * kLong / 2 + 77}) {
    const Literal x = long_rows({n});
    const std::vector<double> terms(x.data<double>().begin(), x.data<double>().end());
    const double want = in_blocks(terms, 0.5, std::plus<>());
    if (n > kLong) {
      EXPECT_NE(want, in_order(terms, 0.5, std::plus<>()));
    }
    EXPECT_EQ(expect_agreement(trace(total, x), {x})[0].item<double>(), want);
    EXPECT_EQ(compile(trace(total, x)).run({x})[0].item<double>(), want);
  }
}

TEST(RowSums, OfLongRowsAmongOtherAxes) {
  constexpr std::int64_t kLong = (std::int64_t{1} << 20) + 1001;
  const Literal x = long_rows({2, 2, kLong});
  const auto row = [&](std::size_t i, std::size_t rows) {
    const auto begin = x.data<double>().begin() + static_cast<std::ptrdiff_t>(i * kLong);
    return std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(rows * kLong));
  };
  const auto of_rows = [](Tensor v) { return sum(v, {2}); };
  const auto of_pairs = [](Tensor v) { return sum(v, {1, 2}); };
  const auto across = [](Tensor v) { return sum(v, {0, 2}); };
  const Literal rows = expect_agreement(trace(of_rows, x), {x})[0],
                pairs = expect_agreement(trace(of_pairs, x), {x})[0],
                both = expect_agreement(trace(across, x), {x})[0];
  for (std::size_t i = 0; i < 4; i++)
    EXPECT_EQ(rows.data<double>()[i], in_blocks(row(i, 1), 0.0, std::plus<>()));
  for (std::size_t i = 0; i < 2; i++) {
    EXPECT_EQ(pairs.data<double>()[i], in_blocks(row(2 * i, 2), 0.0, std::plus<>()));
    EXPECT_EQ(both.data<double>()[i],
              in_blocks(row(i + 2, 1), in_blocks(row(i, 1), 0.0, std::plus<>()), std::plus<>()));
  }
}

// The loops of a computed array: over its rows, over short ones, and in the order of the array.
TEST(RowSums, OfManyElementsThatNoOneLoopGoesThrough) {
  for (const std::int64_t columns : {3, 300, 1031}) {
    const std::int64_t rows = ((std::int64_t{1} << 20) + 5000) / columns + 1;
    const Literal x = row_numbers({rows, columns}, 1), c = row_numbers({rows}, -1);
    const auto spread = [](Tensor v, Tensor w) { return v - expand_dims(w, 1); };
    const Function total = trace([&](Tensor v, Tensor w) { return sum(spread(v, w)); }, x, c);
    const Function most = trace([&](Tensor v, Tensor w) { return max(spread(v, w)); }, x, c);
    std::vector<double> terms;
    for (std::int64_t i = 0; i < rows * columns; i++) {
      terms.push_back(static_cast<double>(x.data<float>()[static_cast<std::size_t>(i)] -
                                          c.data<float>()[static_cast<std::size_t>(i / columns)]));
    }
    EXPECT_EQ(expect_agreement(total, {x, c})[0].item<float>(),
              static_cast<float>(in_blocks(terms, 0.0, std::plus<>())));
    EXPECT_EQ(expect_agreement(most, {x, c})[0].item<float>(),
              static_cast<float>(*std::max_element(terms.begin(), terms.end())));
    const double sum_of_terms = compile(total).run({x, c})[0].item<float>();
    EXPECT_NEAR(sum_of_terms, in_blocks(terms, 0.0, std::plus<>()), 1e-6 * sum_of_terms);
  }
}

TEST(RowSums, OfShortRowsNeedAStripOfThem) {
  const auto plus = [](double a, double b) { return a + b; };
  const auto greater = [](float a, float b) { return a < b || b != b ? b : a; };
  for (std::int64_t columns = 2; columns < 70; columns++) {
    // Whole strips, and some rows after the last strip.
    const std::int64_t rows = 10007 / columns + 4133 / columns;
    const Literal x = row_numbers({rows, columns}, 1), c = row_numbers({rows}, -1);
    std::vector<double> terms;
    std::vector<float> floats;
    for (std::int64_t i = 0; i < rows * columns; i++) {
      floats.push_back(x.data<float>()[static_cast<std::size_t>(i)] -
                       c.data<float>()[static_cast<std::size_t>(i / columns)]);
      terms.push_back(static_cast<double>(floats.back()));
    }
    const Function both = trace(
        [](Tensor x, Tensor c) {
          const Tensor difference = x - expand_dims(c, 1);
          return std::pair(sum(difference), max(difference));
        },
        x, c);
    const Function total =
        trace([](Tensor x, Tensor c) { return sum(x - expand_dims(c, 1)); }, x, c);
    const Function most =
        trace([](Tensor x, Tensor c) { return max(x - expand_dims(c, 1)); }, x, c);
    SCOPED_TRACE(total.str());
    const std::int64_t most_bytes = std::max<std::int64_t>(4096, 64 * columns) * 4 + 1024;
    EXPECT_LE(arena_bytes(total, true), most_bytes);
    EXPECT_LE(arena_bytes(most, false), most_bytes);
    EXPECT_EQ(expect_agreement(total, {x, c})[0].item<float>(),
              static_cast<float>(in_order(terms, 0.0, plus)));
    EXPECT_EQ(expect_agreement(most, {x, c})[0].item<float>(),
              in_order(floats, -INFINITY, greater));
    (void)expect_agreement(both, {x, c});
  }
}

TEST(RowSums, InStripsWithinAxesThatStay) {
  const auto f = [](Tensor x, Tensor w) { return sum(x * w, {1, 2}); };
  const auto g = [](Tensor x, Tensor w) { return any(x * w > 1.25, {1, 2}); };
  const Literal x = row_numbers({3, 500, 17}, 0.25f), w = row_numbers({17}, 1);
  EXPECT_LE(arena_bytes(trace(f, x, w), false), 4096 * 4 + 1024);
  const Literal got = expect_agreement(trace(f, x, w), {x, w})[0];
  for (std::size_t k = 0; k < 3; k++) {
    std::vector<double> terms;
    for (std::size_t i = 0; i < std::size_t{500} * 17; i++) {
      terms.push_back(
          static_cast<double>(x.data<float>()[k * 500 * 17 + i] * w.data<float>()[i % 17]));
    }
    EXPECT_EQ(got.data<float>()[k], static_cast<float>(in_order(terms, 0.0, std::plus<>())));
  }
  (void)expect_agreement(trace(g, x, w), {x, w});
}

TEST(RowSums, InStripsOfEachDtype) {
  const DType real[] = {DType::kS8,  DType::kU16,  DType::kS32, DType::kU64,
                        DType::kF16, DType::kBF16, DType::kF64, DType::kPred};
  for (const DType dtype : real) {
    const auto cast = [&](const Literal& x) {
      const Tensor scaled = Tensor(x) * 20.0f;
      return (dtype == DType::kPred ? scaled > 3.0f : convert(scaled, dtype)).eval();
    };
    const Literal x = cast(row_numbers({700, 11}, 1)), w = cast(row_numbers({11}, 1));
    using Combine = Tensor (*)(const Tensor&);
    const Combine all[] = {[](const Tensor& x) { return max(x); },
                           [](const Tensor& x) { return min(x); },
                           [](const Tensor& x) { return sum(x); }};
    for (const Combine combine : all) {
      const Function f = trace(
          [&](Tensor x, Tensor w) {
            const Tensor spread = broadcast_to(w, x.shape());
            return combine(where(x < spread, x, spread));
          },
          x, w);
      SCOPED_TRACE(f.str());
      (void)expect_agreement(f, {x, w});
    }
  }
}

// NaN, infinities and the sign of zero pass through strips as through rows.
TEST(RowSums, InStripsOfWhatIsNoNumber) {
  std::vector<float> values(std::size_t{900} * 6, -0.0f);
  const auto total = [](Tensor x, Tensor w) {
    return reduce(x * w, Tensor(-0.0f), {}, [](Tensor a, Tensor b) { return a + b; });
  };
  const auto most = [](Tensor x, Tensor w) { return max(x * w); };
  const auto least = [](Tensor x, Tensor w) { return min(x * w); };
  const Literal ones = Literal::from(std::vector<float>(6, 1.0f), {6});
  const auto of = [&](auto f) {
    const Literal x = Literal::from(values, {900, 6});
    return expect_agreement(trace(f, x, ones), {x, ones})[0].template item<float>();
  };
  EXPECT_TRUE(std::signbit(of(total)));
  EXPECT_TRUE(std::signbit(of(most)));
  values[5000] = INFINITY;
  EXPECT_EQ(of(most), INFINITY);
  EXPECT_EQ(of(total), INFINITY);
  values[3] = -INFINITY;
  EXPECT_EQ(of(least), -INFINITY);
  EXPECT_TRUE(std::isnan(of(total)));
  values[4099] = NAN;
  EXPECT_TRUE(std::isnan(of(least)));
}

/// x[i, j, k] of all j, for several i at once where k has few places.
void expect_rows_at_once(const Function& f, std::size_t rows,
                         const std::vector<Literal>& arguments) {
  EXPECT_EQ(Lowered(f).loops_that_combine(rows), 1) << Lowered(f);
  expect_agreement(f, arguments);
}

TEST(RowSums, OfShortRowsSeveralAtOnce) {
  const auto rows_at_once = [](std::int64_t rows) -> std::size_t {
    return rows == 7 ? 7 : rows == 11 ? 1 : rows == 40 ? 8 : 6;
  };
  for (const std::int64_t rows : {6, 7, 11, 12, 40}) {
    for (const std::int64_t columns : {2, 3, 16, 17}) {
      SCOPED_TRACE(::testing::Message() << rows << " x 33 x " << columns);
      const Literal x = uneven<double>({rows, 33, columns});
      const Function f = trace([](Tensor x) { return sum(x * x, 1); }, x.type());
      expect_rows_at_once(f, columns > 16 ? 1 : rows_at_once(rows), {x});
      const Literal got =
          compile(f, {.contract = false, .executor = Executor::kBytecode}).run({x})[0];
      const auto from = x.data<double>();
      for (std::int64_t i = 0; i < rows; i++) {
        for (std::int64_t k = 0; k < columns; k++) {
          double want = 0;
          for (std::int64_t j = 0; j < 33; j++) {
            const double element = from[static_cast<std::size_t>((i * 33 + j) * columns + k)];
            want += element * element;
          }
          EXPECT_EQ(got.data<double>()[static_cast<std::size_t>(i * columns + k)], want);
        }
      }
    }
  }
}

// What the rows share, what differs from row to row, and their number in an element's code.
TEST(RowSums, OfShortRowsWithWhatTheyShare) {
  const Literal points = uneven<float>({24, 3}), weights = uneven<float>({24, 24});
  const Function pull = trace(
      [](Tensor x, Tensor w) {
        return sum(expand_dims(w, 2) * (expand_dims(x, 0) - expand_dims(x, 1)), 1);
      },
      points.type(), weights.type());
  expect_rows_at_once(pull, 8, {points, weights});
  const Function largest = trace(
      [](Tensor x, Tensor w) {
        const Tensor row = convert(iota(s32({24, 24, 3}), 0), DType::kF32);
        return max(row * expand_dims(x, 0) + expand_dims(w, 2), {1});
      },
      points.type(), weights.type());
  expect_agreement(largest, {points, weights});
  const Function gathered = trace(
      [](Tensor x, Tensor w) {
        const Tensor which = convert(w * 24.0f, DType::kS32);
        return sum(take(x, which, 0) * expand_dims(x, 1), 1);
      },
      points.type(), weights.type());
  expect_agreement(gathered, {points, weights});
  const Function small = trace(
      [](Tensor x, Tensor w) {
        return sum(convert(expand_dims(w, 2) * expand_dims(x, 0) * 100.0f, DType::kS8), 1);
      },
      points.type(), weights.type());
  expect_agreement(small, {points, weights});
}

TEST(RowSums, OfManyShortRowsOnThreads) {
  const Function f = trace([](Tensor x) { return sum(x * x, 1); }, f32({600, 200, 3}));
  testing::expect_same_on_threads(f, {uneven<float>({600, 200, 3})});
}

}  // namespace
}  // namespace rondo
