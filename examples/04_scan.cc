// Lesson 4: scan, a loop over the rows of arrays that stacks the results of the trips.
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Sample {
  Tensor price, volume;
};

int main() {
  // f(carry, x) returns the next carry and a y; the ys are returned stacked.
  auto [total, sums] =
      rondo::scan([](Tensor sum, Tensor x) { return std::pair(sum + x, sum + x); },
                  rondo::zeros(rondo::s32({2})), rondo::constant({{1, 2}, {3, 4}, {5, 6}}));
  std::cout << "cumulative sum: " << total << " " << sums << "\n";

  // The running mean of 1..5: the carry is a tuple.
  auto [state, means] = rondo::scan(
      [](Tensor sum, Tensor count, Tensor x) {
        const Tensor s = sum + x, n = count + 1;
        return std::pair(std::tuple(s, n), s / n);
      },
      std::tuple(0.0f, 0.0f), rondo::constant({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}));
  std::cout << "means: " << means << "\n";

  // xs and ys may be structs. In reverse, ys[i] still belongs to xs[i].
  const Sample day{rondo::constant({10.0f, 11.0f, 9.0f}), rondo::constant({100.0f, 50.0f, 200.0f})};
  auto [value, left] = rondo::scan(
      [](Tensor value, Sample s) {
        const Tensor next = value + s.price * s.volume;
        return std::pair(next, next);
      },
      0.0f, day, {.reverse = true});
  std::cout << "traded from here to the close: " << left << "\n";

  // Without xs the length is required; an empty tuple as y means no ys.
  auto [doubled, none] = rondo::scan([](Tensor x) { return std::pair(x * 2, std::tuple<>()); }, 1,
                                     std::tuple<>(), {.length = 20});
  std::cout << "2^20 = " << doubled.item<int>() << "\n";

  // map is a scan without a carry; associative_scan takes logarithmic depth; while_scan can stop
  // early.
  std::cout << "norms: "
            << rondo::map([](Tensor row) { return sqrt(sum(row * row)); },
                          rondo::constant({{3.0f, 4.0f}, {5.0f, 12.0f}}))
            << "\n";
  std::cout << "products: "
            << rondo::associative_scan([](Tensor a, Tensor b) { return a * b; },
                                       rondo::arange(6) + 1)
            << "\n";
  auto collatz =
      rondo::while_scan([](Tensor n) { return n != 1; },
                        [](Tensor n) { return std::pair(where(n % 2 == 0, n / 2, 3 * n + 1), n); },
                        6, {.max_trip_count = 12});
  std::cout << "Collatz from 6: " << collatz.ys << " in " << collatz.count.item<int>()
            << " steps\n";
}
