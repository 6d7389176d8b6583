// The literal is destroyed after the line, with the memory that the pointer refers to.
// EXPECT: name .*first
#include <rondo/rondo.h>

float first(rondo::Tensor x) {
#ifdef CONTROL
  const rondo::Literal y = x.eval();
  const float* values = y.data<float>().data();
#else
  const float* values = x.eval().data<float>().data();
#endif
  return values[0];
}
