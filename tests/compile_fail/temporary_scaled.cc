// The same for compound assignment by a scalar.
// EXPECT: changes a copy only
#include <rondo/rondo.h>

#ifdef CONTROL
void scale(rondo::Tensor& x) { x *= 2; }
#else
void scale(const rondo::Tensor& x) { rondo::sin(x) *= 2; }
#endif
