#include <rondo/rondo.h>

#include <cstdint>
#include <iostream>
#include <tuple>

using rondo::Tensor;

// The length of the Collatz sequence that starts at n.
std::int32_t steps(std::int64_t n) {
  std::int32_t count = 0;
  for (; n != 1; ++count) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
  return count;
}

int main() {
  auto traced = rondo::jit([](Tensor start) {
    auto [n, count] = rondo::while_loop(
        [](Tensor n, Tensor) { return rondo::ne(n, 1); },
        [](Tensor n, Tensor count) {
          return std::tuple{rondo::where(rondo::eq(n % 2, 0), n / 2, 3 * n + 1), count + 1};
        },
        std::tuple<Tensor, Tensor>{start, 0});
    return count;
  });
  std::int32_t count = traced(std::int64_t{27}).item<std::int32_t>();
  bool fine = count == steps(27);

  // An error thrown inside the shared library has to be caught by its type outside.
  bool caught = false;
  try {
    rondo::trace([](Tensor x) { return x + rondo::zeros(rondo::f32({3})); }, rondo::f32({2}));
  } catch (const rondo::TraceError& error) {
    caught = true;
  }
  std::cout << count << " steps" << (fine && caught ? ", fine\n" : ", wrong\n");
  return fine && caught ? 0 : 1;
}
