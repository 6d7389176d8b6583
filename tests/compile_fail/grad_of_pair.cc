// grad is of one scalar; the rest has vjp and jacrev.
// EXPECT: the function of grad must return one tensor
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::grad([](Tensor x) { return x * x; })(1.0f);
#else
auto result = rondo::grad([](Tensor x) { return std::pair(x, x); })(1.0f);
#endif
