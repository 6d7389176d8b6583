// bwd of custom_vjp takes residuals first.
// EXPECT: bwd of custom_vjp takes the residuals and the cotangent
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

#ifdef CONTROL
auto result =
    rondo::custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return std::pair(x, x); },
                      [](Tensor, Tensor g) { return std::tuple(g); })(1.0f);
#else
auto result =
    rondo::custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return std::pair(x, x); },
                      [](Tensor g) { return std::tuple(g); })(1.0f);
#endif
