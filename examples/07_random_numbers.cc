// Lesson 7: random numbers, as a loop over integers and with keys.
#include <iostream>

#include "rondo/rondo.h"

using rondo::DType;
using rondo::Tensor;

/// The state of std::mt19937 (Matsumoto and Nishimura 1998): 624 words.
Tensor seed_state(Tensor seed) {
  const Tensor first = update(rondo::zeros(rondo::u32({624})), 0, seed);
  return rondo::fori_loop(
      1, 624,
      [](Tensor i, Tensor state) {
        const Tensor before = state[i - 1];
        return update(state, i, 1812433253u * (before ^ (before >> 30u)) + convert(i, DType::kU32));
      },
      first);
}

Tensor twist(Tensor state) {
  return rondo::fori_loop(
      0, 624,
      [](Tensor i, Tensor s) {
        const Tensor y = (s[i] & 0x80000000u) | (s[(i + 1) % 624] & 0x7fffffffu);
        return update(s, i,
                      s[(i + 397) % 624] ^ (y >> 1u) ^ where((y & 1u) == 0u, 0u, 0x9908b0dfu));
      },
      state);
}

Tensor temper(Tensor y) {
  y = y ^ (y >> 11u);
  y = y ^ ((y << 7u) & 0x9d2c5680u);
  y = y ^ ((y << 15u) & 0xefc60000u);
  return y ^ (y >> 18u);
}

int main() {
  // Draw number n, counted from 1: as many twists as necessary, and one word tempered.
  auto draw = rondo::jit([](Tensor seed, Tensor n) {
    const Tensor state = rondo::fori_loop(
        0, (n + 623) / 624, [](Tensor, Tensor s) { return twist(s); }, seed_state(seed));
    return temper(state[(n - 1) % 624]);
  });
  std::cout << "mt19937, draw 1:     " << draw(5489u, 1).item<std::uint32_t>() << "\n";
  std::cout << "mt19937, draw 10000: " << draw(5489u, 10000).item<std::uint32_t>()
            << " (the standard demands 4123659995)\n";

  // Keys: the same key gives the same numbers, on every machine; they are JAX's bits. Split a key
  // to draw again.
  const Tensor key = rondo::random::key(0);
  std::cout << "uniform: " << rondo::random::uniform(key, rondo::f32({4})) << "\n";
  std::cout << "split:   " << rondo::random::split(key, 2) << "\n";

  // Monte Carlo: 64 batches of 4096 points, with a key each.
  auto estimate = rondo::jit([](Tensor key) {
    const Tensor inside = rondo::map(
        [](Tensor key) {
          const Tensor points = rondo::random::uniform(key, rondo::f32({4096, 2}));
          return sum(convert(sum(points * points, {1}) < 1, DType::kS32));
        },
        rondo::random::split(key, 64));
    return 4.0f * convert(sum(inside), DType::kF32) / (64.0f * 4096.0f);
  });
  std::cout << "pi is about " << estimate(rondo::random::key(1)).item<float>() << "\n";
}
