// Sizes alone are no type.
// EXPECT: give the dtype with the sizes: rondo::random::normal
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::random::normal(rondo::random::key(0), rondo::f32({3}));
#else
auto result = rondo::random::normal(rondo::random::key(0), {3});
#endif
