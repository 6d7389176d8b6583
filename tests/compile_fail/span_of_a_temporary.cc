// The literal is destroyed after the line, with the memory of the span.
// EXPECT: name the literal first
#include <rondo/rondo.h>

float first(rondo::Tensor x) {
#ifdef CONTROL
  const auto elements = x.eval().data<float>();
  const std::span<const float> span = elements;
#else
  const std::span<const float> span = x.eval().data<float>();
#endif
  return span[0];
}
