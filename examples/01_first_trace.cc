// Lesson 1: a first trace.
//
// A program is an ordinary C++ function of tensors. Running it once on parameters records what it
// does.
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

int main() {
  auto distance = [](Tensor a, Tensor b) { return sqrt(sum(square(a - b))); };

  // trace() runs the function on parameters of these types. The program can be read, printed and
  // run.
  const rondo::Function program = rondo::trace(distance, rondo::f32({3}), rondo::f32({3}));
  std::cout << program.str();

  // compile() prepares it to run on host arrays.
  const rondo::Executable run = rondo::compile(program);
  const auto a = rondo::Literal::from<float>({1, 2, 3}, {3});
  const auto b = rondo::Literal::from<float>({1, 5, 7}, {3});
  std::cout << "compiled: " << run.run({a, b})[0] << "\n";

  // jit() does both at the first call for each combination of input types.
  auto fast = rondo::jit(distance);
  std::cout << "jitted:   " << fast(a, b) << "\n";
  std::cout << "in f64:   " << fast(rondo::constant({0.0, 0.0}), rondo::constant({3.0, 4.0}))
            << "\n";

  // Outside a traced function tensors are lazy: nothing is computed until a value is requested.
  Tensor x = rondo::arange(5) + 1;
  std::cout << "lazy:     " << x * x << "\n";
  std::cout << "its sum:  " << sum(x * x).item<int>() << "\n";

  // Mistakes are found while the program is recorded, and say what to do.
  try {
    (void)(x + rondo::full(rondo::f32({5}), 0.5));
  } catch (const rondo::TraceError& error) {
    std::cout << "error:    " << error.what() << "\n";
  }
}
