// A carry may be a vector of tensors, which is printed leaf by leaf.
// EXPECT: rondo::for_each_leaf
#include <rondo/rondo.h>

void show(const std::vector<rondo::Tensor>& carry) {
#ifdef CONTROL
  rondo::for_each_leaf(carry, [](const rondo::Tensor& t) { std::cout << t; });
#else
  std::cout << carry;
#endif
}
