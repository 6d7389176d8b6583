// EXPECT: rondo::clamp.lo, x, hi
#include <rondo/rondo.h>

#include <algorithm>

rondo::Tensor cut(rondo::Tensor x) {
#ifdef CONTROL
  return rondo::clamp(0.0f, x, 1.0f);
#else
  return std::clamp(x, 0.0f, 1.0f);
#endif
}
