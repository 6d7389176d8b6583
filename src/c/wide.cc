#include "c/wide.h"

#include <algorithm>

#include "lower/opcodes.h"

namespace rondo::c {

using lower::Op;
using lower::Opcode;
using lower::Type;

// IEEE 754: the sign, 11 bits of exponent, 52 of a number in [1, 2) without its first. Results are
// rounded to the nearest, ties to even; a NaN is quiet.
const WideHelper kWideHelpers[5] = {
    {"f64_from_f32", R"(/* A double as its bits: sums of floats are kept in them. */
static uint64_t f64_from_f32(float x) {
  const uint32_t bits = bits_of_f32(x);
  const uint64_t sign = (uint64_t)(bits >> 31) << 63;
  uint32_t exponent = bits >> 23 & 0xffu;
  uint32_t fraction = bits & 0x7fffffu;
  if (exponent == 0xffu) {
    if (fraction != 0) fraction |= 0x400000u;
    return sign | (uint64_t)0x7ffu << 52 | (uint64_t)fraction << 29;
  }
  if (exponent == 0) {
    if (fraction == 0) return sign;
    for (exponent = 1; (fraction & 0x800000u) == 0; ++exponent) fraction <<= 1;
    return sign | (uint64_t)(898u - exponent) << 52 | (uint64_t)(fraction & 0x7fffffu) << 29;
  }
  return sign | (uint64_t)(exponent + 896u) << 52 | (uint64_t)fraction << 29;
}
)"},
    {"f32_from_f64", R"(static float f32_from_f64(uint64_t x) {
  const uint32_t sign = (uint32_t)(x >> 63) << 31;
  int32_t exponent = (int32_t)(x >> 52 & 0x7ffu);
  uint64_t fraction = x & UINT64_C(0xfffffffffffff);
  int32_t places = 29;
  uint32_t kept;
  uint64_t rest;
  if (exponent == 0x7ff) {
    const uint32_t quiet = fraction == 0 ? 0u : 0x400000u | (uint32_t)(fraction >> 29);
    return f32_of_bits(sign | 0x7f800000u | quiet);
  }
  if (exponent == 0) return f32_of_bits(sign);
  fraction |= UINT64_C(1) << 52;
  exponent -= 896;
  if (exponent <= 0) {
    places += 1 - exponent;
    if (places > 53) return f32_of_bits(sign);
    exponent = 1;
  }
  kept = (uint32_t)(fraction >> places);
  rest = fraction << (64 - places);
  if (rest > UINT64_C(1) << 63 || (rest == UINT64_C(1) << 63 && (kept & 1u) != 0)) ++kept;
  if (kept >= 0x1000000u) {
    kept >>= 1;
    ++exponent;
  }
  if (exponent >= 0xff) return f32_of_bits(sign | 0x7f800000u);
  return f32_of_bits(sign | (((uint32_t)(exponent - 1) << 23) + kept));
}
)"},
    {"rounded_f64",
     R"(/* From a number with its first bit at place 62, or below it at the least exponent. */
static uint64_t rounded_f64(uint64_t sign, int32_t exponent, uint64_t x) {
  const uint64_t rest = x & 0x3ffu;
  x >>= 10;
  if (rest > 0x200u || (rest == 0x200u && (x & 1u) != 0)) ++x;
  if (x >> 53 != 0) {
    x >>= 1;
    ++exponent;
  }
  if (exponent >= 0x7ff) return sign | (uint64_t)0x7ffu << 52;
  return sign | (((uint64_t)(exponent - 1) << 52) + x);
}
)"},
    {"add_f64", R"(static uint64_t add_f64(uint64_t a, uint64_t b) {
  uint64_t sign, x, y;
  int32_t exponent, places;
  if (a << 1 < b << 1) {
    const uint64_t larger = b;
    b = a;
    a = larger;
  }
  sign = a & UINT64_C(1) << 63;
  exponent = (int32_t)(a >> 52 & 0x7ffu);
  places = (int32_t)(b >> 52 & 0x7ffu);
  x = a & UINT64_C(0xfffffffffffff);
  y = b & UINT64_C(0xfffffffffffff);
  if (exponent == 0x7ff) {
    if (x == 0 && places == 0x7ff && a != b) return (uint64_t)0xfff8u << 48;
    return x == 0 ? a : a | UINT64_C(1) << 51;
  }
  /* With ten more bits, of which the last says whether any behind it was set. */
  x = (exponent == 0 ? x : x | UINT64_C(1) << 52) << 10;
  y = (places == 0 ? y : y | UINT64_C(1) << 52) << 10;
  if (exponent == 0) exponent = 1;
  places = exponent - (places == 0 ? 1 : places);
  if (places > 63)
    y = y != 0;
  else if (places > 0)
    y = y >> places | (y << (64 - places) != 0);
  if ((a ^ b) >> 63 == 0) {
    x += y;
    if (x >> 63 != 0) {
      x = x >> 1 | (x & 1u);
      ++exponent;
    }
  } else {
    x -= y;
    if (x == 0) return 0;
    for (; x >> 62 == 0 && exponent > 1; --exponent) x <<= 1;
  }
  return rounded_f64(sign, exponent, x);
}
)"},
    {"multiply_f64", R"(static uint64_t multiply_f64(uint64_t a, uint64_t b) {
  const uint64_t sign = (a ^ b) & UINT64_C(1) << 63;
  int32_t of_a = (int32_t)(a >> 52 & 0x7ffu), of_b = (int32_t)(b >> 52 & 0x7ffu), exponent;
  uint64_t x = a & UINT64_C(0xfffffffffffff), y = b & UINT64_C(0xfffffffffffff);
  uint64_t low, high, middle, rest;
  if (of_a == 0x7ff || of_b == 0x7ff) {
    if (of_a == 0x7ff && x != 0) return a | UINT64_C(1) << 51;
    if (of_b == 0x7ff && y != 0) return b | UINT64_C(1) << 51;
    if (a << 1 == 0 || b << 1 == 0) return (uint64_t)0xfff8u << 48;
    return sign | (uint64_t)0x7ffu << 52;
  }
  if (a << 1 == 0 || b << 1 == 0) return sign;
  if (of_a != 0) x |= UINT64_C(1) << 52;
  if (of_b != 0) y |= UINT64_C(1) << 52;
  if (of_a == 0) of_a = 1;
  if (of_b == 0) of_b = 1;
  for (; x >> 52 == 0; --of_a) x <<= 1;
  for (; y >> 52 == 0; --of_b) y <<= 1;
  /* The product of 53 and 53 bits, from halves, with its first bit at place 62 or 61 of `high`. */
  x <<= 11;
  y <<= 10;
  low = (x & 0xffffffffu) * (y & 0xffffffffu);
  middle = (x >> 32) * (y & 0xffffffffu) + (low >> 32);
  rest = (x & 0xffffffffu) * (y >> 32) + (middle & 0xffffffffu);
  high = (x >> 32) * (y >> 32) + (middle >> 32) + (rest >> 32);
  high |= ((rest << 32 | (low & 0xffffffffu)) != 0);
  exponent = of_a + of_b - 1022;
  if (high >> 62 == 0) {
    high <<= 1;
    --exponent;
  }
  if (exponent <= 0) {
    const int32_t places = 1 - exponent;
    high = places > 62 ? 1u : high >> places | (high << (64 - places) != 0);
    exponent = 1;
  }
  return rounded_f64(sign, exponent, high);
}
)"},
};

namespace {

bool is_written(const Op& op) {
  switch (op.code) {
    case Opcode::kConstant:
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kSelect:
      return true;
    case Opcode::kConvert:
      return op.type == Type::kF32 || op.from == Type::kF32;
    default:
      return false;
  }
}

}  // namespace

bool can_be_wide(const lower::Program& program) {
  for (const lower::MathFunction& function : program.functions)
    if (function.code && !can_be_wide(*function.code)) return false;
  return std::all_of(program.code.begin(), program.code.end(), [&](const Op& op) {
    if (op.code == Opcode::kEndLanes) {
      const auto& sums = program.lanes[op.bits].reductions;
      return std::all_of(sums.begin(), sums.end(), [](const auto& sum) {
        return sum.type != Type::kF64 || sum.combine == Opcode::kAdd ||
               sum.combine == Opcode::kMultiply;
      });
    }
    const bool is_wide = op.code < Opcode::kFor && (op.type == Type::kF64 || op.from == Type::kF64);
    return !is_wide || is_written(op);
  });
}

}  // namespace rondo::c
