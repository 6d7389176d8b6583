// The error names the type that is no tree.
// EXPECT: this type is not a tree of tensors: it is no Tensor
// EXPECT: basic_string
#include <string>
#include <vector>

#include "rondo/tensor.h"
#include "rondo/tree.h"

struct Tank {
  rondo::Tensor level;
#if defined(CONTROL)
  rondo::Tensor name;
#else
  std::string name;
#endif
};

std::size_t count(const std::vector<Tank>& tanks) { return rondo::leaf_count(tanks); }
