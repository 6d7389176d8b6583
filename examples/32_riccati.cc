// Lesson 32: a controller by a Riccati equation, and its gradient. A cart carries a pole that would
// fall. The linear feedback of least cost follows from a matrix that a while loop iterates to
// convergence (B. D. O. Anderson, J. B. Moore, "Optimal Control: Linear Quadratic Methods", 1990,
// chapter 2). The derivative of that cost by the length of the pole passes the loop.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr double kTimeStep = 0.05, kGravity = 9.81, kCart = 1, kPole = 0.2;  // s, m/s^2, kg
constexpr double kForceCost = 0.1;
constexpr int kSteps = 400;

/// Place, speed, angle and turning rate, linear about the upright pole, after a step in which the
/// force u is constant: a x + b u.
struct System {
  Tensor a, b;
};
System cart(Tensor length) {
  const Tensor falls = (kCart + kPole) * kGravity / (kCart * length);
  // Of x and u; u stays as it is. Its exponential makes a step without error.
  const Tensor rates = rondo::matrix({{0.0, 1.0, 0.0, 0.0, 0.0},
                                      {0.0, 0.0, -kPole * kGravity / kCart, 0.0, 1 / kCart},
                                      {0.0, 0.0, 0.0, 1.0, 0.0},
                                      {0.0, 0.0, falls, 0.0, -1 / (kCart * length)},
                                      {0.0, 0.0, 0.0, 0.0, 0.0}});
  const Tensor step = rondo::expm(kTimeStep * rates);
  return {slice(step, {0, 0}, {4, 4}), slice(step, {0, 4}, {4, 5})};
}

/// A step costs x^T q x + kForceCost u^2.
Tensor state_cost() { return rondo::diag(rondo::constant({1.0, 0.1, 1.0, 0.1})); }
Tensor start() { return rondo::constant({0.0, 0.0, 0.2, 0.0}); }

/// u = -gain x, if all later steps cost x^T p x.
Tensor gain(const System& s, Tensor p) {
  const Tensor bp = matmul(transpose(s.b), p);
  return rondo::solve(matmul(bp, s.b) + kForceCost, matmul(bp, s.a));
}

struct Riccati {
  Tensor p, change, trips;
};
Riccati riccati(const System& s) {
  const auto one_step_more = [&](Riccati r) {
    const Tensor closed = s.a - matmul(s.b, gain(s, r.p));
    const Tensor p = state_cost() + matmul(matmul(transpose(s.a), r.p), closed);
    return Riccati{p, max(abs(p - r.p)), r.trips + 1};
  };
  return rondo::while_loop([](Riccati r) { return (r.change > 1e-9) & (r.trips < 2000); },
                           one_step_more, Riccati{state_cost(), 1.0, 0}, {.name = "riccati"});
}

Tensor least_cost(Tensor length) { return dot(start(), dot(riccati(cart(length)).p, start())); }

/// The same system in plain C++, by the series of the exponential, run under a given feedback: its
/// cost, and what `see` sees.
template <class See>
double plain_cost(double length, const std::array<double, 4>& gain, See see) {
  std::array<double, 4> x{0, 0, 0.2, 0};
  double cost = 0;
  for (int i = 0; i < kSteps; i++) {
    double u = 0;
    for (std::size_t k = 0; k < 4; k++) u -= gain[k] * x[k];
    see(i, x, u);
    cost += x[0] * x[0] + 0.1 * x[1] * x[1] + x[2] * x[2] + 0.1 * x[3] * x[3] + kForceCost * u * u;
    std::array<double, 4> term = x;
    for (int order = 1; order < 20; order++) {
      const double h = kTimeStep / order, force = order == 1 ? u : 0;
      term = {h * term[1], h * (-kPole * kGravity * term[2] + force) / kCart, h * term[3],
              h * ((kCart + kPole) * kGravity * term[2] - force) / (kCart * length)};
      for (std::size_t k = 0; k < 4; k++) x[k] += term[k];
    }
  }
  return cost;
}

int main() {
  const double length = 0.5;
  const auto solve = rondo::jit([](Tensor l) {
    const System s = cart(l);
    const Riccati r = riccati(s);
    return std::tuple(rondo::reshape(gain(s, r.p), {4}), r.trips);
  });
  const auto [feedback, trips] = solve(length);
  const rondo::Literal found = feedback.eval();
  std::array<double, 4> k{};
  std::copy_n(found.data<double>().begin(), 4, k.begin());
  std::printf("%d trips; feedback of place %.3f, speed %.3f, angle %.3f, turning rate %.3f\n\n",
              trips.item<int>(), k[0], k[1], k[2], k[3]);

  // The pole leans by 0.2 at first: the cart must go the wrong way before it can come back.
  std::printf("time    place   angle   force\n");
  const double cost = plain_cost(length, k, [](int i, const std::array<double, 4>& x, double u) {
    if (i % 8 != 0 || i > 120) return;
    std::string line(41, ' ');
    const long cart = std::lround(20 + 20 * x[0]);
    const long top = std::lround(20 + 20 * (x[0] + 0.5 * x[2]));
    line[static_cast<std::size_t>(std::clamp(top, 0L, 40L))] = 'o';
    line[static_cast<std::size_t>(std::clamp(cart, 0L, 40L))] = '=';
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%4.1f  %7.3f %7.3f %7.3f  %s\n", kTimeStep * i, x[0], x[2], u, line.c_str());
  });

  const auto slope = rondo::jit(rondo::value_and_grad(least_cost));
  const auto [least, by_length] = slope(length);
  std::printf("\ncost by the Riccati equation %.5f, added up in plain C++ %.5f\n",
              least.item<double>(), cost);
  // The best feedback has no slope: only the system's dependence on the length counts, not that of
  // the feedback. So differences of plain runs under the same feedback give the derivative too.
  const auto unseen = [](int, const std::array<double, 4>&, double) {};
  const double h = 1e-4;
  const double differences =
      (plain_cost(length + h, k, unseen) - plain_cost(length - h, k, unseen)) / (2 * h);
  std::printf("its derivative by the length %.4f, by differences of plain runs %.4f\n",
              by_length.item<double>(), differences);

  // Longer poles cost more. Newton's method finds the longest one that may cost 10.
  Tensor longest = length;
  for (int i = 0; i < 5; i++) {
    const auto [now, rise] = slope(longest);
    longest = longest + (10 - now) / rise;
  }
  const double l = longest.item<double>();
  std::printf("the length %.5f costs %.5f\n", l, slope(l).first.item<double>());
}
