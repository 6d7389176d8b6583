// The thermal loop: a slab warmed by a tank through a heat exchanger, explicit steps of 0.1 s.
#pragma once

#include <numbers>

#include "rondo/rondo.h"

namespace rondo::testing {

struct House {
  Tensor slab, quanta, tank;  // degrees Celsius
};

inline House thermal_step(const House& h) {
  const double surface = std::numbers::pi * 0.019 * (100 / 0.50292);
  const double fluid_mass = surface * 0.019 / 4 * 1000;
  const double conductance = surface / (0.35 * 0.0023);
  const double dt = 0.1, water = 4184;
  const Tensor from_tank = (h.tank - h.quanta) * (0.6309 * water);
  const Tensor into_slab = (h.quanta - h.slab) * conductance;
  return {h.slab + into_slab * dt / (880 * 22650.058),
          h.quanta + (from_tank - into_slab) * dt / (water * fluid_mass),
          h.tank - from_tank * dt / (water * 75.708)};
}

/// The house after `trips` steps, computed by a while.
inline House thermal(const House& start, const Tensor& trips, const WhileOptions& options = {}) {
  struct State {
    Tensor step;
    House house;
  };
  return while_loop([&](const State& s) { return s.step < trips; },
                    [](const State& s) {
                      return State{s.step + 1, thermal_step(s.house)};
                    },
                    State{0, start}, options)
      .house;
}

inline Tensor thermal_loss(const House& end) {
  const Tensor off = end.slab - 27.344767;
  return off * off;
}

}  // namespace rondo::testing
