// Searches and regressions inside loops: queens by a stack, American options by least squares.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_close;
using testing::expect_values;

struct Search {
  Tensor depth, solutions;
  Tensor free, columns, left, right;  // s32[n], by depth: bits of columns to try, and
                                      // of those that queens above occupy or attack
};

/// In how many ways n queens can be placed on a board without attacking one another, the first one
/// in one of the columns `first` (bits): by backtracking, with an explicit stack.
Tensor queens(int n, Tensor first) {
  const int all = (1 << n) - 1;
  const Tensor empty = zeros(s32({n}));
  const auto goes_on = [](Search s) { return s.depth >= 0; };
  const auto step = [&](Search s) {
    const Tensor d = s.depth, open = s.free[d];
    const Tensor queen = open & -open;  // the lowest free column
    const Tensor columns = s.columns[d] | queen, left = (s.left[d] | queen) << 1,
                 right = shift_right_logical(s.right[d] | queen, 1);
    const Tensor is_last = d == n - 1, backs = open == 0, enters = (open != 0) & (d < n - 1);
    const Tensor next = minimum(d + 1, n - 1);
    const auto pushed = [&](Tensor stack, Tensor value) {
      return update(stack, next, where(enters, value, stack[next]));
    };
    const Tensor tried = update(s.free, d, open ^ queen);
    return Search{where(enters, d + 1, where(backs, d - 1, d)),
                  s.solutions + convert((open != 0) & is_last, DType::kS32),
                  pushed(tried, all & ~(columns | left | right)),
                  pushed(s.columns, columns),
                  pushed(s.left, left),
                  pushed(s.right, right)};
  };
  return while_loop(goes_on, step, Search{0, 0, update(empty, 0, first), empty, empty, empty},
                    {.name = "queens"})
      .solutions;
}

TEST(Queens, StandInAsManyWaysAsPublished) {
  // N. Sloane, The On-Line Encyclopedia of Integer Sequences, A000170.
  const std::array<int, 8> ways{1, 0, 0, 2, 10, 4, 40, 92};
  for (int n = 1; n <= 8; n++) {
    SCOPED_TRACE(n);
    const auto count = jit([n](Tensor first) { return queens(n, first); });
    EXPECT_EQ(count((1 << n) - 1).item<int>(), ways[static_cast<std::size_t>(n - 1)]);
  }
}

TEST(Queens, AreSearchedByLanesOfTheFirstColumn) {
  const auto of_column = [](Tensor column) { return queens(8, Tensor(1) << column); };
  expect_values<int>(jit(vmap(of_column))(arange(8)), {8}, {4, 8, 16, 18, 18, 16, 8, 4});
}

/// The coefficients of 1, x and x^2 that fit y best where `counts`, by the normal equations.
Tensor quadratic_fit(Tensor x, Tensor y, Tensor counts) {
  const Tensor weight = convert(counts, x.dtype());
  const Tensor basis = stack({ones(x.type()), x, square(x)}, 0);
  const Tensor factor = cholesky(matmul(basis * weight, transpose(basis)));
  const Tensor right = matmul(basis, y * weight);
  // factor z = right from above, then its transpose from below.
  const Tensor z = fori_loop(
      0, 3,
      [&](Tensor i, Tensor z) {
        return update(z, i, (right[i] - dot(factor[i], z)) / at(factor, {i, i}));
      },
      zeros(right.type()));
  return fori_loop(0, 3,
                   [&](Tensor i, Tensor c) {
                     return update(c, i, (z[i] - dot(column(factor, i), c)) / at(factor, {i, i}));
                   },
                   zeros(right.type()), {.reverse = true});
}

/// The value of an American put on the paths f64[paths, dates], of which the first date is now.
/// F. Longstaff, E. Schwartz, "Valuing American options by simulation: a simple least-squares
/// approach", Review of Financial Studies 14, 2001.
Tensor american_put(Tensor paths, Tensor strike, Tensor discount) {
  const std::int64_t dates = paths.dim(1);
  const auto before = [&](Tensor cash, Tensor price) {
    const Tensor later = cash * discount, now = maximum(strike - price, 0);
    const Tensor in_the_money = strike > price;
    const Tensor fit = stop_gradient(quadratic_fit(price, later, in_the_money));
    const Tensor expected = fit[0] + fit[1] * price + fit[2] * square(price);
    return std::pair(where(in_the_money & (now > expected), now, later), fit);
  };
  const Tensor by_date = transpose(paths);
  const Tensor last = maximum(strike - by_date[-1], 0);
  const Tensor cash =
      scan(before, last, slice(by_date, {1, 0}, {dates - 1, paths.dim(0)}), {.reverse = true})
          .first;
  return mean(cash) * discount;
}

const std::vector<double> kPaths{1.00, 1.09, 1.08, 1.34, 1.00, 1.16, 1.26, 1.54, 1.00, 1.22, 1.07,
                                 1.03, 1.00, 0.93, 0.97, 0.92, 1.00, 1.11, 1.56, 1.52, 1.00, 0.76,
                                 0.77, 0.90, 1.00, 0.92, 0.84, 1.01, 1.00, 0.88, 1.22, 1.34};

TEST(LeastSquaresMonteCarlo, IsTheExampleOfItsPaper) {
  const Tensor paths = constant(kPaths, {8, 4});
  const double discount = std::exp(-0.06);
  EXPECT_NEAR(jit(american_put)(paths, 1.10, discount).item<double>(), 0.1144, 5e-5);
  // The regression at the second date: -1.070 + 2.983 x - 1.813 x^2.
  const Tensor price = column(paths, 2);
  const Tensor later = maximum(1.10 - column(paths, 3), 0) * discount;
  expect_close<double>(quadratic_fit(price, later, price < 1.10), {3}, {-1.070, 2.983, -1.813}, 0,
                       1e-3);
}

/// The same put by a binomial tree (J. Cox, S. Ross, M. Rubinstein, 1979): its value and delta.
std::pair<double, double> put_by_tree(double spot, double strike, double rate, double volatility) {
  constexpr int kSteps = 1000;
  const double dt = 1.0 / kSteps, up = std::exp(volatility * std::sqrt(dt));
  const double p = (std::exp(rate * dt) - 1 / up) / (up - 1 / up), discount = std::exp(-rate * dt);
  const auto price = [&](int step, int ups) { return spot * std::pow(up, 2 * ups - step); };
  std::vector<double> values;
  for (int i = 0; i <= kSteps; i++) values.push_back(std::max(strike - price(kSteps, i), 0.0));
  double delta = 0;
  for (int step = kSteps - 1; step >= 0; step--) {
    if (step == 0) delta = (values[1] - values[0]) / (price(1, 1) - price(1, 0));
    for (int i = 0; i <= step; i++) {
      const auto at = static_cast<std::size_t>(i);
      values[at] =
          std::max(strike - price(step, i), discount * (p * values[at + 1] + (1 - p) * values[at]));
    }
  }
  return {values[0], delta};
}

TEST(LeastSquaresMonteCarlo, ComesNearTheTableOfItsPaper) {
  // Table 1 for a stock at 36, a strike of 40, a rate of 6 %, a volatility of 20 % and a
  // year: 4.472 with a standard error of 0.010 for 100000 paths.
  constexpr std::int64_t kPairs = 1500, kDates = 50;
  const double dt = 1.0 / kDates, rate = 0.06, volatility = 0.2;
  const auto value = [&](Tensor spot) {
    const Tensor half = random::normal(random::key(4), f64({kPairs, kDates}));
    const Tensor noise = concatenate({half, -half}, 0);
    const Tensor growth =
        (rate - volatility * volatility / 2) * dt + volatility * std::sqrt(dt) * noise;
    const Tensor moved = exp(pad(cumsum(growth, 1), 0, {0, 1}, {0, 0}));
    return american_put(spot * moved, 40.0, std::exp(-rate * dt));
  };
  const auto [put, delta] = jit(value_and_grad(value))(36.0);
  const auto [tree_put, tree_delta] = put_by_tree(36, 40, rate, volatility);
  EXPECT_NEAR(tree_put, 4.48, 0.01);
  EXPECT_NEAR(put.item<double>(), 4.472, 0.08);
  // The derivative with respect to the stock, for fixed exercise decisions.
  EXPECT_NEAR(delta.item<double>(), tree_delta, 0.03);
}

}  // namespace
}  // namespace rondo
