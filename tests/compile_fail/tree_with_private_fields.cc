// EXPECT: not a tree of tensors.*tree_fields
#include <tuple>

#include "rondo/tensor.h"
#include "rondo/tree.h"

class Tank {
 public:
#if defined(CONTROL)
  friend auto tree_fields(Tank& tank) { return std::tie(tank.level_); }
#endif
  const rondo::Tensor& level() const { return level_; }

 private:
  rondo::Tensor level_;
};

std::size_t count(const Tank& tank) { return rondo::leaf_count(tank); }
