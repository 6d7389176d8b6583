// The carry is taken, and one of the xs has no parameter.
// EXPECT: the function of a scan takes the carry but not the element of xs after it
// EXPECT: one for each element of tuple xs
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

const std::tuple<Tensor, Tensor> xs{rondo::arange(4), rondo::arange(4)};
#ifdef CONTROL
auto both = rondo::scan([](Tensor c, Tensor x, Tensor y) { return std::pair(c + x * y, x); },
                        Tensor(0), xs);
#else
auto both = rondo::scan([](Tensor c, Tensor x) { return std::pair(c + x, x); }, Tensor(0), xs);
#endif
