// An error in the body of a loop is reported alone.
// SOMEWHERE: nothing_of_the_kind
// REFUSE: static.assert
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor end = rondo::fori_loop(
    0, 3, [](auto, auto x) { return x * 2; }, 1.0f);
#else
rondo::Tensor end = rondo::fori_loop(
    0, 3, [](auto, auto x) { return x.nothing_of_the_kind(); }, 1.0f);
#endif
