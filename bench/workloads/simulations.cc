// Bodies and oscillators.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

namespace {

/// Stars that attract one another, by leapfrog steps with softened forces.
Workload stars() {
  constexpr std::int64_t kBodies = 64, kSteps = 10;
  constexpr double kStep = 0.01, kSoftening = 0.05;
  const auto program = [&](Tensor start, Tensor masses) {
    const auto acceleration = [&](Tensor x) {
      const Tensor off = expand_dims(x, 0) - expand_dims(x, 1);  // [i, j]: from i to j
      const Tensor square = sum(off * off, 2) + kSoftening;
      const Tensor pull = expand_dims(masses, 0) / (square * sqrt(square));
      return sum(expand_dims(pull, 2) * off, 1);
    };
    const auto step = [&](Tensor, Tensor x, Tensor v) {
      const Tensor next_v = v + kStep * acceleration(x);
      return std::tuple(x + kStep * next_v, next_v);
    };
    return fori_loop(0, kSteps, step, std::tuple(start, zeros(start.type())));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double* masses = arguments[1].data<double>().data();
    Literal positions = arguments[0], velocities = Literal::zeros(f64({kBodies, 3}));
    double* x = positions.mutable_data<double>().data();
    double* v = velocities.mutable_data<double>().data();
    for (std::ptrdiff_t step = 0; step < kSteps; step++) {
      for (std::ptrdiff_t i = 0; i < kBodies; i++) {
        for (std::ptrdiff_t j = i + 1; j < kBodies; j++) {
          const double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1],
                       dz = x[3 * j + 2] - x[3 * i + 2];
          const double square = dx * dx + dy * dy + dz * dz + kSoftening;
          const double pull = kStep / (square * std::sqrt(square));
          const double to_j = pull * masses[j], to_i = pull * masses[i];
          v[3 * i] += to_j * dx, v[3 * i + 1] += to_j * dy, v[3 * i + 2] += to_j * dz;
          v[3 * j] -= to_i * dx, v[3 * j + 1] -= to_i * dy, v[3 * j + 2] -= to_i * dz;
        }
      }
      for (std::ptrdiff_t k = 0; k < 3 * kBodies; k++) x[k] += kStep * v[k];
    }
    return {positions, velocities};
  };
  return {.name = "simulations/stars",
          .program = trace(program, f64({kBodies, 3}), f64({kBodies})),
          .arguments = {uniform_doubles({kBodies, 3}, -1, 1), uniform_doubles({kBodies}, 0, 1, 2)},
          .plain = plain};
}

/// A chain of masses and springs between two walls, with friction.
Workload spring_chain() {
  constexpr std::int64_t kMasses = 256, kSteps = 500;
  constexpr double kStep = 0.02, kStiffness = 40, kFriction = 0.1;
  const auto program = [&](Tensor start) {
    const auto step = [&](Tensor, Tensor x, Tensor v) {
      const Tensor stretch = diff(pad(x, 0, {1}, {1}));
      const Tensor force = kStiffness * diff(stretch) - kFriction * v;
      const Tensor next = v + kStep * force;
      return std::tuple(x + kStep * next, next);
    };
    return fori_loop(0, kSteps, step, std::tuple(start, zeros(start.type())));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto start = arguments[0].data<double>();
    double x[kMasses + 2] = {}, v[kMasses] = {};  // the walls are at both ends of x
    std::copy(start.begin(), start.end(), x + 1);
    for (std::ptrdiff_t step = 0; step < kSteps; step++) {
      for (std::ptrdiff_t i = 0; i < kMasses; i++) {
        const double bend = (x[i + 2] - x[i + 1]) - (x[i + 1] - x[i]);
        v[i] += kStep * (kStiffness * bend - kFriction * v[i]);
      }
      for (std::ptrdiff_t i = 0; i < kMasses; i++) x[i + 1] += kStep * v[i];
    }
    return {Literal::from(std::span<const double>(x + 1, kMasses), {kMasses}),
            Literal::from(std::span<const double>(v), {kMasses})};
  };
  return {.name = "simulations/spring_chain",
          .program = trace(program, f64({kMasses})),
          .arguments = {uniform_doubles({kMasses}, -1, 1)},
          .plain = plain};
}

/// Both angles of a double pendulum over time, by Runge and Kutta's method of order 4.
Workload double_pendulum() {
  constexpr std::int64_t kSteps = 1000;
  constexpr double kStep = 0.002, kGravity = 9.81;
  // Angles and their velocities, with equal masses and lengths of 1.
  const auto slope = [=]<class T>(const std::array<T, 4>& s) -> std::array<T, 4> {
    using std::cos, std::sin;
    const T off = s[0] - s[1], c = cos(off), d = sin(off), below = 2.0 - c * c;
    const T first =
        -d * (c * s[2] * s[2] + s[3] * s[3]) - kGravity * (2.0 * sin(s[0]) - c * sin(s[1]));
    const T second =
        d * (2.0 * s[2] * s[2] + c * s[3] * s[3]) + 2.0 * kGravity * (c * sin(s[0]) - sin(s[1]));
    return {s[2], s[3], first / below, second / below};
  };
  const auto step = [=]<class T>(const std::array<T, 4>& s) -> std::array<T, 4> {
    const auto moved = [&](const std::array<T, 4>& k, double h) -> std::array<T, 4> {
      return {s[0] + h * k[0], s[1] + h * k[1], s[2] + h * k[2], s[3] + h * k[3]};
    };
    const auto a = slope(s), b = slope(moved(a, kStep / 2)), c = slope(moved(b, kStep / 2)),
               d = slope(moved(c, kStep));
    const auto mean = [&](int i) -> T {
      const auto k = static_cast<std::size_t>(i);
      return s[k] + kStep / 6 * (a[k] + 2.0 * (b[k] + c[k]) + d[k]);
    };
    return {mean(0), mean(1), mean(2), mean(3)};
  };
  const auto program = [=](Tensor first, Tensor second) {
    const auto record = [=](std::array<Tensor, 4> s) {
      const std::array<Tensor, 4> next = step(s);
      return std::pair(next, std::pair(next[0], next[1]));
    };
    const Tensor still = 0.0;
    return scan(record, std::array<Tensor, 4>{first, second, still, still}, std::tuple<>(),
                {.length = kSteps})
        .second;
  };
  const auto plain = [=](const Literals& arguments) -> Literals {
    Literal first = Literal::uninitialized(f64({kSteps})),
            second = Literal::uninitialized(f64({kSteps}));
    const auto angles = first.mutable_data<double>(), others = second.mutable_data<double>();
    std::array<double, 4> s{arguments[0].item<double>(), arguments[1].item<double>(), 0, 0};
    for (std::size_t i = 0; i < kSteps; i++) {
      s = step(s);
      angles[i] = s[0];
      others[i] = s[1];
    }
    return {first, second};
  };
  return {.name = "simulations/double_pendulum",
          .program = trace(program, f64(), f64()),
          .arguments = {Literal::scalar(1.2), Literal::scalar(0.7)},
          .plain = plain};
}

/// An oscillator with friction (van der Pol's) by Bogacki and Shampine's pair of orders 3 and 2,
/// which chooses its steps.
Workload adaptive_steps() {
  constexpr double kEnd = 60, kTolerance = 1e-7, kFriction = 5;
  struct State {
    Tensor x, v, time, step, accepted;
  };
  const auto program = [&](Tensor start) {
    const auto slope = [&](Tensor x, Tensor v) { return kFriction * (1 - x * x) * v - x; };
    const auto attempt = [&](State s) {
      const Tensor h = minimum(s.step, kEnd - s.time);
      const Tensor v1 = s.v, a1 = slope(s.x, v1);
      const Tensor v2 = s.v + 0.5 * h * a1, a2 = slope(s.x + 0.5 * h * v1, v2);
      const Tensor v3 = s.v + 0.75 * h * a2, a3 = slope(s.x + 0.75 * h * v2, v3);
      const Tensor x = s.x + h / 9 * (2 * v1 + 3 * v2 + 4 * v3),
                   v = s.v + h / 9 * (2 * a1 + 3 * a2 + 4 * a3), a4 = slope(x, v);
      const Tensor off_x = h / 72 * (-5 * v1 + 6 * v2 + 8 * v3 - 9 * v),
                   off_v = h / 72 * (-5 * a1 + 6 * a2 + 8 * a3 - 9 * a4);
      const Tensor error = maximum(abs(off_x), abs(off_v)) / kTolerance;
      const Tensor good = error <= 1;
      return State{where(good, x, s.x), where(good, v, s.v), where(good, s.time + h, s.time),
                   h * clamp(0.2, 0.9 / cbrt(error + 1e-12), 5.0), s.accepted + where(good, 1, 0)};
    };
    const State end = while_loop([&](State s) { return s.time < kEnd; }, attempt,
                                 State{start, 0.0, 0.0, 0.01, 0});
    return std::tuple(end.x, end.v, end.accepted);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto slope = [](double x, double v) { return kFriction * (1 - x * x) * v - x; };
    double x = arguments[0].item<double>(), v = 0, time = 0, step = 0.01;
    std::int32_t accepted = 0;
    while (time < kEnd) {
      const double h = std::min(step, kEnd - time);
      const double v1 = v, a1 = slope(x, v1);
      const double v2 = v + 0.5 * h * a1, a2 = slope(x + 0.5 * h * v1, v2);
      const double v3 = v + 0.75 * h * a2, a3 = slope(x + 0.75 * h * v2, v3);
      const double next_x = x + h / 9 * (2 * v1 + 3 * v2 + 4 * v3),
                   next_v = v + h / 9 * (2 * a1 + 3 * a2 + 4 * a3), a4 = slope(next_x, next_v);
      const double off_x = h / 72 * (-5 * v1 + 6 * v2 + 8 * v3 - 9 * next_v),
                   off_v = h / 72 * (-5 * a1 + 6 * a2 + 8 * a3 - 9 * a4);
      const double error = std::max(std::abs(off_x), std::abs(off_v)) / kTolerance;
      if (error <= 1) {
        x = next_x;
        v = next_v;
        time += h;
        accepted++;
      }
      step = h * std::clamp(0.9 / std::cbrt(error + 1e-12), 0.2, 5.0);
    }
    return {Literal::scalar(x), Literal::scalar(v), Literal::scalar(accepted)};
  };
  return {.name = "simulations/adaptive_steps",
          .program = trace(program, f64()),
          .arguments = {Literal::scalar(2.0)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> system_workloads();
std::vector<Workload> population_workloads();
std::vector<Workload> estimation_workloads();
std::vector<Workload> robot_workloads();
std::vector<Workload> adjoint_workloads();
std::vector<Workload> event_workloads();
std::vector<Workload> training_workloads();

std::vector<Workload> simulation_workloads() {
  std::vector<Workload> all = {stars(), spring_chain(), double_pendulum(), adaptive_steps()};
  for (Workload& work : system_workloads()) all.push_back(std::move(work));
  for (Workload& work : population_workloads()) all.push_back(std::move(work));
  for (Workload& work : estimation_workloads()) all.push_back(std::move(work));
  for (Workload& work : robot_workloads()) all.push_back(std::move(work));
  for (Workload& work : adjoint_workloads()) all.push_back(std::move(work));
  for (Workload& work : event_workloads()) all.push_back(std::move(work));
  for (Workload& work : training_workloads()) all.push_back(std::move(work));
  return all;
}

}  // namespace rondo::bench
