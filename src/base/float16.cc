// Conversions of the 16-bit float types.
#include <bit>
#include <cstdint>

#include "rondo/dtype.h"

namespace rondo {
namespace {

/// Rounds the bits of a binary float (sign, exponent of bias kBias, kFraction bits) to the nearest
/// number of a 16-bit format, ties to even (IEEE 754 section 4.3.1). Each bias is half the largest
/// exponent field, rounded down.
template <class Bits, int kFraction, int kBias, int kToFraction, int kToBias>
std::uint16_t round_to_16_bits(Bits bits) noexcept {
  constexpr int kWidth = static_cast<int>(sizeof(Bits)) * 8;
  constexpr Bits kInfinity = Bits{2 * kBias + 1} << kFraction;
  constexpr unsigned kToInfinity = (2u * kToBias + 1u) << kToFraction;
  constexpr unsigned kToQuiet = 1u << (kToFraction - 1);
  constexpr int kDropped = kFraction - kToFraction;

  const unsigned sign = static_cast<unsigned>(bits >> (kWidth - 16)) & 0x8000u;
  const Bits magnitude = bits & (~Bits{0} >> 1);
  if (magnitude >= kInfinity) {
    const unsigned payload = static_cast<unsigned>((magnitude - kInfinity) >> kDropped);
    const unsigned nan = magnitude == kInfinity ? 0 : payload | kToQuiet;
    return static_cast<std::uint16_t>(sign | kToInfinity | nan);
  }

  const int exponent = static_cast<int>(magnitude >> kFraction) - kBias;
  if (exponent > kToBias) return static_cast<std::uint16_t>(sign | kToInfinity);
  Bits significand;
  int shift = kDropped;
  if (exponent > -kToBias) {
    // Exponent and fraction are rounded as one number: a carry out of the fraction gives the next
    // exponent, or infinity.
    significand = magnitude - (Bits{kBias - kToBias} << kFraction);
  } else {
    // The result counts units of the smallest subnormal; a carry gives the smallest normal number.
    const bool subnormal = exponent == -kBias;
    significand = (magnitude & ((Bits{1} << kFraction) - 1)) | (Bits{!subnormal} << kFraction);
    shift += 1 - kToBias - (subnormal ? 1 - kBias : exponent);
    if (shift > kFraction + 1) return static_cast<std::uint16_t>(sign);
  }
  const Bits below_half = (Bits{1} << (shift - 1)) - 1;
  const Bits odd = (significand >> shift) & 1;
  return static_cast<std::uint16_t>(
      sign | static_cast<unsigned>((significand + below_half + odd) >> shift));
}

}  // namespace

float16::float16(float value) noexcept
    : bits(round_to_16_bits<std::uint32_t, 23, 127, 10, 15>(std::bit_cast<std::uint32_t>(value))) {}
float16::float16(double value) noexcept
    : bits(round_to_16_bits<std::uint64_t, 52, 1023, 10, 15>(std::bit_cast<std::uint64_t>(value))) {
}
bfloat16::bfloat16(float value) noexcept
    : bits(round_to_16_bits<std::uint32_t, 23, 127, 7, 127>(std::bit_cast<std::uint32_t>(value))) {}
bfloat16::bfloat16(double value) noexcept
    : bits(round_to_16_bits<std::uint64_t, 52, 1023, 7, 127>(std::bit_cast<std::uint64_t>(value))) {
}

float16::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  std::uint32_t wide;
  if (magnitude >= 0x7c00) {
    wide = 0x7f800000u | (magnitude & 0x3ffu) << 13;
  } else if (magnitude >= 0x0400) {
    wide = (magnitude << 13) + ((127u - 15u) << 23);
  } else {
    wide = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);  // exact
  }
  return std::bit_cast<float>(sign | wide);
}

}  // namespace rondo
