// The rule of custom_jvp takes two tuples.
// EXPECT: takes two tuples, the primals and the tangents
#include <rondo/rondo.h>

#include <tuple>
#include <utility>

using rondo::Tensor;

#ifdef CONTROL
auto result = rondo::custom_jvp(
    [](Tensor x) { return x; },
    [](auto p, auto t) { return std::pair(std::get<0>(p), std::get<0>(t)); })(1.0f);
#else
auto result = rondo::custom_jvp([](Tensor x) { return x; },
                                [](Tensor p, Tensor t) { return std::pair(p, t); })(1.0f);
#endif
