// EXPECT: this function does not take the state
#include <tuple>

#include "rondo/call_with.h"

int call() {
#if defined(CONTROL)
  auto f = [](int a, int b) { return a + b; };
#else
  auto f = [](int a, int b, int c) { return a + b + c; };
#endif
  return rondo::call_with(f, std::tuple(1, 2));
}
