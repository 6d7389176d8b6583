// Sizes alone are no type.
// EXPECT: give the dtype with the sizes: rondo::ones
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::ones(rondo::f32({3}));
#else
auto result = rondo::ones(3);
#endif
