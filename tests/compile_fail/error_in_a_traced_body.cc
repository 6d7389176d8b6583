// An error in a body is reported alone.
// SOMEWHERE: nothing_of_the_kind
// REFUSE: static.assert
#include <rondo/rondo.h>

#ifdef CONTROL
auto f = [](auto x) { return rondo::sin(x); };
auto result = rondo::jit(f)(1.0f);
#else
auto f = [](auto x) { return x.nothing_of_the_kind(); };
auto result = rondo::jit(f)(1.0f);
#endif
