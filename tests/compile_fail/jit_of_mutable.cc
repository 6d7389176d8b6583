// What is called through a const reference cannot change.
// EXPECT: it may not be a mutable lambda|not be a
#include <rondo/rondo.h>

#ifdef CONTROL
int calls = 0;
auto f = [n = calls](rondo::Tensor x) { return x * n; };
auto result = rondo::jit(f)(1.0f);
#else
int calls = 0;
auto f = [n = calls](rondo::Tensor x) mutable { return x * n++; };
auto result = rondo::jit(f)(1.0f);
#endif
