// The same for compound assignment.
// EXPECT: update.x, i, row.
#include <rondo/rondo.h>

#ifdef CONTROL
void add(rondo::Tensor& x, const rondo::Tensor& v) { x = rondo::update(x, 0, x[0] + v); }
#else
void add(rondo::Tensor& x, const rondo::Tensor& v) { x[0] += v; }
#endif
