// While a function is traced its parameters have no value.
// EXPECT: a parameter of the function is a C.. number
#include <rondo/rondo.h>

#ifdef CONTROL
auto f = [](rondo::Tensor x) { return x * x; };
auto result = rondo::trace(f, rondo::f32());
#else
auto f = [](double x) { return x * x; };
auto result = rondo::trace(f, rondo::f32());
#endif
