// EXPECT: the function of map does not take an element of xs
#include <rondo/rondo.h>

#include <tuple>

using rondo::Tensor;

const std::tuple<Tensor, Tensor> xs{rondo::arange(4), rondo::arange(4)};
#ifdef CONTROL
auto sums = rondo::map([](Tensor x, Tensor y) { return x + y; }, xs);
#else
auto sums = rondo::map([](Tensor x, Tensor y, Tensor z) { return x + y + z; }, xs);
#endif
