// Nor does a loop.
// EXPECT: a loop changes nothing in place|no op changes a tensor
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor f(rondo::Tensor x) {
  x = rondo::fori_loop(
      0, 3, [](rondo::Tensor, rondo::Tensor s) { return s * 2; }, x);
  return x;
}
#else
#pragma GCC diagnostic error "-Wunused-result"
rondo::Tensor f(rondo::Tensor x) {
  rondo::fori_loop(
      0, 3, [](rondo::Tensor, rondo::Tensor s) { return s * 2; }, x);
  return x;
}
#endif
