// EXPECT: rondo::maximum.x, y
#include <rondo/rondo.h>

#include <algorithm>

rondo::Tensor larger(rondo::Tensor x, rondo::Tensor y) {
#ifdef CONTROL
  return rondo::maximum(x, y);
#else
  return std::max(x, y);
#endif
}
