// The function of a scan takes the carry and an element.
// EXPECT: the function of a scan takes the carry but not the element of xs
#include <rondo/rondo.h>

#include <utility>

#ifdef CONTROL
auto both = rondo::scan([](rondo::Tensor c, rondo::Tensor x) { return std::pair(c + x, x); },
                        rondo::Tensor(0), rondo::arange(4));
#else
auto both = rondo::scan([](rondo::Tensor c) { return std::pair(c, c); }, rondo::Tensor(0),
                        rondo::arange(4));
#endif
