// The function of a scan takes the carry and an element.
// EXPECT: the body does not take the state
#include <rondo/rondo.h>

#include <utility>

#ifdef CONTROL
auto both = rondo::scan([](rondo::Tensor c, rondo::Tensor x) { return std::pair(c + x, x); },
                        rondo::Tensor(0), rondo::arange(4));
#else
auto both = rondo::scan([](rondo::Tensor c) { return std::pair(c, c); }, rondo::Tensor(0),
                        rondo::arange(4));
#endif
