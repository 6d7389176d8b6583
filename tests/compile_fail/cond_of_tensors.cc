// cond takes functions.
// EXPECT: cond takes two functions.*for tensors use.*where|cond takes two functions
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor magnitude(const rondo::Tensor& x) { return rondo::where(x > 0, x, -x); }
#else
rondo::Tensor magnitude(const rondo::Tensor& x) { return rondo::cond(x > 0, x, -x); }
#endif
