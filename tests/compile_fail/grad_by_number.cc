// JAX's argnums is a template argument here.
// EXPECT: rondo::grad<1>.f
#include <rondo/rondo.h>

using rondo::Tensor;

const auto f = [](Tensor x, Tensor y) { return x * y; };
#ifdef CONTROL
auto result = rondo::grad<1>(f)(1.0f, 2.0f);
#else
auto result = rondo::grad(f, 1)(1.0f, 2.0f);
#endif
