// Arguments are counted from 0.
// EXPECT: an argument that the call does not have
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::grad<1>([](Tensor x, Tensor y) { return x * y; })(1.0f, 2.0f);
#else
auto result = rondo::grad<2>([](Tensor x, Tensor y) { return x * y; })(1.0f, 2.0f);
#endif
