// Lesson 10: the spectral norm of an infinite matrix, truncated to 100 rows, by the power method
// (Computer Language Benchmarks Game).
#include <cstdio>

#include "rondo/rondo.h"

using rondo::Tensor;

int main() {
  auto spectral_norm = [](int n) {
    return rondo::jit([n](Tensor start) {
      // a[i, j] = 1 / ((i + j) (i + j + 1) / 2 + i + 1)
      const Tensor i = rondo::iota(rondo::f64({n, n}), 0), j = rondo::iota(rondo::f64({n, n}), 1);
      const Tensor a = 1 / ((i + j) * (i + j + 1) / 2 + i + 1);
      auto both = [&](Tensor x) { return matmul(transpose(a), matmul(a, x)); };
      auto [u, v] = rondo::fori_loop(
          0, 10,
          [&](Tensor, Tensor u, Tensor) {
            const Tensor v = both(u);
            return std::tuple(both(v), v);
          },
          std::tuple(start, start));
      return sqrt(sum(u * v) / sum(v * v));
    });
  };
  std::printf("%.9f (the benchmark demands 1.274219991)\n",
              spectral_norm(100)(rondo::ones(rondo::f64({100}))).item<double>());
}
