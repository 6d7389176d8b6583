// A traced value is none yet.
// EXPECT: item<float>
#include <rondo/rondo.h>

double value(rondo::Tensor x) {
#ifdef CONTROL
  return x.item<double>();
#else
  return static_cast<double>(x);
#endif
}
