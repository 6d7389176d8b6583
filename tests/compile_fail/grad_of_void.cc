// A traced function returns what it computes.
// EXPECT: this one returns nothing
#include <rondo/rondo.h>

#ifdef CONTROL
auto f = [](rondo::Tensor x) { return x * x; };
auto result = rondo::grad(f)(1.0f);
#else
auto f = [](rondo::Tensor x) { (void)(x * x); };
auto result = rondo::grad(f)(1.0f);
#endif
