// A native function writes into none of its arguments.
// EXPECT: takes its arguments by value or by const reference
#include <rondo/rondo.h>

auto f = [](rondo::Tensor x) { return x * 2; };
#ifdef CONTROL
auto g = rondo::native<float(const float&)>(f);
#else
auto g = rondo::native<float(float&)>(f);
#endif
