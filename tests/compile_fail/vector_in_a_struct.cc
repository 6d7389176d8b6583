// Nor as a field.
// EXPECT: rondo::constant.v.
#include <rondo/rondo.h>

#include <vector>

struct Filter {
  rondo::Tensor taps;
};

#ifdef CONTROL
Filter make(const std::vector<float>& v) { return Filter{rondo::constant(v)}; }
#else
Filter make(const std::vector<float>& v) { return Filter{v}; }
#endif
