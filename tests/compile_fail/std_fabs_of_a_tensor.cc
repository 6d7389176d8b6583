// Where the name is another one here, the message has ours.
// EXPECT: rondo::abs.x
#include <rondo/rondo.h>

#include <cmath>

rondo::Tensor size(rondo::Tensor x) {
#ifdef CONTROL
  return rondo::abs(x);
#else
  return std::fabs(x);
#endif
}
