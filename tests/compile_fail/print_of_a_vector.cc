// EXPECT: rondo::map_leaves
#include <rondo/rondo.h>

using Carry = std::vector<rondo::Tensor>;

Carry shown(const Carry& carry) {
#ifdef CONTROL
  return rondo::map_leaves([](rondo::Tensor t) { return rondo::print(t, "{}"); }, carry);
#else
  return {rondo::print(carry, "{}")};
#endif
}
