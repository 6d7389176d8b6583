// What is written goes with the literal, which has no name.
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
