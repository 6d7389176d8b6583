// No op changes a tensor.
// EXPECT: no op changes a tensor
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor f(rondo::Tensor x) {
  x += 1;
  return x;
}
#else
#pragma GCC diagnostic error "-Wunused-result"
rondo::Tensor f(rondo::Tensor x) {
  x + 1;
  return x;
}
#endif
