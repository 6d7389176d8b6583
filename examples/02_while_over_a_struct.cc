// Lesson 2: a while loop whose carry is a struct.
//
// Any struct of tensors can be carried, without registration, and its field names appear in the
// program. The lambdas run once, and one loop is recorded, however many trips it makes.
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Ball {
  Tensor time, height, speed;
};

int main() {
  auto fall = [](Tensor height) {
    return rondo::while_loop(
        [](Ball b) { return b.height > 0; },
        [](Ball b) {
          const double dt = 0.01;
          return Ball{b.time + dt, b.height + dt * b.speed, b.speed - dt * 9.81};
        },
        Ball{0.0f, height, 0.0f});
  };

  std::cout << rondo::trace(fall, rondo::f32()).str();

  auto run = rondo::jit(fall);
  for (float height : {0.0f, 5.0f, 20.0f}) {
    const Ball end = run(height);
    std::cout << "from " << height << " m: " << end.time.item<float>() << " s, "
              << end.speed.item<float>() << " m/s\n";
  }

  // A carry must keep its types. The error names the field.
  try {
    (void)rondo::while_loop([](Ball b) { return b.height > 0; },
                            [](Ball b) {
                              return Ball{b.time, b.height, convert(b.speed, rondo::DType::kF64)};
                            },
                            Ball{0.0f, 1.0f, 0.0f});
  } catch (const rondo::TraceError& error) {
    std::cout << error.what() << "\n";
  }
}
