// The function of a scan returns the carry and a y.
// EXPECT: returns .*std::pair.carry, y.|std::pair
#include <rondo/rondo.h>

#include <utility>

#ifdef CONTROL
auto both = rondo::scan([](rondo::Tensor c, rondo::Tensor x) { return std::pair(c + x, x); },
                        rondo::Tensor(0), rondo::arange(4));
#else
auto both = rondo::scan([](rondo::Tensor c, rondo::Tensor x) { return c + x; }, rondo::Tensor(0),
                        rondo::arange(4));
#endif
