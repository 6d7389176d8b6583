// A vector has no size that the type tells.
// EXPECT: what has no fixed size \(std::vector
#include <rondo/rondo.h>

#include <vector>

auto f = [](rondo::Tensor x) { return rondo::sum(x); };
#ifdef CONTROL
auto g = rondo::native<float(std::array<float, 3>)>(f);
#else
auto g = rondo::native<float(std::vector<float>)>(f);
#endif
