// EXPECT: rondo::minimum.x, y
#include <rondo/rondo.h>

#include <algorithm>

rondo::Tensor least(rondo::Tensor x, rondo::Tensor y, rondo::Tensor z) {
#ifdef CONTROL
  return rondo::minimum(x, rondo::minimum(y, z));
#else
  return std::min({x, y, z});
#endif
}
