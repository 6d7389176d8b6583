// combine takes two.
// EXPECT: combine of associative_scan takes two trees
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::associative_scan([](Tensor a, Tensor b) { return a + b; }, rondo::arange(3));
#else
auto result = rondo::associative_scan([](Tensor a) { return a; }, rondo::arange(3));
#endif
