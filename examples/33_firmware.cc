// Lesson 33: from a lambda to firmware. A controller that looks ahead is written as C.
//
// A floor is heated with a pump whose power the controller chooses: it simulates the next 20 steps,
// takes the derivative of what they cost with respect to the power, and moves the power against it.
// On the desk this is a jitted function; for the microcontroller to_c_source writes it as one C99
// file that needs no library but <math.h>, allocates nothing, and gives the same bits.
//
//   arm-none-eabi-gcc -std=c99 -O2 -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -c control.c
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

struct House {
  Tensor slab, water;
};

/// One minute with this power.
House minute(const House& h, const Tensor& power) {
  const Tensor flow = (h.water - h.slab) * 0.2f;
  return {h.slab + flow * 0.05f, h.water + (power - flow) * 0.1f};
}

/// What the next 20 minutes cost: how far the floor ends from the target, and the power.
Tensor cost(const Tensor& power, const House& now, const Tensor& target) {
  const House end =
      rondo::fori_loop(0, 20, [&](const Tensor&, const House& h) { return minute(h, power); }, now,
                       {.name = "look_ahead"});
  const Tensor off = end.slab - target;
  return off * off + 0.01f * power * power;
}

/// The power for the next minute, from the one before: four steps down the slope.
Tensor control(const House& now, const Tensor& target, const Tensor& power) {
  return rondo::fori_loop(
      0, 4,
      [&](const Tensor&, const Tensor& p) {
        const Tensor slope = rondo::grad([&](const Tensor& q) { return cost(q, now, target); })(p);
        return rondo::clamp(0.0f, p - 2.0f * slope, 10.0f);
      },
      power, {.name = "descent"});
}

int main() {
  // On the desk: an hour with it.
  auto step = rondo::jit([](const House& h, const Tensor& target, const Tensor& power) {
    const Tensor chosen = control(h, target, power);
    return std::pair(minute(h, chosen), chosen);
  });
  House h{18.0f, 18.0f};
  Tensor power = 0.0f;
  for (int i = 1; i <= 60; i++) {
    std::tie(h, power) = step(h, 21.0f, power);
    if (i % 20 == 0)
      std::cout << "minute " << i << ": floor " << h.slab.item<float>() << ", power "
                << power.item<float>() << '\n';
  }

  // For the microcontroller.
  const rondo::TensorType number = rondo::f32({});
  const rondo::Function program =
      rondo::trace(control, House{rondo::zeros(number), rondo::zeros(number)}, number, number);
  const rondo::CSource c = rondo::to_c_source(program, {.name = "control"});
  std::cout << '\n' << c.header << '\n' << c.source;
}
