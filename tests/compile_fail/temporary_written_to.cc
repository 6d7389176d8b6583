// The written values are lost with the literal, which is a temporary.
// EXPECT: name it first
#include <rondo/rondo.h>

void fill(rondo::Tensor x) {
#ifdef CONTROL
  rondo::Literal y = x.eval();
  y.mutable_data<float>()[0] = 1;
#else
  x.eval().mutable_data<float>()[0] = 1;
#endif
}
