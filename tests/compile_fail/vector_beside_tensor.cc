// Nor beside an operator.
// EXPECT: rondo::constant.v.
#include <rondo/rondo.h>

#include <vector>

#ifdef CONTROL
rondo::Tensor f(rondo::Tensor x, const std::vector<float>& v) { return x * rondo::constant(v); }
#else
rondo::Tensor f(rondo::Tensor x, const std::vector<float>& v) { return x * v; }
#endif
