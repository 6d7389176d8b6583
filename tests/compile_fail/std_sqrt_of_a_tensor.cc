// What `using std::sqrt` finds must still be Rondo's.
// EXPECT: rondo::sqrt.x
#include <rondo/rondo.h>

#include <cmath>

rondo::Tensor root(rondo::Tensor x) {
#ifdef CONTROL
  using std::sqrt, std::pow, std::abs, std::clamp;
  return sqrt(abs(x)) + pow(x, 2) + clamp(0.0f, x, 1.0f) + std::sqrt(2.0f);
#else
  return std::sqrt(x);
#endif
}
