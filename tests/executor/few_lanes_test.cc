// Loops over few elements, which native code unrolls vector by vector, and elements with small
// strides.
#include "executor/agreement.h"
#include "support/native_steps.h"

namespace rondo::testing {
namespace {

template <class T>
Literal whole_numbers(const Shape& shape) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < shape.elements(); i++)
    values.push_back(static_cast<T>((i * 37) % 101 - 50));
  return Literal::from(values, shape);
}

/// Sums of the rows of x, weighted by position: loops over the rows read column by column.
template <class T>
void expect_rows(std::int64_t rows, std::int64_t columns) {
  SCOPED_TRACE(::testing::Message() << rows << " x " << columns << ", " << sizeof(T) << " bytes");
  const Literal x = whole_numbers<T>({rows, columns}), y = whole_numbers<T>({rows});
  const Function f = trace(
      [&](Tensor x, Tensor y) {
        const auto add_columns = [&](Tensor y) {
          for (std::int64_t k = 0; k < columns; k++)
            y = y +
                reshape(slice(x, {0, k}, {rows, k + 1}), {rows}) * Tensor(static_cast<T>(k + 1));
          return y;
        };
        return std::pair(add_columns(y),
                         fori_loop(
                             0, 3, [&](Tensor, Tensor y) { return add_columns(y); }, y));
      },
      x.type(), y.type());
  const std::vector<Literal> got = expect_agreement(f, {x, y});
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); i++) {
    T sum = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(columns); k++)
      sum += x.data<T>()[i * static_cast<std::size_t>(columns) + k] * static_cast<T>(k + 1);
    ASSERT_EQ(got[0].data<T>()[i], y.data<T>()[i] + sum) << i;
    ASSERT_EQ(got[1].data<T>()[i], y.data<T>()[i] + 3 * sum) << i;
  }
}

TEST(FewLanes, ColumnsOfAnyNumber) {
  for (const std::int64_t columns : {2, 3, 4, 5, 8, 9}) {
    for (const std::int64_t rows : {2, 5, 8, 9, 16, 25, 35, 70}) {
      expect_rows<float>(rows, columns);
      expect_rows<double>(rows, columns);
      expect_rows<std::int32_t>(rows, columns);
    }
  }
}

/// Five points that attract one another: rows of three, pairs of points.
Function attraction() {
  return trace(
      [](Tensor x, Tensor v) {
        const Tensor diagonal = eye(5, DType::kF64);
        auto [xs, vs] = fori_loop(0, 20,
                                  [&](Tensor, Tensor x, Tensor v) {
                                    const Tensor d = expand_dims(x, 1) - expand_dims(x, 0);
                                    const Tensor r = sum(d * d, {2}) + diagonal;
                                    const Tensor next =
                                        v - sum(d * expand_dims(0.01 / (r * sqrt(r)), 2), {1});
                                    return std::tuple(x + 0.01 * next, next);
                                  },
                                  std::tuple(x, v), {.name = "steps"});
        return std::pair(xs, vs);
      },
      f64({5, 3}), f64({5, 3}));
}

TEST(FewLanes, NestsInALoopGiveWhatPlainLoopsGive) {
  std::vector<double> x, v;
  for (int i = 0; i < 15; i++) {
    x.push_back(i % 4 + 0.37 * i);
    v.push_back(0.01 * (i % 7));
  }
  const std::vector<Literal> arguments{Literal::from(x, {5, 3}), Literal::from(v, {5, 3})};
  const std::vector<Literal> got = expect_agreement(attraction(), arguments);
  for (int step = 0; step < 20; step++) {
    const std::vector<double> from = x;
    for (std::size_t i = 0; i < 5; i++) {
      double change[3] = {};
      for (std::size_t j = 0; j < 5; j++) {
        double r = i == j ? 1 : 0;
        for (std::size_t k = 0; k < 3; k++)
          r += (from[3 * i + k] - from[3 * j + k]) * (from[3 * i + k] - from[3 * j + k]);
        for (std::size_t k = 0; k < 3; k++)
          change[k] += (from[3 * i + k] - from[3 * j + k]) * (0.01 / (r * std::sqrt(r)));
      }
      for (std::size_t k = 0; k < 3; k++) {
        v[3 * i + k] -= change[k];
        x[3 * i + k] = from[3 * i + k] + 0.01 * v[3 * i + k];
      }
    }
  }
  for (std::size_t e = 0; e < 15; e++) {
    EXPECT_NEAR(got[0].data<double>()[e], x[e], 1e-12) << e;
    EXPECT_NEAR(got[1].data<double>()[e], v[e], 1e-12) << e;
  }
}

TEST(FewLanes, NestsInALoopAreWrittenOut) {
  const Lowered lowered(attraction());
  SCOPED_TRACE(native_code::disassembly(lowered.program(), &native_code::x86::avx512()));
  const native_code::Steps steps = lowered.native_steps(&native_code::x86::avx512(), "steps");
  const bool has_code = native_code::has_assembler();
  EXPECT_EQ(count(steps, native_code::computes(lower::Opcode::kSqrt, lower::Type::kF64, 8)) > 0,
            has_code);
  EXPECT_EQ(count(steps, is(native_code::Kind::kForBegin)),
            has_code ? 1 : 0);  // the function's own
}

// What small nests carry from trip to trip, and nested loops of them.
TEST(FewLanes, SumsAndProductsOverOuterAxes) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 4,
            [](Tensor, Tensor x) {
              const Tensor scale = max(abs(x)) + 1.0f;
              const Tensor totals = sum(x, {0, 1});  // over 12 elements
              return (x * 0.5f + totals + prod(x, {1}, true) / scale) / scale;
            },
            x);
      },
      f32({3, 4, 9}));
  std::vector<float> x;
  for (int i = 0; i < 108; i++) x.push_back(0.25f * static_cast<float>((i * 7) % 13) - 1.5f);
  expect_agreement(f, {Literal::from(x, {3, 4, 9})});
}

}  // namespace
}  // namespace rondo::testing
