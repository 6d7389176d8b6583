// A generic lambda does not tell which struct of Tensors corresponds to a struct of numbers.
// EXPECT: give its parameter that type
#include <rondo/rondo.h>

struct Numbers {
  float x, y;
};
struct Point {
  rondo::Tensor x, y;
};

#ifdef CONTROL
auto f = [](Point p) { return p.x + p.y; };
auto result = rondo::jit(f)(Numbers{1, 2});
#else
auto f = [](auto p) { return p.x + p.y; };
auto result = rondo::jit(f)(Numbers{1, 2});
#endif
