// Fields correspond in the order of their declaration.
// EXPECT: with their fields in the same order
#include <rondo/rondo.h>

struct Numbers {
  float x, y;
};
struct Point {
#ifdef CONTROL
  rondo::Tensor x, y;
#else
  rondo::Tensor y, x;
#endif
};

auto g = rondo::native<float(Numbers)>([](Point p) { return p.x / p.y; });
