// A function of two parameters is called with one argument.
// EXPECT: another number of arguments than it has
#include <rondo/rondo.h>

#ifdef CONTROL
auto f = [](rondo::Tensor x) { return x * x; };
auto result = rondo::vjp(f, 1.0f);
#else
auto f = [](rondo::Tensor x, rondo::Tensor y) { return x * y; };
auto result = rondo::vjp(f, 1.0f);
#endif
