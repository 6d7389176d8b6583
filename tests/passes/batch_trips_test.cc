#include "passes/batch_trips.h"

#include "passes/check_trips.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kTrips = 10, kRows = 8, kWidth = 64;
const TensorType kWeights = f32({kWidth, kWidth}), kState = f32({kRows, kWidth}),
                 kSequence = f32({kTrips, kRows, kWidth});

BothForms batched(const Function& function) { return {function, passes::batch_trips}; }

/// The state is a whole number that stays small.
Tensor halved(const Tensor& x) { return x - floor(x / 3.0f) * 3.0f; }

std::vector<Literal> arguments_for(const Function& function) {
  std::vector<Literal> arguments;
  for (const TensorType& type : function.params())
    arguments.push_back(whole_numbers(type.shape.vector(), static_cast<int>(arguments.size())));
  return arguments;
}

Function recurrent(const ScanOptions& options = {}) {
  return trace(
      [&](Tensor w, Tensor u, Tensor h, Tensor xs) {
        return scan(
            [&](Tensor h, Tensor x) {
              const Tensor next = halved(matmul(x, w) + matmul(h, u));
              return std::pair(next, next);
            },
            h, xs, options);
      },
      kWeights, kWeights, kState, kSequence);
}

TEST(BatchTrips, AProductOfASliceIsOneProductBeforeTheLoop) {
  const BothForms forms = batched(recurrent());
  EXPECT_EQ(products_outside(forms.plain), 0);
  EXPECT_EQ(products_outside(forms.changed), 1);
  EXPECT_EQ(find_node(forms.changed, "dot_general")->type(), kSequence);
  const ir::Node* loop = find_node(forms.changed, "scan");
  EXPECT_EQ(products_outside(loop->regions[0]), 1);  // that of the carry
  const auto [before, after] = expect_same_values(forms, arguments_for(forms.plain));
  EXPECT_EQ(before - after, kTrips - 1);
}

TEST(BatchTrips, ValuesOfThePlainLoop) {
  const BothForms forms = batched(recurrent());
  const std::vector<Literal> arguments = arguments_for(forms.plain);
  const auto w = arguments[0].data<float>(), u = arguments[1].data<float>(),
             xs = arguments[3].data<float>();
  std::vector<float> h(arguments[2].data<float>().begin(), arguments[2].data<float>().end());
  for (std::size_t t = 0; t < kTrips; t++) {
    std::vector<float> next(h.size());
    for (std::size_t i = 0; i < kRows; i++) {
      for (std::size_t j = 0; j < kWidth; j++) {
        float sum = 0;
        for (std::size_t k = 0; k < kWidth; k++)
          sum += xs[(t * kRows + i) * kWidth + k] * w[k * kWidth + j] +
                 h[i * kWidth + k] * u[k * kWidth + j];
        next[i * kWidth + j] = sum - std::floor(sum / 3.0f) * 3.0f;
      }
    }
    h = next;
  }
  const Literal got = compile(forms.changed, {.optimize = false}).run(arguments)[0];
  EXPECT_TRUE(same_values(got, Literal::from(h, {kRows, kWidth})));
}

TEST(BatchTrips, BackwardsAndAlongAnotherAxis) {
  const BothForms reverse = batched(recurrent({.reverse = true}));
  EXPECT_EQ(products_outside(reverse.changed), 1);
  expect_same_values(reverse, arguments_for(reverse.plain));

  const BothForms inner = batched(trace(
      [&](Tensor w, Tensor h, Tensor xs) {
        return scan([&](Tensor h, Tensor x) { return std::pair(halved(h + matmul(x, w)), h); }, h,
                    xs, {.axis = 1});
      },
      kWeights, kState, f32({kRows, kTrips, kWidth})));
  EXPECT_EQ(products_outside(inner.changed), 1);
  expect_same_values(inner, arguments_for(inner.plain));
}

TEST(BatchTrips, WhatLeadsFromTheSliceToTheProductGoesAlong) {
  const BothForms forms = batched(trace(
      [&](Tensor w, Tensor u, Tensor h, Tensor xs) {
        return scan(
            [&](Tensor h, Tensor x) {
              const Tensor hidden = maximum(matmul(x * 2.0f, w), 0.0f);
              return std::pair(halved(h + matmul(hidden - sum(hidden), u)), hidden);
            },
            h, xs);
      },
      kWeights, kWeights, kState, kSequence));
  EXPECT_EQ(products_outside(forms.changed), 2);
  EXPECT_EQ(products_outside(find_node(forms.changed, "scan")->regions[0]), 0);
  expect_same_values(forms, arguments_for(forms.plain));
}

TEST(BatchTrips, ALoopWithAnIndexReadsSlices) {
  for (const bool reverse : {false, true}) {
    const BothForms forms = batched(trace(
        [&](Tensor w, Tensor h, Tensor xs) {
          return fori_loop(
              3, 3 + 2 * kTrips,
              [&](Tensor i, Tensor h) {
                return halved(h + matmul(xs[(i - 3) / 2], w) + convert(i, DType::kF32));
              },
              h, {.step = 2, .reverse = reverse, .name = "steps"});
        },
        kWeights, kState, kSequence));
    EXPECT_EQ(products_outside(forms.changed), 1);
    expect_same_values(forms, arguments_for(forms.plain));
    const Executable executable = compile(forms.changed, {.optimize = false});
    executable.run(arguments_for(forms.plain));
    EXPECT_EQ(executable.stats().loops.at(0).name, "steps");
    EXPECT_EQ(executable.stats().loops.at(0).trips, kTrips);
  }
}

TEST(BatchTrips, OutOfNestedLoops) {
  const BothForms forms = batched(trace(
      [&](Tensor w, Tensor h, Tensor xs) {
        return scan(
                   [&](Tensor h, Tensor rows) {
                     const Tensor next =
                         scan(
                             [&](Tensor h, Tensor x) {
                               return std::pair(halved(h + matmul(x, w)), Tensor(0.0f));
                             },
                             h, rows)
                             .first;
                     return std::pair(next, Tensor(0.0f));
                   },
                   h, xs)
            .first;
      },
      kWeights, f32({2, kWidth}), f32({8, 8, 2, kWidth})));
  expect_same_values(forms, arguments_for(forms.plain));
  const BothForms wide = batched(trace(
      [&](Tensor w, Tensor h, Tensor xs) {
        return fori_loop(
            0, 9,
            [&](Tensor, Tensor h) {
              return scan(
                         [&](Tensor h, Tensor x) {
                           return std::pair(halved(h + matmul(x, w)), Tensor(0.0f));
                         },
                         h, xs)
                  .first;
            },
            h);
      },
      kWeights, kState, kSequence));
  EXPECT_EQ(products_outside(wide.changed), 1);
  expect_same_values(wide, arguments_for(wide.plain));
}

/// A scan over `xs` that adds `product(x, w)` to its carry.
template <class Product>
Function adding(const TensorType& state, const TensorType& xs, Product product) {
  return trace(
      [&](Tensor w, Tensor h, Tensor xs) {
        return scan([&](Tensor h, Tensor x) { return std::pair(h + product(x, w), h); }, h, xs);
      },
      kWeights, state, xs);
}

TEST(BatchTrips, WhatGainsNothingStays) {
  const auto plain = [](Tensor x, Tensor w) { return matmul(x, w); };
  EXPECT_TRUE(batched(adding(f32({2, kWidth}), f32({kTrips, 2, kWidth}), plain)).same())
      << "written in the loop";
  EXPECT_TRUE(batched(adding(kState, f32({4, kRows, kWidth}), plain)).same()) << "few trips";
  EXPECT_TRUE(batched(adding(f32({100, kWidth}), f32({kTrips, 100, kWidth}), plain)).same())
      << "a large product already";
  EXPECT_TRUE(batched(adding(kWeights, f32({kTrips, kWidth, kWidth}),
                             [](Tensor x, Tensor) { return matmul(x, x); }))
                  .same())
      << "nothing is shared";
}

TEST(BatchTrips, WhatIsSeenOrChosenTripByTripStays) {
  EXPECT_TRUE(batched(adding(kState, kSequence, [](Tensor x, Tensor w) {
                return matmul(tap(x, "x"), w);
              })).same());
  EXPECT_TRUE(batched(adding(kState, kSequence, [](Tensor x, Tensor w) {
                return cond(
                    sum(x) > 0.0f, [&](Tensor x) { return matmul(x, w); },
                    [](Tensor x) { return x; }, x);
              })).same());
  EXPECT_TRUE(batched(trace(
                          [](Tensor w, Tensor h, Tensor n) {
                            return fori_loop(
                                0, n,
                                [&](Tensor i, Tensor h) {
                                  return h + matmul(h * 0.0f + convert(i, DType::kF32), w);
                                },
                                h);
                          },
                          kWeights, kState, s32()))
                  .same());
}

TEST(BatchTrips, OnlyWhatTakesLittleMoreThanTheLoopDoes) {
  // The result of a trip is 32 times as large as its slice; nothing else of that size is kept.
  const auto program = [](std::int64_t trips) {
    return trace(
        [&](Tensor w, Tensor h, Tensor xs) {
          return scan([&](Tensor h,
                          Tensor x) { return std::pair(maximum(h, matmul(x, w)), sum(x)); },
                      h, xs)
              .first;
        },
        f32({16, 512}), f32({4, 512}), f32({trips, 4, 16}));
  };
  EXPECT_FALSE(batched(program(100)).same());   // 0.8 MB
  EXPECT_TRUE(batched(program(10000)).same());  // 82 MB, compared with 2.6
}

}  // namespace
}  // namespace rondo::testing
