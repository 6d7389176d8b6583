// A loop takes its functions before its init.
// EXPECT: functions come first, as in while_loop
// REFUSE: no matching function|has not been declared|does not take the state
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
Tensor end = rondo::fori_loop(
    0, 9, [](Tensor, Tensor x) { return x * 2; }, 1.0f);
#else
Tensor end = rondo::fori_loop(0, 9, Tensor(1.0f), [](Tensor, Tensor x) { return x * 2; });
#endif
