// Lesson 13: looking inside a running program.
#include <fstream>
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

int main(int argc, char** argv) {
  auto newton = [](Tensor a) {
    return rondo::while_loop([&](Tensor x) { return abs(x * x / a - 1) > 1e-6; },
                             [&](Tensor x) {
                               const Tensor next = 0.5 * (x + a / x);
                               return rondo::tap(next,
                                                 "guess");  // the value itself, and a report of it
                             },
                             a, {.name = "newton"});
  };
  const rondo::Function program = rondo::trace(newton, rondo::f64());

  // The IR as text, and as a picture: `dot -Tsvg newton.dot -o newton.svg` makes one.
  std::cout << rondo::to_text(program);
  std::ofstream(argc > 1 ? argv[1] : "newton.dot") << rondo::to_dot(program);

  // Taps report to the caller of the program. Otherwise they do nothing.
  const rondo::Executable run = rondo::compile(program);
  rondo::RunOptions options;
  options.on_tap = [](std::string_view name, const rondo::Literal& value) {
    std::cout << name << " " << value.item<double>() << "\n";
  };
  rondo::RunStats stats;
  options.stats = &stats;
  run.run({rondo::Literal::scalar(2.0)}, options);
  std::cout << stats.loops[0].name << ": " << stats.loops[0].trips << " trips\n";

  // Limits end a loop that would never end, and the error says where it was.
  rondo::RunOptions limited;
  limited.max_iterations = 3;
  try {
    run.run({rondo::Literal::scalar(2.0)}, limited);
  } catch (const rondo::ExecutionError& error) {
    std::cout << error.what() << "\n";
  }

  // In an EagerScope each op is computed at once and lambdas run on each trip: a debugger stops in
  // them, and printf works.
  rondo::EagerScope eager;
  const Tensor root = rondo::fori_loop(
      0, 4,
      [](Tensor i, Tensor x) {
        std::cout << "trip " << i.item<int>() << ": x = " << x.item<double>() << "\n";
        return 0.5 * (x + 2.0 / x);
      },
      2.0);
  std::cout << root << "\n";
}
