// Loops over small arrays: vectors of states, small matrices. They stay in registers between trips,
// as scalars do.
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo {
namespace {

using lower::Opcode;
using testing::expect_agreement;
using testing::Lowered;

TEST(SmallArrays, AreCarriedInRegisters) {
  const auto slope = [](Tensor s) { return stack({s[1], -4.0 * s[0] - 0.5 * s[1]}, 0); };
  const Function f = trace(
      [&](Tensor s, Tensor n) {
        return fori_loop(
            0, n, [&](Tensor, Tensor s) { return s + 0.01 * slope(s + 0.005 * slope(s)); }, s);
      },
      f64({2}), s32());
  const Lowered lowered(f);
  EXPECT_EQ(lowered.loops_in_registers(), 1) << lowered;
  EXPECT_EQ(lowered.count(Opcode::kLanes), 0) << lowered;
  EXPECT_EQ(lowered.count(Opcode::kStore), 2) << lowered;
  EXPECT_EQ(lowered.count_in_loops(Opcode::kStore), 0) << lowered;
  for (const int n : {0, 1, 2, 100}) {
    double x = 1, v = 0.25;
    for (int i = 0; i < n; i++) {
      const double mx = x + 0.005 * v, mv = v + 0.005 * (-4 * x - 0.5 * v);
      x += 0.01 * mv;
      v += 0.01 * (-4 * mx - 0.5 * mv);
    }
    const auto got =
        expect_agreement(f, {Literal::from<double>({1, 0.25}, {2}), Literal::scalar(n)});
    EXPECT_NEAR(got[0].data<double>()[0], x, 1e-12);
    EXPECT_NEAR(got[0].data<double>()[1], v, 1e-12);
  }
}

TEST(SmallArrays, AreMultipliedAsMatrices) {
  // The covariance of a filter, with the trace of each trip and the rows of the last one.
  const Function f = trace(
      [](Tensor z) {
        const Tensor turn = matrix({{1.0, 0.1}, {-0.2, 1.0}});
        return scan(
            [&](std::pair<Tensor, Tensor> s, Tensor z) {
              const Tensor x = matmul(turn, s.first);
              const Tensor p =
                  matmul(matmul(turn, s.second), transpose(turn)) + 0.5 * eye(2, DType::kF64);
              const Tensor gain = column(p, 0) / (at(p, {0, 0}) + 1.0);
              const std::pair next{x + gain * (z - x[0]), p - outer(gain, p[0])};
              return std::pair{next, next.first};
            },
            std::pair{zeros(f64({2})), eye(2, DType::kF64)}, z);
      },
      f64({6}));
  // Not even for the zeros of the history.
  EXPECT_EQ(Lowered(f).count(Opcode::kLanes), 0) << Lowered(f);
  const std::vector<double> z{1, -2, 3, 0.5, 7, -1};
  const auto got = expect_agreement(f, {Literal::from(z, {6})});
  double x[2] = {0, 0}, p[4] = {1, 0, 0, 1};
  for (std::size_t t = 0; t < z.size(); t++) {
    const double m[4] = {1, 0.1, -0.2, 1}, y[2] = {x[0] + 0.1 * x[1], x[1] - 0.2 * x[0]};
    double a[4], b[4];
    for (std::size_t i = 0; i < 2; i++) {
      for (std::size_t j = 0; j < 2; j++) a[2 * i + j] = m[2 * i] * p[j] + m[2 * i + 1] * p[2 + j];
    }
    for (std::size_t i = 0; i < 2; i++) {
      for (std::size_t j = 0; j < 2; j++)
        b[2 * i + j] = a[2 * i] * m[2 * j] + a[2 * i + 1] * m[2 * j + 1] + (i == j ? 0.5 : 0);
    }
    for (std::size_t i = 0; i < 2; i++) {
      const double gain = b[2 * i] / (b[0] + 1);
      x[i] = y[i] + gain * (z[t] - y[0]);
      for (std::size_t j = 0; j < 2; j++) p[2 * i + j] = b[2 * i + j] - gain * b[j];
      EXPECT_NEAR(got[2].data<double>()[2 * t + i], x[i], 1e-12);
    }
  }
  for (std::size_t i = 0; i < 4; i++) EXPECT_NEAR(got[1].data<double>()[i], p[i], 1e-12);
}

TEST(SmallArrays, AreReadBackFromAHistoryAtAnyPlace) {
  // Each row is made of two earlier ones, the second of which is looked up.
  const Function f = trace(
      [](Tensor table, Tensor where) {
        return fori_loop(
            2, 12,
            [&](Tensor i, Tensor t) {
              const Tensor row = t[i - 1] * 0.5f + reverse(t[where[i]], {0});
              return update(t, i, row);
            },
            table);
      },
      f32({12, 3}), s32({12}));
  const std::vector<std::int32_t> where{0, 0, 0, 2, 1, 4, 3, 5, 5, 99, -7, 10};
  std::vector<float> table(36, 0.f);
  for (std::size_t i = 0; i < 6; i++) table[i] = static_cast<float>(i) - 2;
  const auto got = expect_agreement(f, {Literal::from(table, {12, 3}), Literal::from(where, {12})});
  EXPECT_EQ(Lowered(f).count(Opcode::kLanes), 0) << Lowered(f);
  for (std::size_t i = 2; i < 12; i++) {
    const auto from = static_cast<std::size_t>(std::clamp(where[i], 0, 11));
    std::array<float, 3> row;
    for (std::size_t j = 0; j < 3; j++)
      row[j] = table[3 * (i - 1) + j] * 0.5f + table[3 * from + 2 - j];
    for (std::size_t j = 0; j < 3; j++) table[3 * i + j] = row[j];
  }
  for (std::size_t i = 0; i < table.size(); i++)
    EXPECT_NEAR(got[0].data<float>()[i], table[i], 1e-4f * (1 + std::abs(table[i]))) << i;
}

TEST(SmallArrays, HaveElementsAtPlacesOfTheRun) {
  // Up to four elements are selected from; more are read and written in memory.
  for (const std::int64_t size : {2, 3, 4, 5, 8, 16}) {
    const auto n = static_cast<int>(size);
    const Function f = trace(
        [&](Tensor x) {
          return fori_loop(
              0, 3 * n,
              [&](Tensor i, std::pair<Tensor, Tensor> s) {
                const Tensor k = (i * 3) % n;
                const Tensor value = s.first[k] * 2 + s.second[0];
                return std::pair{update(s.first, k - 1, value), s.second + value};
              },
              std::pair{x, zeros(s32({2}))});
        },
        s32({size}));
    std::vector<std::int32_t> x;
    for (int i = 0; i < n; i++) x.push_back(i - 1);
    const auto got = expect_agreement(f, {Literal::from(x, {size})});
    std::array<std::uint32_t, 2> sum{};
    for (int i = 0; i < 3 * n; i++) {
      const auto k = static_cast<std::size_t>(i * 3 % n);
      const std::uint32_t value = static_cast<std::uint32_t>(x[k]) * 2 + sum[0];
      x[k == 0 ? 0 : k - 1] = static_cast<std::int32_t>(value);
      for (std::uint32_t& s : sum) s += value;
    }
    EXPECT_TRUE(got[0].identical(Literal::from(x, {size}))) << size;
    EXPECT_EQ(static_cast<std::uint32_t>(got[1].data<std::int32_t>()[1]), sum[1]) << size;
  }
}

TEST(SmallArrays, GoThroughBranchesAndInnerLoops) {
  const Function f = trace(
      [](Tensor x, Tensor n) {
        return while_loop([](Tensor i, Tensor x) { return (i < 40) & (sum(square(x)) < 1e4); },
                          [&](Tensor i, Tensor x) {
                            const Tensor grown = fori_loop(
                                0, i % n,
                                [](Tensor, Tensor y) { return y + 0.25 * reverse(y, {0}); }, x);
                            const Tensor next = cond(
                                i % 2 == 0,
                                [](Tensor y) {
                                  return y * constant({1.0, -0.5, 0.25});
                                },
                                [](Tensor y) {
                                  return concatenate({slice(y, {1}, {3}), slice(y, {0}, {1})}, 0);
                                },
                                grown);
                            return std::pair{i + 1, next};
                          },
                          std::pair{Tensor(0), x});
      },
      f64({3}), s32());
  EXPECT_EQ(Lowered(f).count(Opcode::kLanes), 0) << Lowered(f);
  for (const int n : {1, 3, 5}) {
    for (const double first : {1.0, 30.0, 1e6}) {
      std::array<double, 3> x{first, -2, 0.5};
      int i = 0;
      for (; i < 40 && x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 1e4; i++) {
        for (int k = 0; k < i % n; k++)
          x = {x[0] + 0.25 * x[2], x[1] + 0.25 * x[1], x[2] + 0.25 * x[0]};
        x = i % 2 == 0 ? std::array{x[0], x[1] * -0.5, x[2] * 0.25} : std::array{x[1], x[2], x[0]};
      }
      const auto got =
          expect_agreement(f, {Literal::from<double>({first, -2, 0.5}, {3}), Literal::scalar(n)});
      EXPECT_EQ(got[0].item<std::int32_t>(), i);
      for (std::size_t k = 0; k < 3; k++)
        EXPECT_NEAR(got[1].data<double>()[k], x[k], 1e-9 * (1 + std::abs(x[k])));
    }
  }
}

TEST(SmallArrays, StayInMemoryBesideLargeOnes) {
  const Function f = trace(
      [](Tensor x, Tensor s) {
        return fori_loop(
            0, 5,
            [](Tensor, Tensor x, Tensor s) {
              const Tensor grown = cumsum(x, 0) * s[1];
              return std::tuple(grown, stack({s[1], s[0] + grown[7]}, 0));
            },
            std::tuple(x, s));
      },
      f32({40}), f32({2}));
  std::vector<float> x(40, 0.01f), s{0.5f, 0.25f};
  const auto got = expect_agreement(f, {Literal::from(x, {40}), Literal::from(s, {2})});
  for (int t = 0; t < 5; t++) {
    float total = 0;
    for (float& v : x) {
      total += v;
      v = total * s[1];
    }
    s = {s[1], s[0] + x[7]};
  }
  for (std::size_t i = 0; i < 2; i++)
    EXPECT_NEAR(got[1].data<float>()[i], s[i], 1e-4f * (1 + std::abs(s[i])));
}

// A function of many ops takes as long for eight elements in a vector as for one in a register.
TEST(SmallArrays, AreVectorsWhereTheirElementsAreDear) {
  const auto loop = [](std::int64_t n, bool expensive) {
    return trace(
        [&](Tensor a, Tensor s) {
          return fori_loop(
              0, 6,
              [&](Tensor, Tensor s) {
                const Tensor next = matmul(a, s);
                return expensive ? tanh(next) : next / sqrt(1.0f + sum(next * next));
              },
              s);
        },
        f32({n, n}), f32({n}));
  };
  const auto in_registers = [](const Function& f) { return Lowered(f).loops_in_registers() == 1; };
  EXPECT_TRUE(in_registers(loop(2, true)));
  EXPECT_FALSE(in_registers(loop(4, true)));
  EXPECT_TRUE(in_registers(loop(4, false)));
  for (const std::size_t n : {2u, 4u}) {
    std::vector<float> a(n * n), s(n, 0.5f);
    for (std::size_t i = 0; i < a.size(); i++) a[i] = 0.25f * static_cast<float>(i) - 0.5f;
    const auto size = static_cast<std::int64_t>(n);
    const std::vector<Literal> start = {Literal::from(a, {size, size}), Literal::from(s, {size})};
    for (int t = 0; t < 6; t++) {
      std::vector<float> next(n, 0.0f);
      for (std::size_t i = 0; i < n * n; i++) next[i / n] += a[i] * s[i % n];
      for (std::size_t i = 0; i < n; i++) s[i] = std::tanh(next[i]);
    }
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      const auto got = compile(loop(size, true), {.executor = executor}).run(start);
      for (std::size_t i = 0; i < n; i++) EXPECT_NEAR(got[0].data<float>()[i], s[i], 1e-5f);
    }
  }
}

// 64 scalar products have fewer dependent steps than vectors, but four times as many instructions;
// for 27 the vectors would be short.
TEST(SmallArrays, AreVectorsWhereTheirProductsAreMany) {
  const auto powers = [](std::int64_t n, const TensorType& type) {
    return trace(
        [](Tensor a, Tensor m) {
          return fori_loop(
              0, 6, [&](Tensor, Tensor m) { return matmul(a, m); }, m);
        },
        f64({n, n}), type);
  };
  const auto in_registers = [](const Function& f) { return Lowered(f).loops_in_registers() == 1; };
  EXPECT_TRUE(in_registers(powers(2, f64({2, 2}))));
  EXPECT_TRUE(in_registers(powers(3, f64({3, 3}))));
  EXPECT_FALSE(in_registers(powers(4, f64({4, 4}))));
  EXPECT_TRUE(in_registers(powers(6, f64({6}))));  // each sum would be a dependent step
  for (const std::size_t n : {3u, 4u}) {
    std::vector<double> a(n * n), m(n * n);
    for (std::size_t i = 0; i < n * n; i++) {
      a[i] = 0.25 * static_cast<double>(i % 5) - 0.4;
      m[i] = 1.0 / static_cast<double>(i + 1);
    }
    const auto size = static_cast<std::int64_t>(n);
    const auto got =
        expect_agreement(powers(size, f64({size, size})),
                         {Literal::from(a, {size, size}), Literal::from(m, {size, size})});
    for (int t = 0; t < 6; t++) {
      std::vector<double> next(n * n);
      for (std::size_t i = 0; i < n * n * n; i++)
        next[i / n / n * n + i % n] += a[i / n] * m[i / n % n * n + i % n];
      m = next;
    }
    for (std::size_t i = 0; i < n * n; i++) EXPECT_NEAR(got[0].data<double>()[i], m[i], 1e-12);
  }
}

TEST(SmallArrays, AreThereWhereALimitEndsTheLoop) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 100, [](Tensor, Tensor x) { return reverse(x, {0}) + 1.0f; }, x);
      },
      f32({2}));
  const Executable exe = compile(f);
  const Literal x = Literal::from<float>({0, 10}, {2});
  try {
    (void)exe.run({x}, {.max_iterations = 3});
    FAIL() << "nothing is thrown";
  } catch (const TooManyIterations& error) {
    EXPECT_EQ(error.trip(), 3);
    EXPECT_TRUE(error.carry()[0].second.identical(Literal::from<float>({13, 3}, {2})));
  }
  RunStats stats;
  EXPECT_EQ(exe.run({x}, {.stats = &stats})[0].data<float>()[0], 100.f);
  EXPECT_EQ(stats.loops[0].trips, 100);
}

}  // namespace
}  // namespace rondo
