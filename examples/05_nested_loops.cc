// Lesson 5: nested loops, branches in loops, loops in branches.
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

int main() {
  // for i < n: for j <= i: count += 1. The inner loop captures the outer index, and so does its
  // bound.
  auto triangle = rondo::jit([](Tensor n) {
    return rondo::fori_loop(
        0, n,
        [](Tensor i, Tensor count) {
          return rondo::fori_loop(
              0, i + 1, [](Tensor, Tensor count) { return count + 1; }, count);
        },
        0);
  });
  std::cout << "triangles: " << triangle(2).item<int>() << " " << triangle(3).item<int>() << " "
            << triangle(4).item<int>() << "\n";

  // Primes below n by trial division: a while in a cond in a fori.
  auto primes = rondo::jit([](Tensor n) {
    return rondo::fori_loop(
        2, n,
        [](Tensor candidate, Tensor count) {
          auto by_division = [&] {
            const Tensor divisor = rondo::while_loop(
                [&](Tensor d) { return (d * d <= candidate) & (candidate % d != 0); },
                [](Tensor d) { return d + 2; }, 3);
            return divisor * divisor > candidate;
          };
          const Tensor is_prime = rondo::cond(
              candidate % 2 == 0, [&] { return candidate == 2; }, by_division);
          return count + convert(is_prime, rondo::DType::kS32);
        },
        0);
  });
  std::cout << "primes below 100: " << primes(100).item<int>()
            << ", below 10000: " << primes(10000).item<int>() << "\n";

  // A machine with few instructions, dispatched by switch_case inside a while: 6 * 7 by adding.
  struct Machine {
    Tensor pc, a, b, steps;
  };
  const Tensor code = rondo::constant({0, 1, 2});  // add a to b; count down; jump back or halt
  const Machine end =
      rondo::while_loop([](Machine m) { return m.pc < 3; },
                        [&](Machine m) {
                          Machine next = rondo::switch_case(
                              code[m.pc],
                              std::tuple(
                                  [](Machine m) {
                                    return Machine{m.pc + 1, m.a, m.b + 6, m.steps};
                                  },
                                  [](Machine m) {
                                    return Machine{m.pc + 1, m.a - 1, m.b, m.steps};
                                  },
                                  [](Machine m) {
                                    return Machine{where(m.a > 0, 0, m.pc + 1), m.a, m.b, m.steps};
                                  }),
                              m);
                          next.steps += 1;
                          return next;
                        },
                        Machine{0, 7, 0, 0});
  std::cout << "6 * 7 = " << end.b.item<int>() << " after " << end.steps.item<int>()
            << " instructions\n";
}
