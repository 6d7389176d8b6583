// A signature of one argument for a function of two.
// EXPECT: another number of arguments than it has parameters
#include <rondo/rondo.h>

auto f = [](rondo::Tensor x, rondo::Tensor y) { return x * y; };
#ifdef CONTROL
auto g = rondo::native<float(float, float)>(f);
#else
auto g = rondo::native<float(float)>(f);
#endif
