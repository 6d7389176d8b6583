// The generators, on host integers, and the record of the one for random numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ops/support.h"

namespace rondo::ops {

/// Operands: key words k0, k1 and counter words x0, x1, each u32, a scalar or of the result's
/// shape. Two results of that shape.
extern const ir::OpDef kThreefry2x32;

inline constexpr std::uint32_t kThreefryParity = 0x1BD11BDA;
inline constexpr std::array<int, 8> kThreefryRotations{13, 15, 26, 6, 17, 29, 16, 24};

/// Threefry-2x32 with 20 rounds: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// 2011.
inline void threefry2x32(std::uint32_t k0, std::uint32_t k1, std::uint32_t& x0, std::uint32_t& x1) {
  const std::uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ kThreefryParity};
  x0 += keys[0];
  x1 += keys[1];
  for (std::uint32_t group = 1; group <= 5; group++) {
    for (std::uint32_t round = 0; round < 4; round++) {
      x0 += x1;
      x1 = std::rotl(x1, kThreefryRotations[(group - 1) % 2 * 4 + round]) ^ x0;
    }
    x0 += keys[group % 3];
    x1 += keys[(group + 1) % 3] + group;
  }
}

/// Philox-4x32 with 10 rounds, from the same paper.
inline std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 2> key,
                                               std::array<std::uint32_t, 4> counter) {
  for (int round = 0; round < 10; round++) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0],
                        b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace rondo::ops
