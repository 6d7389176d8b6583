// EXPECT: a C array is none; use std::array
#include <array>

#include "rondo/tensor.h"
#include "rondo/tree.h"

struct Tank {
#if defined(CONTROL)
  std::array<rondo::Tensor, 3> levels;
#else
  rondo::Tensor levels[3];
#endif
};

std::size_t count(const Tank& tank) { return rondo::leaf_count(tank); }
