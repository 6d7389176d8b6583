// A comparator says which goes first.
// EXPECT: the comparator of sort_by takes two values
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::sort_by(rondo::arange(3), 0, [](Tensor a, Tensor b) { return a > b; });
#else
auto result = rondo::sort_by(rondo::arange(3), 0, [](Tensor a) { return a; });
#endif
