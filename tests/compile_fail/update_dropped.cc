// update changes nothing in place.
// EXPECT: update leaves x as it is|no op changes a tensor
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor f(rondo::Tensor x) {
  x = rondo::update(x, 0, 1);
  return x;
}
#else
#pragma GCC diagnostic error "-Wunused-result"
rondo::Tensor f(rondo::Tensor x) {
  rondo::update(x, 0, 1);
  return x;
}
#endif
