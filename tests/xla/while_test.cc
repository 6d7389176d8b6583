// while_loop and fori_loop in real XLA.
#include <array>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaWhile : public XlaTest {};
class XlaFori : public XlaTest {};

struct House {
  Tensor step, slab, tank;
};
struct Point {
  Tensor x, y;
};
struct Body {
  Point position;
  std::array<Tensor, 2> velocity;
  std::vector<Tensor> history;
};

TEST_F(XlaWhile, CarriesAStruct) {
  check(
      [](Tensor tank0) {
        return while_loop(
            [](House h) { return h.step < 20; },
            [](House h) {
              return House{h.step + 1, h.slab + 0.1 * (h.tank - h.slab), h.tank * 0.99};
            },
            House{0, 20.0f, tank0});
      },
      Literal::scalar(70.0f));
}

TEST_F(XlaWhile, CarriesNestedTrees) {
  check(
      [](Tensor x, Tensor v) {
        return while_loop([](Body b) { return b.position.x < 10; },
                          [](Body b) {
                            return Body{
                                {b.position.x + b.velocity[0], b.position.y + b.velocity[1]},
                                {b.velocity[0], -b.velocity[1]},
                                {b.history[1], b.history[0] + 1}};
                          },
                          Body{{x, x}, {v, v}, {x, v}});
      },
      Literal::scalar(0.5f), Literal::scalar(1.25f));
}

TEST_F(XlaWhile, MakesNoTripWhenItsConditionIsFalse) {
  check(
      [](Tensor x) {
        return while_loop([](Tensor v) { return all(v < 0); }, [](Tensor v) { return v * 2; }, x);
      },
      row<std::int32_t>({1, 2, 3}));
}

TEST_F(XlaWhile, CarriesEveryDtype) {
  std::vector<Literal> values;
  std::vector<TensorType> types;
  for (const DType dtype : kAllDTypes) {
    values.push_back(counting({dtype, {3}}));
    types.push_back(values.back().type());
  }
  const Function f = trace(
      [](const std::vector<Tensor>& init) {
        return while_loop(
            [](const std::tuple<Tensor, std::vector<Tensor>>& s) { return std::get<0>(s) < 5; },
            [](const std::tuple<Tensor, std::vector<Tensor>>& s) {
              auto [i, values_now] = s;
              for (Tensor& v : values_now) v = v.dtype() == DType::kPred ? v ^ (v == v) : v + v;
              return std::tuple(i + 1, values_now);
            },
            std::tuple(Tensor(0), init));
      },
      types);
  expect_same_as_xla(f, values);
}

TEST_F(XlaWhile, CountsWithEveryIntegerDtype) {
  for (const DType dtype : kAllDTypes) {
    if (!is_integer(dtype)) continue;
    SCOPED_TRACE(dtype_name(dtype));
    check(
        [](Tensor n) {
          return while_loop([&](Tensor i, Tensor) { return i < n; },
                            [](Tensor i, Tensor total) { return std::tuple(i + 1, total + i); },
                            std::tuple(zeros(n.type()), zeros(n.type())));
        },
        convert(Tensor(7), dtype).eval());
  }
}

TEST_F(XlaWhile, CarriesAPredAsItsOwnCondition) {
  check(
      [](Tensor limit) {
        return while_loop([](Tensor going, Tensor) { return going; },
                          [&](Tensor, Tensor x) { return std::tuple(x + 1 < limit, x + 1); },
                          std::tuple(Tensor(true), Tensor(0)));
      },
      Literal::scalar(6));
}

TEST_F(XlaWhile, Rotates256Carries) {
  constexpr std::size_t kCarries = 256;
  const Function f = trace(
      [](const std::vector<Tensor>& init) {
        using State = std::pair<Tensor, std::vector<Tensor>>;
        return while_loop([](const State& s) { return s.first < 300; },
                          [](const State& s) {
                            std::vector<Tensor> next(s.second.begin() + 1, s.second.end());
                            next.push_back(s.second.front());
                            return State(s.first + 1, next);
                          },
                          State(Tensor(0), init))
            .second;
      },
      std::vector<TensorType>(kCarries, f32()));
  std::vector<Literal> arguments;
  for (std::size_t i = 0; i < kCarries; i++)
    arguments.push_back(Literal::scalar(static_cast<float>(i)));
  expect_same_as_xla(f, arguments);
}

TEST_F(XlaWhile, WithoutCarriesMakesNoTrip) {
  check(
      [](Tensor x) {
        (void)while_loop([&](std::tuple<>) { return x < 0; },
                         [](std::tuple<>) { return std::tuple<>(); }, std::tuple<>());
        return x + 1;
      },
      Literal::scalar(1));
}

TEST_F(XlaWhile, CarriesArraysWithoutElements) {
  check(
      [](Tensor empty, Tensor n) {
        return while_loop([&](Tensor i, Tensor) { return i < n; },
                          [](Tensor i, Tensor e) {
                            return std::tuple(i + convert(sum(e), DType::kS32) + 1, e * 2);
                          },
                          std::tuple(Tensor(0), empty));
      },
      Literal::zeros(f32({0, 3})), Literal::scalar(3));
}

TEST_F(XlaWhile, KeepsCarriesThatTheBodyDoesNotTouchAndDoubledOnes) {
  check(
      [](Tensor x, Tensor y) {
        return while_loop([](const std::vector<Tensor>& s) { return s[0] < 4; },
                          [](const std::vector<Tensor>& s) {
                            return std::vector<Tensor>{s[0] + 1,    s[1], s[2] + s[1],
                                                       s[3] + s[1], s[5], s[4]};
                          },
                          std::vector<Tensor>{Tensor(0), x, y, y, x, y});
      },
      row<float>({1, 2}), row<float>({3, 4}));
}

TEST_F(XlaWhile, CapturesAtSeveralDepths) {
  check(
      [](Tensor a, Tensor b) {
        const Tensor scale = a * 2;
        return while_loop([&](Tensor i, Tensor) { return i < b; },
                          [&](Tensor i, Tensor x) {
                            const Tensor shift = x + scale;
                            const auto inner =
                                while_loop([&](Tensor j, Tensor) { return j < i + 1; },
                                           [&](Tensor j, Tensor y) {
                                             const Tensor both = shift * y;
                                             const Tensor innermost = fori_loop(
                                                 0, 2,
                                                 [&](Tensor k, Tensor z) {
                                                   return z + both * 0.25 +
                                                          convert(k + i + j, DType::kF32) + a;
                                                 },
                                                 y);
                                             return std::tuple(j + 1, innermost * 0.125);
                                           },
                                           std::tuple(Tensor(0), x));
                            return std::tuple(i + 1, std::get<1>(inner));
                          },
                          std::tuple(Tensor(0), a));
      },
      row<float>({0.5f, -1}), Literal::scalar(3));
}

TEST_F(XlaWhile, HasALoopInItsCondition) {
  check(
      [](Tensor n) {
        return while_loop(
            [](Tensor x) {
              return fori_loop(
                         0, 3, [&](Tensor i, Tensor t) { return t + x * i; }, Tensor(0)) < 50;
            },
            [](Tensor x) { return x + 3; }, n);
      },
      Literal::scalar(1));
}

TEST_F(XlaWhile, StandsTwiceWithTheSameBody) {
  check(
      [](Tensor x) {
        auto twice = [](Tensor v) {
          return while_loop([](Tensor y) { return sum(y) < 100; }, [](Tensor y) { return y * 2; },
                            v);
        };
        return std::tuple(twice(x), twice(x + 1), twice(twice(x) - 90));
      },
      row<float>({1, 2}));
}

TEST_F(XlaWhile, Nests40Deep) {
  check(
      [](Tensor x) {
        std::function<Tensor(Tensor, int)> nest = [&](Tensor v, int depth) -> Tensor {
          if (depth == 0) return v + 1;
          return fori_loop(
              0, depth % 8 == 0 ? 2 : 1, [&](Tensor, Tensor y) { return nest(y, depth - 1) * 0.5; },
              v);
        };
        return nest(x, 40);
      },
      Literal::scalar(3.0f));
}

TEST_F(XlaWhile, KeepsAPromiseOfTrips) {
  check(
      [](Tensor n) {
        WhileOptions options;
        options.max_trip_count = 10;
        options.name = "promised";
        return while_loop([&](Tensor i, Tensor) { return i < n; },
                          [](Tensor i, Tensor x) { return std::tuple(i + 1, x * 1.5); },
                          std::tuple(Tensor(0), Tensor(1.0f)), options);
      },
      Literal::scalar(10));
}

TEST_F(XlaWhile, ThatBreaksItsPromiseYieldsNaN) {
  const Function f = trace(
      [](Tensor n) {
        WhileOptions options;
        options.max_trip_count = 4;
        return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                      [](Tensor i, Tensor x) { return std::tuple(i + 1, x * 1.5); },
                                      std::tuple(Tensor(0), Tensor(1.0f)), options));
      },
      s32());
  const std::vector<Literal> arguments{Literal::scalar(5)};
  EXPECT_THROW((void)compile(f).run(arguments), ExecutionError);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(difference(XlaOracle::shared().run(XlaOracle::Form::kHlo, to_hlo_text(f), arguments),
                       {Literal::scalar(nan)}),
            "");
  EXPECT_EQ(difference(XlaOracle::shared().run(XlaOracle::Form::kStablehlo, to_stablehlo_text(f),
                                               arguments),
                       {Literal::scalar(nan)}),
            "");
}

TEST_F(XlaWhile, StaysAcceptedWithMetadataAndOddNames) {
  const Function f = trace(
      [](Tensor x) {
        WhileOptions options;
        options.name = "my loop/with \"odd\" name & Ünicode";
        return while_loop([](Tensor v) { return v < 10; }, [](Tensor v) { return v + 1; }, x,
                          options);
      },
      f32());
  XlaOracle& xla = XlaOracle::shared();
  EXPECT_NO_THROW(xla.accept(XlaOracle::Form::kHlo, to_hlo_text(f, {.metadata = true})));
  EXPECT_NO_THROW(
      xla.accept(XlaOracle::Form::kStablehlo, to_stablehlo_text(f, {.locations = true})));
  expect_same_as_xla(f, {Literal::scalar(0.5f)});
}

TEST_F(XlaFori, StaticBounds) {
  for (const auto& [lower, upper] : {std::pair(0, 5), {2, 9}, {-3, 4}, {4, 4}, {5, 2}}) {
    for (const std::int64_t step : {1, 2, 5}) {
      for (const bool reverse : {false, true}) {
        SCOPED_TRACE(std::to_string(lower) + " to " + std::to_string(upper) + " by " +
                     std::to_string(step));
        check(
            [&, bottom = lower, top = upper](Tensor x) {
              ForiOptions options;
              options.step = step;
              options.reverse = reverse;
              return fori_loop(
                  bottom, top, [](Tensor i, Tensor v) { return v * 3 + i; }, x, options);
            },
            row<std::int32_t>({0, 1}));
      }
    }
  }
}

TEST_F(XlaFori, Unrolled) {
  for (const std::int64_t unroll :
       {std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{8}, kUnrollAll}) {
    for (const bool reverse : {false, true}) {
      SCOPED_TRACE(unroll);
      const auto loop = [&](auto upper) {
        return [&, upper](Tensor x, Tensor n) {
          ForiOptions options;
          options.unroll = unroll;
          options.reverse = reverse;
          if constexpr (std::is_same_v<decltype(upper), int>) {
            return fori_loop(
                0, upper, [&](Tensor i, Tensor v) { return v * 3 + i * n; }, x, options);
          } else {
            return fori_loop(
                Tensor(0), n, [&](Tensor i, Tensor v) { return v * 3 + i * n; }, x, options);
          }
        };
      };
      check(loop(7), Literal::scalar(1), Literal::scalar(7));
      if (unroll != kUnrollAll) check(loop(Tensor()), Literal::scalar(1), Literal::scalar(7));
    }
  }
}

TEST_F(XlaFori, DynamicBoundsOfEveryIntegerDtype) {
  for (const DType dtype : kAllDTypes) {
    if (!is_integer(dtype)) continue;
    for (const bool reverse : {false, true}) {
      for (const std::int64_t step : {1, 3}) {
        SCOPED_TRACE(dtype_name(dtype));
        ForiOptions options;
        options.reverse = reverse;
        options.step = step;
        const auto f = [&](Tensor lower, Tensor upper) {
          return fori_loop(
              lower, upper, [](Tensor i, Tensor v) { return v * 3 + i; }, ones(lower.type()),
              options);
        };
        check(f, convert(Tensor(2), dtype).eval(), convert(Tensor(9), dtype).eval());
        check(f, convert(Tensor(9), dtype).eval(), convert(Tensor(2), dtype).eval());
      }
    }
  }
}

TEST_F(XlaFori, BoundsAtTheEndsOfTheDtype) {
  using Limits = std::numeric_limits<std::int8_t>;
  for (const bool reverse : {false, true}) {
    ForiOptions options;
    options.step = 5;
    options.reverse = reverse;
    const auto f = [&](Tensor lower, Tensor upper) {
      return fori_loop(
          lower, upper, [](Tensor i, Tensor v) { return v * 3 + convert(i, DType::kS32); },
          Tensor(0), options);
    };
    check(f, Literal::scalar<std::int8_t>(118), Literal::scalar<std::int8_t>(Limits::max()));
    check(f, Literal::scalar<std::int8_t>(Limits::min()), Literal::scalar<std::int8_t>(-100));
    check(f, Literal::scalar<std::int8_t>(Limits::min()),
          Literal::scalar<std::int8_t>(Limits::max()));
    check(f, Literal::scalar<std::uint8_t>(245), Literal::scalar<std::uint8_t>(255));
    check([&] { return f(Tensor(std::int8_t{118}), Tensor(Limits::max())); });
    check([&] { return f(Tensor(Limits::min()), Tensor(Limits::max())); });
    check([&] { return f(Tensor(std::uint8_t{245}), Tensor(std::uint8_t{255})); });
    check([&] { return f(Tensor(std::uint8_t{0}), Tensor(std::uint8_t{255})); });
  }
}

TEST_F(XlaFori, UpdatesAnArrayInPlace) {
  check(
      [](Tensor x) {
        return fori_loop(
            1, x.dim(0), [](Tensor i, Tensor v) { return update(v, i, v[i - 1] * 2 + v[i]); }, x);
      },
      counting(s64({9})));
}

TEST_F(XlaFori, HasAnIndexOnly) {
  check(
      [](Tensor n) {
        return fori_loop(
            std::int64_t{0}, n, [](Tensor i, Tensor) { return i; }, Tensor(std::int64_t{-1}));
      },
      Literal::scalar(std::int64_t{5}));
}

}  // namespace
}  // namespace rondo::testing
