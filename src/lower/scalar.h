// A value of this machine as a number that templates take (lower/number.h).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "lower/arithmetic.h"
#include "lower/number.h"

namespace rondo::lower {

struct ScalarMask {
  bool v;
  // Without a branch: loops over them are to be vectorized.
  friend ScalarMask operator&(ScalarMask a, ScalarMask b) { return {(a.v & b.v) != 0}; }
  friend ScalarMask operator|(ScalarMask a, ScalarMask b) { return {(a.v | b.v) != 0}; }
  friend ScalarMask operator!(ScalarMask a) { return {!a.v}; }
};

/// `usual`: where_rare calls nothing and gives the usual value, so that loops can be vectorized.
/// Who runs them computes the rare ones again.
template <class T, bool usual = false>
struct Scalar : NumberOperations<Scalar<T, usual>> {
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;
  static constexpr bool kWide = sizeof(T) == 8;
  static constexpr int kMantissa = kWide ? 52 : 23;
  static constexpr std::int64_t kBias = kWide ? 1023 : 127;
  using Host = T;
  using Mask = ScalarMask;
  using Double = Scalar<double, usual>;
  using Integer = Scalar<std::conditional_t<kWide, std::int64_t, std::int32_t>, usual>;
  using Constant = std::conditional_t<kIsFloat, double, std::int64_t>;

  T v;

  Scalar() = default;
  explicit constexpr Scalar(T value) : v(value) {}
  static constexpr Scalar of(Constant value) { return Scalar(static_cast<T>(value)); }
  static constexpr std::int64_t width() { return 8 * std::int64_t{sizeof(T)}; }

  template <Opcode code>
  static Scalar apply(Scalar a) {
    return Scalar(unary<code, T>(a.v));
  }
  template <Opcode code>
  static Scalar apply(Scalar a, Scalar b) {
    return Scalar(binary<code, T>(a.v, b.v));
  }
  template <Opcode code>
  static Scalar apply(Scalar a, Scalar b, Scalar c) {
    return Scalar(fused<code, T>(a.v, b.v, c.v));
  }
  template <Opcode code>
  static Mask compare(Scalar a, Scalar b) {
    return {compared<code, T>(a.v, b.v)};
  }
  friend Scalar select(Mask p, Scalar a, Scalar b) { return Scalar(p.v ? a.v : b.v); }

  friend Integer bits(Scalar a) { return Integer(std::bit_cast<typename Integer::Host>(a.v)); }
  static Scalar from_bits(Integer bits) { return Scalar(std::bit_cast<T>(bits.v)); }
  friend Scalar multiply_add(Scalar a, Scalar b, Scalar c) { return a * b + c; }
  friend Scalar subtract_product(Scalar c, Scalar a, Scalar b) { return c - a * b; }
  friend Scalar copy_sign(Scalar a, Scalar sign) { return Scalar(std::copysign(a.v, sign.v)); }
  friend Double to_double(Scalar a) { return Double(static_cast<double>(a.v)); }
  static Scalar from_double(Double a) { return Scalar(static_cast<T>(a.v)); }

  friend Scalar call(LibraryFunction f, Scalar a) {
    if constexpr (kWide)
      return Scalar(f.wide(a.v));
    else
      return Scalar(f.single(a.v));
  }
  friend Scalar call(LibraryFunction2 f, Scalar a, Scalar b) {
    if constexpr (kWide)
      return Scalar(f.wide(a.v, b.v));
    else
      return Scalar(f.single(a.v, b.v));
  }
  friend Scalar where_rare(Mask rare, Scalar x, Scalar otherwise, LibraryFunction f) {
    if constexpr (usual)
      return otherwise;
    else
      return Scalar(rare.v ? call(f, x).v : otherwise.v);
  }
};

}  // namespace rondo::lower
