// Two numbers are no scalar; one is.
// EXPECT: rondo::constant..1.0f, 2.0f
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
Tensor x = rondo::constant({1.0f, 2.0f});
Tensor one = {1.0f};
std::array<Tensor, 2> two = {1.0f, 2.0f};
#else
Tensor x = {1.0f, 2.0f};
#endif
