// Lesson 34: solvers. A fit, and a differential equation with an event, with their derivatives.
//
// least_squares, minimize, find_root, fixed_point, conjugate_gradient, gmres and odeint are
// functions of trees. What they return has the derivative of the equation that defines it, so a
// solver can be a part of what another one, or a gradient, works on.
#include <cmath>
#include <cstdio>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Cooling {
  Tensor room, excess, rate;
};
struct Ball {
  Tensor height, speed;
};

int main() {
  // A cup of tea: temperatures by the minute, room + excess e^(-rate t).
  const Tensor minutes = rondo::linspace(0.0, 30.0, 7, rondo::DType::kF64);
  const Tensor measured = rondo::constant({85.1, 71.8, 61.2, 52.8, 46.2, 40.9, 36.8});
  auto fit = [&](Tensor temperatures) {
    return rondo::least_squares(
        [&](Cooling c) { return c.room + c.excess * exp(-c.rate * minutes) - temperatures; },
        Cooling{25.0, 50.0, 0.1});
  };
  const auto tea = fit(measured);
  std::printf("room %.2f, excess %.2f, rate %.4f, converged: %s\n", tea.x.room.item<double>(),
              tea.x.excess.item<double>(), tea.x.rate.item<double>(),
              tea.converged.item<bool>() ? "yes" : "no");

  // How much each measurement counts for the rate: the gradient of the fit, by its equation.
  const Tensor weights = rondo::grad([&](Tensor t) { return fit(t).x.rate; })(measured);
  std::printf("the first measurement by 0.1 warmer: rate %+.6f\n", 0.1 * weights[0].item<double>());
  const Tensor warmer = measured + rondo::update(rondo::zeros(rondo::f64({7})), 0, 0.1);
  std::printf("fitted again:                        rate %+.6f\n",
              (fit(warmer).x.rate - tea.x.rate).item<double>());

  // A ball that is thrown with drag, until it is on the ground again.
  auto flight = [](Tensor speed, Tensor drag) {
    const Tensor times = rondo::linspace(0.0, 10.0, 5, rondo::DType::kF64);
    return rondo::odeint(
        [&](Ball b, Tensor) {
          return Ball{b.speed, -9.81 - drag * b.speed * abs(b.speed)};
        },
        Ball{0.0, speed}, times,
        {.rtol = 1e-9, .event = [](const Ball& b, const Tensor&) { return b.height; }});
  };
  auto duration = [&](Tensor speed, Tensor drag) { return flight(speed, drag).event_time; };
  std::printf("without drag it flies %.4f s: %.4f\n", 2 * 20 / 9.81,
              duration(20.0, 0.0).item<double>());
  std::printf("with drag %.4f s\n", duration(20.0, 0.01).item<double>());
  const auto [by_speed, by_drag] = rondo::grad<0, 1>(duration)(20.0, 0.01);
  std::printf("by speed %.4f, by drag %.2f\n", by_speed.item<double>(), by_drag.item<double>());

  // The drag at which it flies 3.5 s: a root of a function that solves an equation in each call.
  const auto drag = rondo::find_root([&](Tensor d) { return duration(20.0, d) - 3.5; }, 0.01);
  std::printf("drag %.5f gives %.4f s\n", drag.x.item<double>(),
              duration(20.0, drag.x).item<double>());

  // Many throws at once: each has steps of its own.
  const Tensor speeds = rondo::constant({5.0, 20.0, 40.0});
  const Tensor all = rondo::vmap(duration, {0, std::nullopt})(speeds, 0.01);
  for (int i = 0; i < 3; i++)
    std::printf("at %.0f m/s: %.3f s\n", speeds[i].item<double>(), all[i].item<double>());
}
