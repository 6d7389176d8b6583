// Lesson 23: the same program on real XLA. A PJRT plugin is a shared library with XLA's compiler
// and runtime; `pip install --no-deps lammps-jax-pjrt-cpu` installs one for the CPU. One option of
// jit chooses where a program runs: on the built-in executors, one device, or eight of them.
//
// Sixteen houses are heated from tanks of different temperatures. The loss is the distance of their
// slabs from a target temperature, and reverse mode says how to change the tanks.
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Houses {
  Tensor slab, tank;  // degrees Celsius, one for each house
};

constexpr int kHouses = 16;

Tensor tanks() { return rondo::convert(50 + 2 * rondo::arange(kHouses), rondo::DType::kF64); }

// Eight devices in a row share the houses, two per device. Elsewhere this has no effect.
const rondo::Mesh kRow({{"row", 8}});

Tensor loss(Tensor tank) {
  tank = rondo::shard(tank, kRow, {"row"});
  const Houses end = rondo::fori_loop(
      0, 200,
      [](Tensor, Houses h) {
        const Tensor flow = 0.05 * (h.tank - h.slab);
        return Houses{h.slab + 0.3 * flow - 0.002 * (h.slab - 10), h.tank - 0.1 * flow};
      },
      Houses{rondo::full(rondo::f64({kHouses}), 20.0), tank}, {.name = "heating"});
  return rondo::mean(rondo::square(end.slab - 30.0));
}

struct Answer {
  double loss;
  std::vector<double> slope;
};

Answer ask(const rondo::JitOptions& options) {
  const auto f = rondo::jit(rondo::value_and_grad(loss), options);
  const auto [value, slope] = f(tanks());
  const rondo::Literal elements = slope.eval();
  const auto data = elements.data<double>();
  return {value.item<double>(), {data.begin(), data.end()}};
}

bool agree(const Answer& a, const Answer& b) {
  bool all = std::abs(a.loss - b.loss) < 1e-9;
  for (std::size_t i = 0; i < a.slope.size(); i++)
    all = all && std::abs(a.slope[i] - b.slope[i]) < 1e-9;
  return all;
}

int main() {
  const Answer built_in = ask({});
  std::printf("loss %.6f; by the first tank %.6f, by the last %.6f\n", built_in.loss,
              built_in.slope.front(), built_in.slope.back());

  // Without a plugin the lesson says so on stderr and uses the built-in executor.
  rondo::JitOptions one, eight;
  try {
    const rondo::pjrt::Client client(rondo::pjrt::load_plugin(), {{"cpu_device_count", 8}});
    one.device = client.devices()[0];
    eight.mesh = rondo::Mesh(kRow.axes(), client.devices());
    std::fprintf(stderr, "on %s, and on %s\n", one.device.str().c_str(), eight.mesh->str().c_str());
  } catch (const rondo::ExecutionError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::printf("on one device the same: %s\n", agree(ask(one), built_in) ? "yes" : "no");
  std::printf("on eight devices the same: %s\n", agree(ask(eight), built_in) ? "yes" : "no");

  // Results stay on the device, so a loop in C++ copies nothing until a value is read, and a large
  // array that is moved into a call is donated.
  const auto descend =
      rondo::jit([](Tensor tank) { return tank - 2 * rondo::grad(loss)(tank); }, one);
  Tensor tank = tanks();
  for (int i = 0; i < 5; i++) tank = descend(std::move(tank));
  std::printf("after 5 steps of descent the loss is %.6f\n", loss(tank).item<double>());
}
