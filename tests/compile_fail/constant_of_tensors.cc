// A constant is made of C++ numbers.
// EXPECT: rondo::stack.{a, b}, 0.
#include <rondo/rondo.h>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::stack({Tensor(1), Tensor(2)}, 0);
#else
auto result = rondo::constant({Tensor(1), Tensor(2)});
#endif
