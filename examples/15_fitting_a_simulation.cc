// Lesson 15: fitting a coefficient of a simulation by gradient descent.
//
// The thermal loop of lesson 8 is run with an unknown conductance, and compared with a record of
// the water's temperature. The gradient of the misfit passes backwards through a while whose number
// of trips is an argument; the descent is a loop around it. All of this is one program.
#include <cmath>
#include <cstdio>
#include <numbers>
#include <tuple>

#include "rondo/rondo.h"

using rondo::Tensor;

struct House {
  Tensor iter;                // steps made
  Tensor slab, quanta, tank;  // degrees Celsius
  Tensor misfit;              // sum of squared differences so far
};

// As in lesson 8, SI units.
constexpr double kStep = 0.1;                                         // s
constexpr double kArea = std::numbers::pi * 0.019 * (100 / 0.50292);  // m^2
constexpr double kSlabHeat = 880 * 22650.058, kWaterHeat = 4184 * kArea * 0.019 / 4 * 1000,
                 kTankHeat = 4184 * 75.708;               // J/K
constexpr double kConductance = kArea / (0.35 * 0.0023);  // W/K: the answer

/// The conductance is given by its logarithm, which keeps it positive and well scaled.
House step(House h, Tensor log_conductance) {
  const Tensor from_tank = (h.tank - h.quanta) * (0.6309 * 4184);     // W
  const Tensor to_slab = (h.quanta - h.slab) * exp(log_conductance);  // W
  return House{h.iter + 1, h.slab + to_slab * (kStep / kSlabHeat),
               h.quanta + (from_tank - to_slab) * (kStep / kWaterHeat),
               h.tank - from_tank * (kStep / kTankHeat), h.misfit};
}

House start() { return {0, 20.0, 20.0, 70.0, 0.0}; }

int main() {
  const int steps = 600;  // a minute

  // The record: the result of the true coefficient, step by step.
  const Tensor truth = std::log(kConductance);
  auto watched = [&](House h) {
    const House next = step(h, truth);
    return std::pair(next, next.quanta);
  };
  const Tensor record = rondo::scan(watched, start(), std::tuple<>(), {.length = steps}).second;

  auto misfit = [](Tensor log_conductance, Tensor record, Tensor steps) {
    auto compared = [&](House h) {
      House next = step(h, log_conductance);
      next.misfit = h.misfit + square(next.quanta - record[h.iter]);
      return next;
    };
    const House end = rondo::while_loop([&](House h) { return h.iter < steps; }, compared, start(),
                                        {.name = "simulation"});
    return end.misfit / convert(steps, rondo::DType::kF64);
  };

  // Gradient descent: each trip moves along the negative gradient.
  auto fit = rondo::jit([&](Tensor guess, Tensor record, Tensor steps, Tensor descents) {
    auto descend = [&](Tensor, Tensor x) {
      return x - 0.03 * rondo::grad(misfit)(x, record, steps);
    };
    const Tensor fitted = rondo::fori_loop(0, descents, descend, guess, {.name = "descent"});
    return std::pair(fitted, misfit(fitted, record, steps));
  });

  std::printf("descents  conductance in W/K  mean squared error, K^2\n");
  const Tensor guess = std::log(5000.0);
  for (int descents : {0, 1, 2, 5, 10, 20}) {
    auto [x, error] = fit(guess, record, steps, descents);
    std::printf("%8d  %18.4f  %24.10f\n", descents, std::exp(x.item<double>()),
                error.item<double>());
  }
  std::printf("the truth %18.4f\n", kConductance);
}
