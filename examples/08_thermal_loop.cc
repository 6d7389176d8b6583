// Lesson 8: a simulation. A floor slab is heated by water from a tank; the loop steps three
// temperatures.
//
// The lambdas run once. They record one `while`, in the IR and in the HLO, for 20 steps as for
// 10000.
#include <cmath>
#include <cstdio>
#include <iostream>
#include <numbers>

#include "rondo/rondo.h"

using rondo::Tensor;

struct House {
  Tensor iter;                // steps made
  Tensor slab, quanta, tank;  // degrees Celsius
};

// Geometry and material, SI units.
constexpr double kStep = 0.1;                                         // s
constexpr double kArea = std::numbers::pi * 0.019 * (100 / 0.50292);  // m^2, of the pipe's wall
constexpr double kWater = kArea * 0.019 / 4 * 1000;                   // kg, in the pipe
constexpr double kConductance = kArea / (0.35 * 0.0023);              // W/K, as in the model
constexpr double kSlabHeat = 880 * 22650.058, kWaterHeat = 4184 * kWater,
                 kTankHeat = 4184 * 75.708;  // J/K

House step(House h) {
  const Tensor from_tank = (h.tank - h.quanta) * (0.6309 * 4184);  // W
  const Tensor to_slab = (h.quanta - h.slab) * kConductance;       // W
  return House{h.iter + 1, h.slab + to_slab * (kStep / kSlabHeat),
               h.quanta + (from_tank - to_slab) * (kStep / kWaterHeat),
               h.tank - from_tank * (kStep / kTankHeat)};
}

/// The same in plain C++, for comparison.
void step(double& slab, double& quanta, double& tank) {
  const double from_tank = (tank - quanta) * (0.6309 * 4184),
               to_slab = (quanta - slab) * kConductance;
  slab += to_slab * (kStep / kSlabHeat);
  quanta += (from_tank - to_slab) * (kStep / kWaterHeat);
  tank -= from_tank * (kStep / kTankHeat);
}

int main() {
  auto simulate = [](Tensor slab, Tensor quanta, Tensor tank, Tensor steps) {
    return rondo::while_loop([&](House h) { return h.iter < steps; },
                             [](House h) { return step(h); }, House{0, slab, quanta, tank},
                             {.name = "heating"});
  };

  const rondo::Function program =
      rondo::trace(simulate, rondo::f32(), rondo::f32(), rondo::f32(), rondo::s32());
  std::cout << "The program:\n\n"
            << program.str() << "\nThe same as HLO, which XLA's parser accepts:\n\n"
            << rondo::to_hlo_text(program) << "\n";

  auto run = rondo::jit(simulate);
  // The loss is the squared distance of the slab from a measured 27.344767 degrees. Seven decimals
  // of it are printed, for comparison with other programs.
  std::printf("%8s  %10s  %10s  %10s  %12s\n", "steps", "slab", "quanta", "tank", "loss");
  auto row = [](int steps, double slab, double quanta, double tank) {
    std::printf("%8d  %10.6f  %10.6f  %10.6f  %12.7f\n", steps, slab, quanta, tank,
                std::pow(slab - 27.344767, 2));
  };
  // From slab 20, quanta 20, tank 70, in f64; then from 33.3, 33.3, 70.
  auto compare = [&](double slab, double quanta, double tank, int steps) {
    const House h = run(slab, quanta, tank, steps);
    row(steps, h.slab.item<double>(), h.quanta.item<double>(), h.tank.item<double>());
    double s = slab, q = quanta, t = tank;
    for (int i = 0; i < steps; i++) step(s, q, t);
    if (std::abs(s - h.slab.item<double>()) > 1e-9)
      std::printf("          the plain C++ loop gives %.9f\n", s);
  };
  compare(20, 20, 70, 20);
  for (int steps : {20, 100, 1000, 10000}) compare(33.3, 33.3, 70, steps);
}
