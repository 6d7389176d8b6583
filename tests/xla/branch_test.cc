// cond and switch_case in real XLA, alone and among loops.
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "xla/check.h"

namespace rondo::testing {
namespace {

class XlaCond : public XlaTest {};
class XlaSwitch : public XlaTest {};

TEST_F(XlaCond, ChoosesEitherBranch) {
  for (const bool chosen : {true, false}) {
    check(
        [](Tensor p, Tensor x, Tensor y) {
          return cond(
              p, [](Tensor a, Tensor b) { return std::tuple(a + b, a); },
              [](Tensor a, Tensor b) { return std::tuple(a - b, b * 2); }, x, y);
        },
        Literal::scalar(chosen), row<float>({1, 2}), row<float>({3, -4}));
  }
}

TEST_F(XlaCond, CapturesInsteadOfOperands) {
  for (const bool chosen : {true, false}) {
    check(
        [](Tensor p, Tensor x) {
          const Tensor y = x * x;
          return cond(
              p, [&] { return y + x; }, [&] { return zeros(x.type()); });
        },
        Literal::scalar(chosen), row<std::int16_t>({1, -7}));
  }
}

TEST_F(XlaCond, ReturnsOperandsConstantsAndScalars) {
  for (const int x : {3, 30}) {
    check(
        [](Tensor v) {
          return cond(
              v < 10, [](Tensor a) { return std::tuple(a, Tensor(1.5f), Tensor(true)); },
              [](Tensor) { return std::tuple(Tensor(7), Tensor(2.5f), Tensor(false)); }, v);
        },
        Literal::scalar(x));
  }
}

TEST_F(XlaCond, NestsAndHoldsLoops) {
  for (const int x : {-3, 2, 12}) {
    check(
        [](Tensor v) {
          const Tensor twice = v * 2;
          return cond(
              v < 0,
              [&](Tensor a) {
                return cond(
                    a < -2,
                    [&] {
                      return fori_loop(
                          0, 3, [&](Tensor i, Tensor t) { return t + twice * i; }, a);
                    },
                    [&] { return a; });
              },
              [&](Tensor a) {
                return while_loop([&](Tensor t) { return t < 100; },
                                  [&](Tensor t) { return t * 2 + twice + 1; }, a);
              },
              v);
        },
        Literal::scalar(x));
  }
}

TEST_F(XlaCond, StandsInALoopAndInItsCondition) {
  check(
      [](Tensor n) {
        return while_loop(
            [&](Tensor i, Tensor x) {
              return cond(
                  i % 2 == 0, [&] { return i < n; }, [&] { return x < 1000; });
            },
            [&](Tensor i, Tensor x) {
              return std::tuple(
                  i + 1, cond(
                             x % 2 == 0, [&] { return x / 2 + n; }, [&] { return x * 3 + 1; }));
            },
            std::tuple(Tensor(0), n));
      },
      Literal::scalar(11));
}

TEST_F(XlaCond, ReturnsEveryDtype) {
  for (const bool chosen : {true, false}) {
    std::vector<Literal> arguments{Literal::scalar(chosen)};
    std::vector<TensorType> types{pred()};
    for (const DType dtype : kAllDTypes) {
      arguments.push_back(counting({dtype, {3}}));
      types.push_back(arguments.back().type());
    }
    const Function f = trace(
        [](const std::vector<Tensor>& all) {
          const std::vector<Tensor> values(all.begin() + 1, all.end());
          return cond(
              all[0], [](const std::vector<Tensor>& v) { return v; },
              [](std::vector<Tensor> v) {
                for (Tensor& x : v) x = reverse(x);
                return v;
              },
              values);
        },
        types);
    expect_same_as_xla(f, arguments);
  }
}

TEST_F(XlaSwitch, ClampsItsIndex) {
  for (const int i : {-100, -1, 0, 1, 2, 3, 100}) {
    check(
        [](Tensor index, Tensor x) {
          return switch_case(index,
                             std::tuple([](Tensor a) { return a; }, [](Tensor a) { return a + 1; },
                                        [](Tensor a) { return a * a; }),
                             x);
        },
        Literal::scalar(i), row<float>({3, 4}));
  }
}

TEST_F(XlaSwitch, TakesIndicesOfEveryIntegerDtype) {
  const std::vector<std::function<Tensor(Tensor)>> branches{[](Tensor a) { return a; },
                                                            [](Tensor a) { return a + 10; },
                                                            [](Tensor a) { return a * 100; }};
  for (const DType dtype : kAllDTypes) {
    if (!is_integer(dtype)) continue;
    for (const int i : {0, 1, 2, 77}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(i));
      check([&](Tensor index, Tensor x) { return switch_case(index, branches, x); },
            convert(Tensor(i), dtype).eval(), Literal::scalar(3));
    }
  }
  // Beyond the range of s32.
  check([&](Tensor index, Tensor x) { return switch_case(index, branches, x); },
        Literal::scalar(std::int64_t{1} << 32), Literal::scalar(3));
  check([&](Tensor index, Tensor x) { return switch_case(index, branches, x); },
        Literal::scalar(-(std::int64_t{1} << 32)), Literal::scalar(3));
  check([&](Tensor index, Tensor x) { return switch_case(index, branches, x); },
        Literal::scalar(std::uint32_t{4000000000}), Literal::scalar(3));
}

TEST_F(XlaSwitch, OfOneBranchAndInALoop) {
  check([](Tensor index,
           Tensor x) { return switch_case(index, std::tuple([](Tensor a) { return a * 3; }), x); },
        Literal::scalar(5), Literal::scalar(2));
  check(
      [](Tensor x) {
        return fori_loop(
            0, 6,
            [](Tensor i, Tensor v) {
              return switch_case(i % 3, std::tuple([&] { return v + 1; }, [&] { return v * 2; },
                                                   [&] { return v - i; }));
            },
            x);
      },
      Literal::scalar(5));
}

}  // namespace
}  // namespace rondo::testing
