// The xs of a scan are arrays.
// EXPECT: rondo::constant.v. makes one Tensor
#include <rondo/rondo.h>

#include <vector>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::scan([](Tensor c, Tensor x) { return std::pair(c + x, x); }, 0.0f,
                          rondo::constant(std::vector<float>{1, 2}));
#else
auto result = rondo::scan([](Tensor c, Tensor x) { return std::pair(c + x, x); }, 0.0f,
                          std::vector<float>{1, 2});
#endif
