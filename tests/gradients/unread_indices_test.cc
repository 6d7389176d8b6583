// check_bounds of a derivative applies to the indices that the program uses: one in a loop without
// trips, or in a branch that is not taken, does not count.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

/// The gradient of f(v, n, k) for v at {1, 2, 3}.
template <class F>
std::vector<Literal> checked_gradient(const F& f, int n, int k) {
  const Executable run = compile(trace(grad(f), f64({3}), s32(), s32()));
  return run.run({Literal::from<double>({1, 2, 3}, {3}), Literal::scalar(n), Literal::scalar(k)},
                 {.check_bounds = true});
}

/// v[k]^(2 n) by n trips of an inner loop, whose index does not depend on the loop.
Tensor products(Tensor v, Tensor n, Tensor k) {
  return fori_loop(
      0, 2,
      [&](Tensor, Tensor outer) {
        return fori_loop(
            0, n, [&](Tensor, Tensor inner) { return inner * v[k]; }, outer);
      },
      Tensor(1.0));
}

TEST(UnreadIndices, OfALoopWithoutTrips) {
  expect_values<double>(checked_gradient(products, 0, 7)[0], {3}, {0, 0, 0});
  expect_values<double>(checked_gradient(products, 1, 2)[0], {3}, {0, 0, 6});
  EXPECT_THROW((void)checked_gradient(products, 1, 7), ExecutionError);
}

TEST(UnreadIndices, OfALoopWithoutTripsAroundAnother) {
  const auto f = [](Tensor v, Tensor n, Tensor k) {
    return while_loop([&](Tensor i, Tensor) { return i < n; },
                      [&](Tensor i, Tensor sum) {
                        const Tensor more = fori_loop(
                            0, 3, [&](Tensor, Tensor inner) { return inner * v[k]; }, sum);
                        return std::pair(i + 1, more);
                      },
                      std::pair(Tensor(0), Tensor(1.0)), {.max_trip_count = 4})
        .second;
  };
  expect_values<double>(checked_gradient(f, 0, 7)[0], {3}, {0, 0, 0});
  expect_values<double>(checked_gradient(f, 1, 1)[0], {3}, {0, 12, 0});
  EXPECT_THROW((void)checked_gradient(f, 1, 7), ExecutionError);
}

TEST(UnreadIndices, OfABranchThatIsNotTaken) {
  const auto f = [](Tensor v, Tensor n, Tensor k) {
    return fori_loop(
        0, 2,
        [&](Tensor, Tensor product) {
          return cond(
              n > 0, [&](Tensor x) { return x * v[k]; }, [](Tensor x) { return x; }, product);
        },
        Tensor(1.0));
  };
  expect_values<double>(checked_gradient(f, 0, 7)[0], {3}, {0, 0, 0});
  expect_values<double>(checked_gradient(f, 1, 2)[0], {3}, {0, 0, 6});
  EXPECT_THROW((void)checked_gradient(f, 1, 7), ExecutionError);
}

}  // namespace
}  // namespace rondo
