// Lesson 16: an adaptive Runge-Kutta solver, and the sensitivity of its result.
//
// A satellite passes around the Earth and the Moon on R. Arenstorf's orbit, which closes after
// 17.0652165601579625589 units of time (E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary
// Differential Equations I", II.0). The solver is J. Dormand and P. Prince's of order 5, which
// chooses its steps by the error that it estimates: a while of unknown length.
#include <cmath>
#include <cstdio>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr double kPeriod = 17.0652165601579625589;
constexpr double kMoon = 0.012277471, kEarth = 1 - kMoon;  // parts of the mass

/// The acceleration in the plane that rotates with Earth and Moon; y is (x, y, vx, vy).
Tensor motion(const Tensor& y) {
  const Tensor x = y[0], h = y[1], vx = y[2], vy = y[3];
  const Tensor to_earth = square(x + kMoon) + h * h, to_moon = square(x - kEarth) + h * h;
  const Tensor earth = kEarth / (to_earth * sqrt(to_earth)),
               moon = kMoon / (to_moon * sqrt(to_moon));
  return rondo::stack({vx, vy, x + 2 * vy - earth * (x + kMoon) - moon * (x - kEarth),
                       h - 2 * vx - earth * h - moon * h},
                      0);
}

struct Flight {
  Tensor y, slope;    // f64[4]: position and velocity, and motion(y)
  Tensor time, step;  // the step to try next
  Tensor steps;       // accepted
};

/// One attempted step: it is accepted if the estimated error is small enough.
Flight attempt(const Flight& f, double tolerance) {
  static const std::vector<std::vector<double>> kStages{
      {1.0 / 5},
      {3.0 / 40, 9.0 / 40},
      {44.0 / 45, -56.0 / 15, 32.0 / 9},
      {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
      {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
      {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
  static const std::vector<double> kError{71.0 / 57600,      0,          -71.0 / 16695, 71.0 / 1920,
                                          -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
  const Tensor step = minimum(f.step, kPeriod - f.time);
  std::vector<Tensor> slopes{f.slope};
  auto mix = [&](const std::vector<double>& weights) {
    Tensor sum = weights[0] * slopes[0];
    for (std::size_t i = 1; i < weights.size(); i++) {
      if (weights[i] != 0) sum += weights[i] * slopes[i];
    }
    return step * sum;
  };
  Tensor next;
  for (const auto& weights : kStages) {
    next = f.y + mix(weights);
    slopes.push_back(motion(next));
  }
  const Tensor scale = tolerance * (1 + maximum(abs(f.y), abs(next)));
  const Tensor error = mean(square(mix(kError) / scale));  // squared; at most 1 is good
  const Tensor good = error <= 1;
  const Tensor longer = clamp(0.2, 0.9 * pow(error, -0.1), 5.0);
  return Flight{where(good, next, f.y), where(good, slopes[6], f.slope),
                where(good, f.time + step, f.time), step * longer, f.steps + where(good, 1, 0)};
}

/// From the position (0.994, 0), once around.
Flight fly(Tensor velocity, double tolerance) {
  const Tensor start = rondo::concatenate({rondo::constant({0.994, 0.0}), velocity}, 0);
  return rondo::while_loop([](Flight f) { return f.time < kPeriod; },
                           [&](Flight f) { return attempt(f, tolerance); },
                           Flight{start, motion(start), 0.0, 1e-4, 0}, {.name = "flight"});
}

int main() {
  const Tensor velocity = rondo::constant({0.0, -2.00158510637908252240537862224});

  std::printf("tolerance  steps  distance from the start after one period\n");
  for (double tolerance : {1e-6, 1e-8, 1e-10, 1e-12}) {
    const Flight end = rondo::jit([&](Tensor v) { return fly(v, tolerance); })(velocity);
    const double x = end.y[0].item<double>() - 0.994, y = end.y[1].item<double>();
    std::printf("%9.0e  %5d  %.1e\n", tolerance, end.steps.item<int>(), std::hypot(x, y));
  }

  // How the end depends on the initial velocity vy: forward mode carries the tangent of the state.
  // The derivative includes the choice of the steps.
  auto end = [](Tensor v) { return fly(v, 1e-10).y; };
  const Tensor upwards = rondo::constant({0.0, 1.0});
  auto along = rondo::jit([&](Tensor v) {
    return rondo::jvp(end, std::tuple(v), std::tuple(upwards)).second;
  })(velocity);

  // Differences agree, less exactly: a large distance has truncation error, a small one rounding
  // error.
  auto difference = rondo::jit([&](Tensor v, Tensor distance) {
    return (end(v + distance * upwards) - end(v - distance * upwards)) / (2.0 * distance);
  });
  std::printf("\nby vy at the start:  %10s %10s %10s %10s\n", "x", "y", "vx", "vy");
  auto row = [](const char* name, const Tensor& values) {
    std::printf("%-20s", name);
    for (double value : values.eval().data<double>()) std::printf(" %10.2f", value);
    std::printf("\n");
  };
  row("jvp", along);
  row("difference of 1e-4", difference(velocity, 1e-4));
  row("difference of 1e-7", difference(velocity, 1e-7));

  // Reverse mode: one coordinate with respect to the whole start. The backward pass reads the
  // residuals of each step from a growing tape.
  auto end_x = [&](Tensor v) { return end(v)[0]; };
  const Tensor gradient = rondo::jit(rondo::grad(end_x))(velocity);
  std::printf("\nx at the end by vx and vy at the start, by grad: %.2f %.2f\n",
              gradient[0].item<double>(), gradient[1].item<double>());
}
