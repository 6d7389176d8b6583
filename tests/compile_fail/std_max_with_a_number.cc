// EXPECT: rondo::maximum.x, y
#include <rondo/rondo.h>

#include <algorithm>

rondo::Tensor positive(rondo::Tensor x) {
#ifdef CONTROL
  return rondo::maximum(x, 0.0f);
#else
  return std::max(x, 0.0f);
#endif
}
