// native has to know the types of the arguments.
// EXPECT: rondo::native<float\(float, float\)>\(f\)
#include <rondo/rondo.h>

auto f = [](rondo::Tensor x) { return x * 2; };
#ifdef CONTROL
auto g = rondo::native<float(float)>(f);
#else
auto g = rondo::native<float>(f);
#endif
