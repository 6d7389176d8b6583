// cond and switch_case.
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;

TEST(Cond, ChoosesABranch) {
  auto f = jit([](Tensor x) {
    return cond(
        x > 0, [](Tensor x) { return x * 2; }, [](Tensor x) { return -x; }, x);
  });
  expect_scalar(f(3), 6);
  expect_scalar(f(-3), 3);
}

TEST(Cond, TreesScalarsAndCaptures) {
  auto f = jit([](Tensor p, Tensor x) {
    return cond(
        p, [&] { return std::pair(x + 1, Tensor(0)); }, [&] { return std::pair(Tensor(5), x); });
  });
  auto [a, b] = f(true, 7);
  expect_scalar(a, 8);
  expect_scalar(b, 0);
  auto [c, d] = f(false, 7);
  expect_scalar(c, 5);
  expect_scalar(d, 7);
  // A scalar in one branch takes the dtype of the other.
  auto g = jit([](Tensor p, Tensor x) {
    return cond(
        p, [&] { return Tensor(0); }, [&] { return x; });
  });
  expect_scalar(g(true, 2.5f), 0.0f);
  expect_scalar(g(false, 2.5f), 2.5f);
}

TEST(Cond, RunsOnlyOneBranch) {
  auto endless = [](Tensor x) {
    return while_loop([](Tensor x) { return x > 0; }, [](Tensor x) { return x + 0; }, x);
  };
  auto f = jit([&](Tensor p, Tensor x) {
    return cond(
        p, [](Tensor x) { return x; }, endless, x);
  });
  expect_scalar(f(true, 1), 1);
}

TEST(Cond, LoopInABranchInALoop) {
  auto f = jit([](Tensor n) {
    return fori_loop(
        0, n,
        [](Tensor i, Tensor acc) {
          return cond(
              i % 2 == 0,
              [&](Tensor a) {
                return fori_loop(
                    0, i, [](Tensor j, Tensor a) { return a + j; }, a);
              },
              [](Tensor a) { return a * 2; }, acc);
        },
        1);
  });
  int acc = 1;
  for (int i = 0; i < 9; i++) {
    if (i % 2 == 0) {
      for (int j = 0; j < i; j++) acc += j;
    } else {
      acc *= 2;
    }
  }
  expect_scalar(f(9), acc);
}

TEST(Cond, UpdatesAnArrayInPlaceOrLeavesIt) {
  auto f = jit([](Tensor n) {
    return fori_loop(
        0, n,
        [](Tensor i, Tensor a) {
          return cond(
              i % 3 == 0, [&](Tensor a) { return update(a, i, i * 10); },
              [](Tensor a) { return a; }, a);
        },
        zeros(s32({8})));
  });
  expect_values<int>(f(8), {8}, {0, 0, 0, 30, 0, 0, 60, 0});
}

TEST(Switch, ClampsTheIndex) {
  auto f = jit([](Tensor i, Tensor x) {
    return switch_case(i,
                       std::tuple([](Tensor x) { return x; }, [](Tensor x) { return x * 10; },
                                  [](Tensor x) { return x * 100; }),
                       x);
  });
  expect_scalar(f(0, 7), 7);
  expect_scalar(f(1, 7), 70);
  expect_scalar(f(2, 7), 700);
  expect_scalar(f(9, 7), 700);
  expect_scalar(f(-4, 7), 7);
  expect_scalar(f(std::int64_t{1} << 40, 7), 700);
  expect_scalar(f(std::uint64_t{1} << 63, 7), 700);
  expect_scalar(f(static_cast<std::int8_t>(-1), 7), 7);
}

TEST(Switch, VectorOfFunctions) {
  std::vector<std::function<Tensor(Tensor)>> branches;
  for (int k = 0; k < 5; k++) branches.push_back([k](Tensor x) { return x + k; });
  auto f = jit([&](Tensor i) { return switch_case(i, branches, Tensor(100)); });
  for (int k = 0; k < 5; k++) expect_scalar(f(k), 100 + k);
  EagerScope eager;
  expect_scalar(switch_case(3, branches, Tensor(100)), 103);
}

TEST(BranchErrors, BothBranchesThePathAndBothTypes) {
  struct Out {
    Tensor speed, height;
  };
  expect_error(
      [] {
        cond(
            Tensor(true),
            [](Tensor x) {
              return Out{x, x + 1};
            },
            [](Tensor x) {
              return Out{x, convert(x, DType::kF64)};
            },
            Tensor(1.0f) * 2);
      },
      {"cond: the branches return different types", "result.height",
       "the true branch of cond returns f32[]", "the false branch of cond returns f64[]",
       "made by convert", "branch_test.cc:"});
  expect_error(
      [] {
        cond(
            constant({true, false}), [] { return Tensor(1); }, [] { return Tensor(2); });
      },
      {"predicate of cond must be a scalar pred[], it is pred[2]"});
  expect_error([] { switch_case(1.5f, std::tuple([] { return Tensor(1); })); },
               {"switch_case: the index must be an integer scalar, it is f32[]"});
  expect_error([] { switch_case(0, std::vector<std::function<Tensor()>>()); },
               {"there are no branches"});
}

}  // namespace
}  // namespace rondo
