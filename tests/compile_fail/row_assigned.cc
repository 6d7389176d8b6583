// A row is a separate value: assigning to it would change nothing.
// EXPECT: update.x, i, row.
#include <rondo/rondo.h>

#ifdef CONTROL
void set(rondo::Tensor& x, const rondo::Tensor& v) { x = rondo::update(x, 0, v); }
#else
void set(rondo::Tensor& x, const rondo::Tensor& v) { x[0] = v; }
#endif
