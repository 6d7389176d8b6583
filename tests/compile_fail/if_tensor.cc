// A traced value has no truth value while it is traced.
// EXPECT: deleted
// EXPECT: operator bool
#include <rondo/rondo.h>

rondo::Tensor larger(rondo::Tensor x, rondo::Tensor y) {
#ifdef CONTROL
  return rondo::where(x > y, x, y);
#else
  if (x > y) return x;
  return y;
#endif
}
