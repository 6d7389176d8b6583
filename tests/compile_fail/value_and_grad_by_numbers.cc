// EXPECT: rondo::value_and_grad<0, 2>.f
#include <rondo/rondo.h>

using rondo::Tensor;

const auto f = [](Tensor x, Tensor y) { return x * y; };
#ifdef CONTROL
auto result = rondo::value_and_grad<0, 1>(f)(1.0f, 2.0f);
#else
auto result = rondo::value_and_grad(f, {0, 1})(1.0f, 2.0f);
#endif
