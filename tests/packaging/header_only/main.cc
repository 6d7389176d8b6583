#include <rondo/rondo.h>

#include <cmath>
#include <iostream>

#include "growth.h"

int main() {
  double result = rondo::jit(grow)(100.0, 0.05, 30).item<double>();
  double expected = 100.0 * std::pow(1.05, 30);
  // The compiled rest is linked beside the text of core.
  const rondo::Executable compiled =
      rondo::compile(rondo::trace(grow, rondo::f64(), rondo::f64(), rondo::s32()),
                     {.executor = rondo::Executor::kBytecode});
  bool fine =
      std::abs(result - expected) < 1e-9 * expected && compiled.program().find("// bytecode") == 0;
  std::cout << result << ", expected " << expected << (fine ? ", fine\n" : ", wrong\n");
  return fine ? 0 : 1;
}
