// bwd of custom_vjp takes residuals first.
// EXPECT: bwd of custom_vjp takes the residuals and the cotangent
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

#ifdef CONTROL
auto bwd = [](Tensor, Tensor g) { return std::tuple(g); };
#else
auto bwd = [](Tensor g) { return std::tuple(g); };
#endif
auto result = rondo::custom_vjp([](Tensor x) { return x; },
                                [](Tensor x) { return std::pair(x, x); }, bwd)(1.0f);
