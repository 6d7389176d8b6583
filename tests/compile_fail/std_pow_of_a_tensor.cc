// EXPECT: rondo::pow.x, y
#include <rondo/rondo.h>

#include <cmath>

rondo::Tensor squared(rondo::Tensor x) {
#ifdef CONTROL
  return rondo::pow(x, 2) + std::pow(2.0f, 3) + static_cast<float>(std::pow(2, 3));
#else
  return std::pow(x, 2);
#endif
}
