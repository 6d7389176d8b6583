// A generic lambda of two parameters is called with one argument.
// EXPECT: does not take these arguments
#include <rondo/rondo.h>

#ifdef CONTROL
auto f = [](auto x) { return x * x; };
auto result = rondo::jit(f)(1.0f);
#else
auto f = [](auto x, auto y) { return x * y; };
auto result = rondo::jit(f)(1.0f);
#endif
