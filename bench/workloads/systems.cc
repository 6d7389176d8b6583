// Circuits and vehicles.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> system_workloads();  // a part of simulation_workloads

namespace {

/// A rectifier: a diode charges a capacitor; Newton's method finds the voltage in each step.
Workload rectifier() {
  constexpr std::int64_t kSteps = 2000;
  constexpr double kStep = 1e-5, kCapacity = 1e-5, kLoad = 1000, kSaturation = 1e-9,
                   kThermal = 0.026;
  const auto program = [&](Tensor source) {
    const auto step = [&](Tensor before, Tensor input) {
      const auto newton = [&](Tensor u, Tensor, Tensor trips) {
        const Tensor drop = minimum(input - u, 0.6);
        const Tensor power = kSaturation * exp(drop / kThermal);
        const Tensor current = power - kSaturation;
        const Tensor off = kCapacity / kStep * (u - before) + u / kLoad - current;
        const Tensor change = off / (kCapacity / kStep + 1 / kLoad + power / kThermal);
        return std::tuple(u - change, abs(change), trips + 1);
      };
      const auto goes_on = [](Tensor, Tensor change, Tensor trips) {
        return (change > 1e-10) & (trips < 100);
      };
      const Tensor u = std::get<0>(while_loop(goes_on, newton, std::tuple(before, 1.0, 0)));
      return std::pair(u, u);
    };
    return scan(step, 0.0, source).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto source = arguments[0].data<double>();
    Literal result = Literal::uninitialized(f64({kSteps}));
    const auto voltage = result.mutable_data<double>();
    double u = 0;
    for (std::size_t i = 0; i < kSteps; i++) {
      const double before = u;
      double change = 1;
      for (int trips = 0; change > 1e-10 && trips < 100; trips++) {
        const double power = kSaturation * std::exp(std::min(source[i] - u, 0.6) / kThermal);
        const double current = power - kSaturation;
        const double off = kCapacity / kStep * (u - before) + u / kLoad - current;
        const double step = off / (kCapacity / kStep + 1 / kLoad + power / kThermal);
        u -= step;
        change = std::abs(step);
      }
      voltage[i] = u;
    }
    return {result};
  };
  Literal source = Literal::zeros(f64({kSteps}));
  const auto volts = source.mutable_data<double>();
  for (std::size_t i = 0; i < kSteps; i++) volts[i] = 5 * std::sin(2e-5 * 50 * 6.28 * double(i));
  return {.name = "simulations/rectifier",
          .program = trace(program, f64({kSteps})),
          .arguments = {source},
          .plain = plain};
}

/// A vehicle whose speed a controller (PID, limited) keeps along a road with slopes.
Workload cruise_control() {
  constexpr std::int64_t kSteps = 4000;
  constexpr float kStep = 0.05f;
  struct State {
    Tensor speed, integral, last;
  };
  const auto program = [&](Tensor slopes, Tensor wanted) {
    const auto step = [&](State s, Tensor slope) {
      const Tensor error = wanted - s.speed;
      const Tensor integral = clamp(-50, s.integral + kStep * error, 50);
      const Tensor asked = 800 * error + 60 * integral + 20 * (error - s.last) / kStep;
      const Tensor force = clamp(-3000, asked, 4000);
      const Tensor drag = 0.4f * s.speed * abs(s.speed) + 150 * tanh(10 * s.speed);
      const Tensor speed = s.speed + kStep / 1200 * (force - drag - 11760 * sin(slope));
      return std::pair(State{speed, integral, error}, std::pair(speed, force));
    };
    return scan(step, State{0.0f, 0.0f, wanted}, slopes).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto slopes = arguments[0].data<float>();
    const float wanted = arguments[1].item<float>();
    Literal speeds = Literal::uninitialized(f32({kSteps})),
            forces = Literal::uninitialized(f32({kSteps}));
    const auto speed_at = speeds.mutable_data<float>(), force_at = forces.mutable_data<float>();
    float speed = 0, integral = 0, last = wanted;
    for (std::size_t i = 0; i < kSteps; i++) {
      const float error = wanted - speed;
      integral = std::clamp(integral + kStep * error, -50.0f, 50.0f);
      const float asked = 800 * error + 60 * integral + 20 * (error - last) / kStep;
      const float force = std::clamp(asked, -3000.0f, 4000.0f);
      const float drag = 0.4f * speed * std::abs(speed) + 150 * std::tanh(10 * speed);
      speed += kStep / 1200 * (force - drag - 11760 * std::sin(slopes[i]));
      last = error;
      speed_at[i] = speed;
      force_at[i] = force;
    }
    return {speeds, forces};
  };
  return {.name = "simulations/cruise_control",
          .program = trace(program, f32({kSteps}), f32()),
          .arguments = {uniform_floats({kSteps}, -0.05, 0.05), Literal::scalar(25.0f)},
          .plain = plain,
          .tolerance = 1e-3};
}

}  // namespace

std::vector<Workload> system_workloads() { return {rectifier(), cruise_control()}; }

}  // namespace rondo::bench
