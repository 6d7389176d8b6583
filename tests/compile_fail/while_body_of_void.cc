// The body of a loop returns the next state.
// EXPECT: this one returns nothing
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor end = rondo::while_loop([](rondo::Tensor x) { return x < 9; },
                                      [](rondo::Tensor x) { return x * 2; }, 1.0f);
#else
rondo::Tensor end = rondo::while_loop([](rondo::Tensor x) { return x < 9; },
                                      [](rondo::Tensor x) { x = x * 2; }, 1.0f);
#endif
