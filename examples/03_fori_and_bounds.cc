// Lesson 3: fori_loop, and bounds that are known only at run time.
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

int main() {
  // C++ bounds: the trip count is known, and is in the HLO as a hint.
  auto factorial10 = [](Tensor one) {
    return rondo::fori_loop(
        1, 11, [](Tensor i, Tensor x) { return x * i; }, one);
  };
  std::cout << "10! = " << rondo::jit(factorial10)(1).item<int>() << "\n";

  // Bounds may be tensors, including captured ones.
  auto power = rondo::jit([](Tensor x, Tensor n) {
    return rondo::fori_loop(
        0, n, [&](Tensor, Tensor y) { return y * x; }, 1.0f);
  });
  std::cout << "2^10 = " << power(2.0f, 10).item<float>()
            << ", 3^0 = " << power(3.0f, 0).item<float>() << "\n";

  // A tuple state is taken whole or spread after the index. Options: a step, reverse order, several
  // bodies per trip.
  auto [a, b] = rondo::fori_loop(
      0, 10, [](Tensor, Tensor a, Tensor b) { return std::tuple(b, a + b); }, std::tuple(0, 1));
  std::cout << "Fibonacci: " << a.item<int>() << ", " << b.item<int>() << "\n";

  auto visit = [](rondo::ForiOptions options) {
    return rondo::fori_loop(
        1, 10, [](Tensor i, Tensor digits) { return digits * 10 + i; }, 0, options);
  };
  std::cout << "forward by 3:  " << visit({.step = 3}).item<int>() << "\n";
  std::cout << "backward by 3: " << visit({.step = 3, .reverse = true}).item<int>() << "\n";
  std::cout << "unrolled by 2: " << visit({.step = 3, .unroll = 2}).item<int>() << "\n";

  // Rows can be written one by one: in place, so n rows cost O(n).
  const Tensor squares = rondo::fori_loop(
      0, 8, [](Tensor i, Tensor rows) { return update(rows, i, i * i); },
      rondo::zeros(rondo::s32({8})));
  std::cout << "squares: " << squares << "\n";
}
