// The branches of a switch_case are in one tuple; operands follow.
// EXPECT: one std::tuple or std::vector
#include <rondo/rondo.h>

#include <tuple>

rondo::Tensor choose(rondo::Tensor i, rondo::Tensor x) {
  const auto same = [&] { return x; };
  const auto twice = [&] { return x * 2; };
#ifdef CONTROL
  return rondo::switch_case(i, std::tuple(same, twice));
#else
  return rondo::switch_case(i, same, twice);
#endif
}
