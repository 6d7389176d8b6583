// Arrays that one branch leaves unchanged and another one writes completely; arrays that a trip
// copies at most once.
#include <complex>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

std::ptrdiff_t copies_made(const Function& f) { return Lowered(f).count(lower::Opcode::kCopy); }

struct Two {
  Tensor a, b;
};

/// Some trips of a conditional on the trip's number, carrying two arrays.
template <class Then, class Else>
Function loop_of(Then then, Else otherwise, std::int64_t size = 40) {
  return trace(
      [=](Tensor a, Tensor b) {
        Two e = fori_loop(
            0, 7, [&](Tensor i, Two s) { return cond(i % 3 == 1, then, otherwise, s); }, Two{a, b});
        return std::pair{e.a, e.b};
      },
      f32({size}), f32({size}));
}

void expect_loop(const Function& f) {
  expect_agreement(f, {ramp({40}, 0.5f, -3), ramp({40}, -0.25f, 2)});
}

TEST(UntouchedArrays, AreNotCopiedBesideABranchThatWritesAllOfThem) {
  const Function f = loop_of(
      [](Two s) {
        return Two{where(s.a > s.a[3], 1.5f, s.a), s.b};
      },
      [](Two s) { return s; });
  EXPECT_EQ(copies_made(f), 2);  // of the arguments
  expect_loop(f);
  // What is read at other positions needs separate memory, and one copy.
  const Function g = loop_of(
      [](Two s) {
        return Two{reverse(s.a, {0}) + s.a, s.b};
      },
      [](Two s) { return s; });
  EXPECT_EQ(copies_made(g), 3);  // two are of the arguments
  expect_loop(g);
}

// One of two results that change the same operand reuses its memory, in which the other one is
// computed.
TEST(UntouchedArrays, GoToTheResultsOneAfterTheOther) {
  for (const bool swapped : {false, true}) {
    const Function f = trace(
        [&](Tensor x, Tensor takes) {
          const Two e = cond(
              takes,
              [](Tensor a) {
                return Two{2 * a, cumsum(a, 0)};
              },
              [&](Tensor a) {
                const Tensor first = update(a, 0, 7.0f), last = update(a, 39, 8.0f);
                return swapped ? Two{last, first} : Two{first, last};
              },
              x + 1);
          return std::pair{e.a, e.b};
        },
        f32({40}), pred());
    for (const bool takes : {false, true})
      expect_agreement(f, {ramp({40}, 0.5f, -3), Literal::scalar(takes)});
  }
}

TEST(UntouchedArrays, KeepTheirValueUntilBothResultsStand) {
  const auto keep = [](Two s) { return s; };
  expect_loop(loop_of([](Two s) { return Two{2 * s.b, 0.5f * s.a}; }, keep));
  expect_loop(loop_of([](Two s) { return Two{s.b, s.a}; }, keep));
  expect_loop(loop_of([](Two s) { return Two{s.b + 1, s.b}; }, keep));
  expect_loop(loop_of([](Two s) { return Two{s.a + s.b, s.a}; }, keep));
  expect_loop(loop_of(
      [](Two s) {
        return Two{reshape(reshape(s.b, {4, 10}), {40}), s.a + 1};
      },
      keep));
  expect_loop(loop_of(
      [](Two s) {
        const Tensor both = s.a + s.b;
        return Two{reverse(both, {0}), both - s.a};
      },
      keep));
  expect_loop(loop_of(
      [](Two s) {
        return Two{s.a + 1, s.b};
      },
      [](Two s) {
        return Two{update(s.a, 3, Tensor(9.0f)), s.b * 2};
      }));
  expect_loop(loop_of(
      [](Two s) {
        return Two{update(s.b, 1, s.a[0]), s.a};
      },
      [](Two s) {
        return Two{update(s.a, 3, s.b[1]), s.b * 2};
      }));
  expect_loop(loop_of([](Two s) { return Two{zeros(f32({40})), s.b}; }, keep));
  expect_loop(loop_of(
      [](Two s) {
        return Two{fori_loop(
                       0, 3, [](Tensor i, Tensor a) { return update(a, i, a[i + 1]); }, s.a),
                   s.a + s.b};
      },
      keep));
}

// A loop in a trip that computes an array from the carry, which it also reads at other positions.
TEST(UntouchedArrays, AreCopiedOnceWhereALoopReadsThemAsTheyWere) {
  const Function f = trace(
      [](Tensor a) {
        return fori_loop(
            0, 5,
            [](Tensor, Tensor a) {
              return fori_loop(
                  1, 20, [&](Tensor j, Tensor b) { return update(b, j, a[j] + 0.5f * a[20 - j]); },
                  a);
            },
            a);
      },
      f32({21}));
  EXPECT_EQ(copies_made(f), 3);  // the argument before the loop, the carry in a trip, the result
  expect_agreement(f, {ramp({21}, 0.5f, -3)});
}

TEST(UntouchedArrays, ProductsOfComplexNumbersStandInLoops) {
  const auto f = trace(
      [](Tensor z, Tensor c) {
        return fori_loop(
            0, 5, [&](Tensor, Tensor z) { return z * z * 0.5f + c; }, z);
      },
      c64({9}), c64({9}));
  EXPECT_FALSE(calls_kernels(f)) << Lowered(f);
  std::vector<std::complex<float>> z, c, want;
  for (int i = 0; i < 9; i++) {
    z.emplace_back(0.1f * static_cast<float>(i), -0.3f);
    c.emplace_back(0.2f, 0.05f * static_cast<float>(i));
  }
  for (std::size_t i = 0; i < 9; i++) {
    float x = z[i].real(), y = z[i].imag();
    for (int k = 0; k < 5; k++) {
      const float re = (x * x - y * y) * 0.5f + c[i].real();
      y = (x * y + y * x) * 0.5f + c[i].imag();
      x = re;
    }
    want.emplace_back(x, y);
  }
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Literal got =
        compile(f, {.executor = executor}).run({Literal::from(z, {9}), Literal::from(c, {9})})[0];
    for (std::size_t i = 0; i < 9; i++)
      EXPECT_LT(std::abs(got.data<std::complex<float>>()[i] - want[i]), 1e-6f) << i;
  }
  // By the formula, like XLA: an infinite part with a zero one gives NaN.
  const Tensor infinite = complex(Tensor(INFINITY), Tensor(0.0f));
  const Literal product = (infinite * complex(Tensor(0.0f), Tensor(1.0f))).eval();
  EXPECT_TRUE(std::isnan(product.data<std::complex<float>>()[0].real()));
  EXPECT_EQ(product.data<std::complex<float>>()[0].imag(), INFINITY);
}

}  // namespace
}  // namespace rondo::testing
