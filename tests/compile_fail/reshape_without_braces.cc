// EXPECT: rondo::reshape.x, .2, 3
#include <rondo/rondo.h>

rondo::Tensor square(rondo::Tensor x) {
#ifdef CONTROL
  return rondo::reshape(x, {2, 2});
#else
  return rondo::reshape(x, 2, 2);
#endif
}
