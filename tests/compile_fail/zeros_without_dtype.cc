// Sizes alone are no type.
// EXPECT: give the dtype with the sizes: rondo::zeros
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::zeros(rondo::f32({2, 3}));
#else
auto result = rondo::zeros({2, 3});
#endif
