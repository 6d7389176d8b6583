// fwd of custom_vjp says what bwd needs.
// EXPECT: returns std::pair.result, residuals.
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

#ifdef CONTROL
auto fwd = [](Tensor x) { return std::pair(x, x); };
#else
auto fwd = [](Tensor x) { return x; };
#endif
auto bwd = [](Tensor, Tensor g) { return std::tuple(g); };
auto result = rondo::custom_vjp([](Tensor x) { return x; }, fwd, bwd)(1.0f);
