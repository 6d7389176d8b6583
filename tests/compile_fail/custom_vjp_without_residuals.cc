// fwd of custom_vjp says what bwd needs.
// EXPECT: returns std::pair.result, residuals.
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

#ifdef CONTROL
auto result =
    rondo::custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return std::pair(x, x); },
                      [](Tensor, Tensor g) { return std::tuple(g); })(1.0f);
#else
auto result = rondo::custom_vjp([](Tensor x) { return x; }, [](Tensor x) { return x; },
                                [](Tensor g) { return std::tuple(g); })(1.0f);
#endif
