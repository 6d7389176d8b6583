// EXPECT: this struct has a base class.*tree_fields
#include <tuple>

#include "rondo/tensor.h"
#include "rondo/tree.h"

struct Vessel {
  rondo::Tensor mass;
};
struct Tank : Vessel {
  rondo::Tensor level;
};
#if defined(CONTROL)
auto tree_fields(Tank& tank) { return std::tie(tank.mass, tank.level); }
#endif

std::size_t count(const Tank& tank) { return rondo::leaf_count(tank); }
