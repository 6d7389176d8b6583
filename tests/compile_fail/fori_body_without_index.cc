// The body of a fori_loop takes the index and the state.
// EXPECT: the body does not take the state
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor end = rondo::fori_loop(
    0, 9, [](rondo::Tensor, rondo::Tensor x) { return x * 2; }, 1.0f);
#else
rondo::Tensor end = rondo::fori_loop(
    0, 9, [](rondo::Tensor x) { return x * 2; }, 1.0f);
#endif
