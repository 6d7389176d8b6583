// Lesson 29: the spectrum of a simulation. Two masses between springs swing in two modes; a scan
// records one of them, and rfft shows the two frequencies. The gradient passes the transform and
// the loop: it finds the spring between the masses that gives a wanted frequency.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr int kSteps = 1024;
constexpr double kTimeStep = 0.05;

struct State {
  Tensor x1, x2, v1, v2;
};

/// The place of the first mass after each step. Both masses are 1, the outer springs as well.
Tensor recorded(Tensor spring) {
  const auto step = [&](State s) {
    const Tensor v1 = s.v1 + kTimeStep * (-s.x1 + spring * (s.x2 - s.x1));
    const Tensor v2 = s.v2 + kTimeStep * (-s.x2 + spring * (s.x1 - s.x2));
    const State next{s.x1 + kTimeStep * v1, s.x2 + kTimeStep * v2, v1, v2};
    return std::pair(next, next.x1);
  };
  return rondo::scan(step, State{1.0, 0.0, 0.0, 0.0}, std::tuple<>(), {.length = kSteps}).second;
}

/// The power at each frequency k / (kSteps kTimeStep). A window takes the ends to zero, so that a
/// frequency between two of these does not leak into all others.
Tensor spectrum(Tensor x) {
  const Tensor phase = rondo::arange(kSteps, rondo::DType::kF64) * (2 * std::numbers::pi / kSteps);
  const Tensor z = rondo::rfft(x * (0.5 - 0.5 * rondo::cos(phase)));
  return rondo::square(rondo::real(z)) + rondo::square(rondo::imag(z));
}

/// The mean frequency, in units of 1 / (2 pi), of the upper half of the modes: the second peak.
Tensor second_frequency(Tensor spring) {
  const Tensor power = spectrum(recorded(spring));
  const Tensor w = rondo::arange(power.shape()[0], rondo::DType::kF64) *
                   (2 * std::numbers::pi / (kSteps * kTimeStep));
  const Tensor upper = rondo::where(w > 1.25, power, 0);
  return rondo::sum(w * upper) / rondo::sum(upper);
}

int main() {
  const rondo::Literal power =
      rondo::jit([](Tensor k) { return spectrum(recorded(k)); })(0.5).eval();
  double most = 0;
  for (const double p : power.data<double>()) most = std::max(most, p);
  for (std::size_t k = 0; k < 18; k++) {
    const double share = power.data<double>()[k] / most;
    std::printf("%5.2f %s\n", 2 * std::numbers::pi * static_cast<double>(k) / (kSteps * kTimeStep),
                std::string(static_cast<std::size_t>(std::lround(40 * share)), '#').c_str());
  }
  std::printf("modes: 1 and sqrt(1 + 2 * 0.5) = %.4f\n", std::sqrt(2.0));

  const auto frequency = rondo::jit(rondo::value_and_grad(second_frequency));
  Tensor spring = 0.5;
  for (int i = 0; i < 6; i++) {
    const auto [w, slope] = frequency(spring);
    spring = spring + (1.8 - w) / slope;
  }
  const double found = spring.item<double>();
  std::printf("spring for the frequency 1.8: %.3f, by the formula %.3f\n", found,
              (1.8 * 1.8 - 1) / 2);
}
