#include <rondo/rondo.h>

#include <cmath>
#include <iostream>

#include "growth.h"

int main() {
  double result = rondo::jit(grow)(100.0, 0.05, 30).item<double>();
  double expected = 100.0 * std::pow(1.05, 30);
  bool fine = std::abs(result - expected) < 1e-9 * expected;
  std::cout << result << ", expected " << expected << (fine ? ", fine\n" : ", wrong\n");
  return fine ? 0 : 1;
}
