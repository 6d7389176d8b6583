// All branches return the same tree.
// EXPECT: all branches must return the same tree
#include <rondo/rondo.h>

#include <utility>

#ifdef CONTROL
auto both = rondo::cond(
    rondo::Tensor(true), [] { return rondo::Tensor(1); }, [] { return rondo::Tensor(2); });
#else
auto both = rondo::cond(
    rondo::Tensor(true), [] { return rondo::Tensor(1); },
    [] { return std::pair(rondo::Tensor(1), rondo::Tensor(2)); });
#endif
