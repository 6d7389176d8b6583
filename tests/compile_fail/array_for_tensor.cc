// A C array is a pointer by then.
// EXPECT: rondo::constant.v.
#include <rondo/rondo.h>

#ifdef CONTROL
const float v[] = {1, 2};
rondo::Tensor x = rondo::exp(rondo::constant(v));
#else
const float v[] = {1, 2};
rondo::Tensor x = rondo::exp(v);
#endif
