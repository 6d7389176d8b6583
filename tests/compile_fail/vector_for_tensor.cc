// A std::vector of numbers is no tensor yet.
// EXPECT: rondo::constant.v.
#include <rondo/rondo.h>

#include <vector>

#ifdef CONTROL
rondo::Tensor f(const std::vector<float>& v) { return rondo::sin(rondo::constant(v)); }
#else
rondo::Tensor f(const std::vector<float>& v) { return rondo::sin(v); }
#endif
