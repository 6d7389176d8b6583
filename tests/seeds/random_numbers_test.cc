// std::mt19937 in u32 tensors, against the standard library's.
#include <random>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::expect_values;

using Values = std::vector<Literal>;

constexpr int kWords = 624;

/// The 624 words of a seeded state, as the y of a scan (Matsumoto and Nishimura 1998, with the
/// initialisation of 2002).
Tensor seeded(Tensor seed) {
  return scan(
             [](Tensor word, Tensor i) {
               const Tensor next = where(i == 0u, word, 1812433253u * (word ^ (word >> 30)) + i);
               return std::pair(next, next);
             },
             seed, arange(kWords, DType::kU32))
      .second;
}

Tensor tempered(Tensor y) {
  y = y ^ (y >> 11);
  y = y ^ ((y << 7) & 0x9d2c5680u);
  y = y ^ ((y << 15) & 0xefc60000u);
  return y ^ (y >> 18);
}

/// The first `n` draws: each trip renews one word of the state and returns it.
auto draws(std::int64_t n) {
  return [n](Tensor seed) {
    auto step = [](Tensor state, Tensor i) {
      const Tensor here = i % kWords;
      const Tensor y = (state[here] & 0x80000000u) | (state[(i + 1) % kWords] & 0x7fffffffu);
      const Tensor next = state[(i + 397) % kWords] ^ (y >> 1) ^ ((y & 1u) * 0x9908b0dfu);
      return std::pair(update(state, here, next), tempered(next));
    };
    return scan(step, seeded(seed), arange(n)).second;
  };
}

TEST(SeedMt19937, Draw10000) {
  auto last = [](Tensor seed) { return draws(10000)(seed)[-1]; };
  each_way(
      Eager::kNo, [](const Values& v) { expect_values<std::uint32_t>(v.at(0), {}, {4123659995u}); },
      last, 5489u);
}

TEST(SeedMt19937, EveryDrawOfOtherSeeds) {
  for (const std::uint32_t seed : {0u, 1u, 20241u, 0xffffffffu}) {
    SCOPED_TRACE(seed);
    std::mt19937 plain(seed);
    std::vector<std::uint32_t> want(1500);
    for (std::uint32_t& x : want) x = static_cast<std::uint32_t>(plain());
    expect_values<std::uint32_t>(jit(draws(1500))(seed), {1500}, want);
  }
}

TEST(SeedMt19937, FirstDrawsInEveryWay) {
  std::mt19937 plain;
  std::vector<std::uint32_t> want(3);
  for (std::uint32_t& x : want) x = static_cast<std::uint32_t>(plain());
  each_way(
      Eager::kYes, [&](const Values& v) { expect_values<std::uint32_t>(v.at(0), {3}, want); },
      draws(3), 5489u);
}

}  // namespace
}  // namespace rondo
