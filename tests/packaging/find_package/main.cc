#include <rondo/rondo.h>

#include <cmath>
#include <iostream>
#include <string>

using rondo::Tensor;

struct House {
  Tensor step, slab, tank;
};

int main() {
  auto simulate = [](Tensor tank0) {
    House end = rondo::while_loop(
        [](House h) { return h.step < 20; },
        [](House h) {
          return House{h.step + 1, h.slab + 0.1 * (h.tank - h.slab), h.tank * 0.99};
        },
        House{0, 20.0f, tank0});
    return end.slab;
  };
  float slab = rondo::jit(simulate)(70.0f).item<float>();
  std::string hlo = rondo::to_hlo_text(rondo::trace(simulate, rondo::f32()));

  float expected = 20.0f;
  float tank = 70.0f;
  for (int step = 0; step < 20; ++step) {
    expected += 0.1f * (tank - expected);
    tank *= 0.99f;
  }
  bool fine = std::abs(slab - expected) < 1e-3f && hlo.find("while(") != std::string::npos;
  std::cout << "slab " << slab << ", expected " << expected << (fine ? ", fine\n" : ", wrong\n");
  return fine ? 0 : 1;
}
