// EXPECT: a field of this struct is a reference.*tree_fields
#include "rondo/tensor.h"
#include "rondo/tree.h"

struct Tank {
  rondo::Tensor level;
#if defined(CONTROL)
  rondo::Tensor inlet;
#else
  const rondo::Tensor& inlet;
#endif
};

std::size_t count(const Tank& tank) { return rondo::leaf_count(tank); }
