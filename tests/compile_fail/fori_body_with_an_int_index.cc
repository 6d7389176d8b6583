// The index of a fori_loop is a Tensor.
// EXPECT: a parameter of a loop.s lambda is a C.. number
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor end = rondo::fori_loop(
    0, 9, [](rondo::Tensor, rondo::Tensor x) { return x * 2; }, 1.0f);
#else
rondo::Tensor end = rondo::fori_loop(
    0, 9, [](int, rondo::Tensor x) { return x * 2; }, 1.0f);
#endif
