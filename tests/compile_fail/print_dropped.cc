// A print whose result is dropped may not run.
// EXPECT: a print runs when its result is asked for|no op changes a tensor
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor f(rondo::Tensor x) {
  x = rondo::print(x, "{}");
  return x;
}
#else
#pragma GCC diagnostic error "-Wunused-result"
rondo::Tensor f(rondo::Tensor x) {
  rondo::print(x, "{}");
  return x;
}
#endif
