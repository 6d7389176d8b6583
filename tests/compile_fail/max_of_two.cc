// max reduces over axes; maximum takes two.
// EXPECT: the greater of two is maximum.x, y.
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::maximum(Tensor(1.0f), 0);
#else
auto result = rondo::max(Tensor(1.0f), 0);
#endif
