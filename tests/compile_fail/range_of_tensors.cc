// The bounds of a range decide a shape.
// EXPECT: use rondo::dynamic_slice.x, starts, sizes.
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
Tensor part(Tensor x, Tensor i) { return rondo::dynamic_slice(x, {i}, {3}); }
#else
Tensor part(Tensor x, Tensor i) { return rondo::slice(x, rondo::range(i, i + 3)); }
#endif
