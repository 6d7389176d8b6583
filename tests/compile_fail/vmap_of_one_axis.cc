// An axis belongs to one argument; the axes in braces are taken as JAX takes them.
// EXPECT: rondo::vmap.f, .0, std::nullopt
#include <rondo/rondo.h>

using rondo::Tensor;

const auto f = [](Tensor x, Tensor y) { return x * y; };
#ifdef CONTROL
auto result = rondo::vmap(f, {0, std::nullopt})(rondo::ones(rondo::f32({2})), 2.0f);
#else
auto result = rondo::vmap(f, 0)(rondo::ones(rondo::f32({2})), 2.0f);
#endif
