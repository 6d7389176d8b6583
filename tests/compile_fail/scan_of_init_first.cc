// A scan takes its function first.
// EXPECT: functions come first, as in while_loop
// REFUSE: no matching function|has not been declared|does not take the state
#include <rondo/rondo.h>

#include <utility>

using rondo::Tensor;

auto add = [](Tensor c, Tensor x) { return std::pair(c + x, x); };
#ifdef CONTROL
auto both = rondo::scan(add, Tensor(0), rondo::arange(4));
#else
auto both = rondo::scan(Tensor(0), rondo::arange(4), add);
#endif
