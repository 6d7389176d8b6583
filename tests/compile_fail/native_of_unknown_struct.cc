// A generic lambda does not tell which struct of Tensors corresponds to a struct of numbers.
// EXPECT: does not say which struct of Tensors it means
#include <rondo/rondo.h>

struct Numbers {
  float x, y;
};
struct Point {
  rondo::Tensor x, y;
};

#ifdef CONTROL
auto f = [](Point p) { return p.x + p.y; };
#else
auto f = [](auto p) { return p.x + p.y; };
#endif
auto g = rondo::native<float(Numbers)>(f);
