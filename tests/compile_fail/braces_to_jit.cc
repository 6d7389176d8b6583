// Braces have no type.
// EXPECT: braces alone are no argument
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::jit([](Tensor x) { return x; })(rondo::constant({1.0f, 2.0f}));
#else
auto result = rondo::jit([](Tensor x) { return x; })({1.0f, 2.0f});
#endif
