// A std::vector is a tree of scalars, no Tensor.
// EXPECT: rondo::constant.v. makes one Tensor
#include <rondo/rondo.h>

#include <vector>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::jit([](Tensor x) { return x; })(rondo::constant(std::vector<float>{1, 2}));
#else
auto result = rondo::jit([](Tensor x) { return x; })(std::vector<float>{1, 2});
#endif
