// The condition takes the state.
// EXPECT: the condition does not take the state
#include <rondo/rondo.h>

#ifdef CONTROL
rondo::Tensor end = rondo::while_loop([](rondo::Tensor x) { return x < 9; },
                                      [](rondo::Tensor x) { return x * 2; }, 1.0f);
#else
rondo::Tensor end = rondo::while_loop([](rondo::Tensor x, rondo::Tensor y) { return x < y; },
                                      [](rondo::Tensor x) { return x * 2; }, 1.0f);
#endif
