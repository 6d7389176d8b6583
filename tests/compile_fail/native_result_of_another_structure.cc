// What is returned has the structure of the signature's result.
// EXPECT: what the function returns has another structure than the result of the signature
#include <rondo/rondo.h>

#include <tuple>

#ifdef CONTROL
auto f = [](rondo::Tensor x) { return std::tuple(x, x); };
#else
auto f = [](rondo::Tensor x) { return std::tuple(x, x, x); };
#endif
auto g = rondo::native<std::tuple<float, float>(float)>(f);
