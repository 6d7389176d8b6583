// Lesson 14: derivatives of a function, and through a loop of unknown trip count.
//
// grad(f) is again a function. It can be called, jitted, used in a loop and differentiated in turn.
#include <iostream>
#include <string>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Lens {
  Tensor focus, distance;
};

int main() {
  // The derivative of x sin x is sin x + x cos x.
  auto f = [](Tensor x) { return x * sin(x); };
  std::cout << "slope at 2: " << rondo::grad(f)(2.0) << "\n";
  auto [value, slope] = rondo::value_and_grad(f)(2.0);
  std::cout << "value and slope: " << value << " " << slope << "\n";
  std::cout << "third derivative: " << rondo::grad(rondo::grad(rondo::grad(f)))(2.0) << "\n";

  // The gradient with respect to argument 0 is like argument 0, here a struct. Other arguments, and
  // several, can be selected.
  auto image = [](Lens lens, Tensor size) {
    return size * lens.focus / (lens.distance - lens.focus);
  };
  const Lens lens{Tensor(0.5), Tensor(2.0)};
  const Lens by_lens = rondo::grad(image)(lens, 3.0);
  std::cout << "by focus and distance: " << by_lens.focus << " " << by_lens.distance << "\n";
  std::cout << "by size: " << rondo::grad<1>(image)(lens, 3.0) << "\n";

  // Forward mode pushes a tangent through f, reverse mode pulls a cotangent of the results back.
  // The first is cheap for one input and many outputs, the second for many inputs and one output.
  auto polar = [](Tensor r, Tensor angle) { return std::pair(r * cos(angle), r * sin(angle)); };
  auto [at, along] = rondo::jvp(polar, std::tuple(2.0, 0.0), std::tuple(0.0, 1.0));
  std::cout << "turning moves (" << at.first << ", " << at.second << ") by (" << along.first << ", "
            << along.second << ")\n";
  auto [same, pullback] = rondo::vjp(polar, 2.0, 0.0);
  auto [by_r, by_angle] = pullback(std::pair(Tensor(0.0), Tensor(1.0)));
  std::cout << "the y coordinate, by r and angle: " << by_r << " " << by_angle << "\n";

  // The Jacobian and the Hessian of Rosenbrock's function at its minimum.
  auto rosenbrock = [](Tensor p) { return 100 * square(p[1] - p[0] * p[0]) + square(1 - p[0]); };
  const Tensor minimum = rondo::constant({1.0, 1.0});
  std::cout << "gradient: " << rondo::jacrev(rosenbrock)(minimum) << "\n";
  std::cout << "Hessian: " << rondo::hessian(rosenbrock)(minimum) << "\n";

  // A loop whose trip count depends on x: d acc / dx is the number of trips.
  auto fill = [](Tensor x) {
    return rondo::while_loop([](Tensor acc) { return acc < 10; },
                             [&](Tensor acc) { return acc + x; }, 0.0);
  };
  auto fill_slope = rondo::jit(rondo::grad(fill));
  for (double x : {1.0, 0.5, 3.0})
    std::cout << "filling by " << x << ": slope " << fill_slope(x).item<double>() << "\n";

  // The number of trips may be a tensor. No trip at all is the identity, with slope 1.
  auto grow = [](Tensor x, Tensor trips) {
    return rondo::fori_loop(
        0, trips, [](Tensor, Tensor y) { return 3 * y; }, x);
  };
  auto grow_slope = rondo::jit(rondo::grad(grow));
  for (int trips : {0, 1, 2, 5})
    std::cout << trips << " times 3: slope " << grow_slope(7.0, trips).item<double>() << "\n";

  // An integer has no derivative, and the error says so. (Its location is omitted here.)
  try {
    (void)rondo::grad(f)(2);
  } catch (const rondo::TraceError& error) {
    const std::string message = error.what();
    std::cout << message.substr(0, message.find('\n')) << "\n";
  }
}
