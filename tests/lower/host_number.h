// A plain float or double for the templates of lower/math_functions.h.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace rondo::test {

template <class T>
struct HostNumber {
  static constexpr bool kWide = sizeof(T) == 8;
  static constexpr int kMantissa = kWide ? 52 : 23;
  static constexpr std::int64_t kBias = kWide ? 1023 : 127;
  using Bits = std::conditional_t<kWide, std::uint64_t, std::uint32_t>;
  struct Mask {
    bool v;
    friend Mask operator&(Mask a, Mask b) { return {a.v && b.v}; }
    friend Mask operator|(Mask a, Mask b) { return {a.v || b.v}; }
    friend Mask operator!(Mask a) { return {!a.v}; }
  };
  struct Integer {
    Bits v;
    friend Integer operator+(Integer a, Integer b) { return {Bits(a.v + b.v)}; }
    friend Integer operator-(Integer a, Integer b) { return {Bits(a.v - b.v)}; }
    friend Integer operator&(Integer a, Integer b) { return {Bits(a.v & b.v)}; }
    friend Integer operator^(Integer a, Integer b) { return {Bits(a.v ^ b.v)}; }
    friend Integer operator<<(Integer a, int n) { return {Bits(a.v << n)}; }
    friend Mask operator==(Integer a, Integer b) { return {a.v == b.v}; }
    friend Mask operator<(Integer a, Integer b) {
      return {std::make_signed_t<Bits>(a.v) < std::make_signed_t<Bits>(b.v)};
    }
    friend Integer arithmetic_shift(Integer a, int n) {
      return {Bits(std::make_signed_t<Bits>(a.v) >> n)};
    }
  };

  T v;
  static HostNumber of(double value) { return {T(value)}; }
  static Integer integer(std::int64_t value) { return {Bits(value)}; }
  static auto library_sin() { return static_cast<T (*)(T)>(std::sin); }
  static auto library_cos() { return static_cast<T (*)(T)>(std::cos); }

  friend HostNumber operator+(HostNumber a, HostNumber b) { return {a.v + b.v}; }
  friend HostNumber operator-(HostNumber a, HostNumber b) { return {a.v - b.v}; }
  friend HostNumber operator*(HostNumber a, HostNumber b) { return {a.v * b.v}; }
  friend HostNumber operator/(HostNumber a, HostNumber b) { return {a.v / b.v}; }
  friend HostNumber operator-(HostNumber a) { return {-a.v}; }
  friend Mask operator<(HostNumber a, HostNumber b) { return {a.v < b.v}; }
  friend Mask operator<=(HostNumber a, HostNumber b) { return {a.v <= b.v}; }
  friend Mask operator>(HostNumber a, HostNumber b) { return {a.v > b.v}; }
  friend Mask operator==(HostNumber a, HostNumber b) { return {a.v == b.v}; }
  friend HostNumber fma(HostNumber a, HostNumber b, HostNumber c) {
    return {std::fma(a.v, b.v, c.v)};
  }
  friend HostNumber abs(HostNumber a) { return {std::fabs(a.v)}; }
  friend HostNumber sqrt(HostNumber a) { return {std::sqrt(a.v)}; }
  friend HostNumber floor(HostNumber a) { return {std::floor(a.v)}; }
  friend HostNumber min(HostNumber a, HostNumber b) {
    return std::isnan(a.v) ? a : std::isnan(b.v) ? b : a.v < b.v ? a : b;
  }
  friend HostNumber max(HostNumber a, HostNumber b) {
    return std::isnan(a.v) ? a : std::isnan(b.v) ? b : a.v > b.v ? a : b;
  }
  friend HostNumber copy_sign(HostNumber a, HostNumber sign) {
    return {std::copysign(a.v, sign.v)};
  }
  friend HostNumber select(Mask p, HostNumber a, HostNumber b) { return p.v ? a : b; }
  friend Integer bits(HostNumber a) { return {std::bit_cast<Bits>(a.v)}; }
  friend HostNumber where_rare(Mask rare, HostNumber x, HostNumber usual, T (*function)(T)) {
    return rare.v ? HostNumber{function(x.v)} : usual;
  }
};

}  // namespace rondo::test

namespace rondo::lower::math {
template <class N>
N from_bits(typename N::Integer a) {
  return {std::bit_cast<decltype(N::v)>(a.v)};
}
}  // namespace rondo::lower::math
