#include <rondo/rondo.h>

#include <cmath>
#include <cstdint>
#include <iostream>

#include "growth.h"

int main() {
  double result = rondo::jit(grow)(100.0, 0.05, 30).item<double>();
  double expected = 100.0 * std::pow(1.05, 30);
  // Without the compiled rest beside the text of core, compile() refuses this executor.
  const rondo::Executable compiled =
      rondo::compile(rondo::trace(grow, rondo::f64(), rondo::f64(), rondo::s32()),
                     {.executor = rondo::Executor::kBytecode});
  double bytecode = compiled
                        .run({rondo::Literal::scalar(100.0), rondo::Literal::scalar(0.05),
                              rondo::Literal::scalar(std::int32_t{30})})
                        .front()
                        .item<double>();
  bool fine = std::abs(result - expected) < 1e-9 * expected &&
              std::abs(bytecode - expected) < 1e-9 * expected;
  std::cout << result << ", expected " << expected << (fine ? ", fine\n" : ", wrong\n");
  return fine ? 0 : 1;
}
