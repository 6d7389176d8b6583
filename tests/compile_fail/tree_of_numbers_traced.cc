// A struct keeps the types of its fields, so it cannot carry tensors in place of numbers.
// EXPECT: a struct carried by a loop or passed through a transform must have Tensor fields
#include <utility>

#include "rondo/tensor.h"
#include "rondo/tree.h"

struct Point {
#if defined(CONTROL)
  rondo::Tensor x, y;
#else
  double x, y;
#endif
};

using Traced = rondo::traced_t<std::pair<Point, int>>;
Traced traced;
