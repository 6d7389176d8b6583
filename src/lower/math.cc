#include "lower/math.h"

#include <bit>
#include <cmath>

#include "lower/math_functions.h"

namespace rondo::lower {

namespace {

/// An f32 or f64 expression that a Builder records; without a builder, a constant that takes that
/// of the expression it meets.
template <bool wide>
struct Expression {
  static constexpr bool kWide = wide;
  static constexpr int kMantissa = wide ? 52 : 23;
  static constexpr std::int64_t kBias = wide ? 1023 : 127;
  static constexpr Type kType = wide ? Type::kF64 : Type::kF32;
  static constexpr Type kIntegerType = wide ? Type::kS64 : Type::kS32;
  using Host = std::conditional_t<wide, double, float>;

  struct Mask {
    Builder* builder;
    Value value;
    friend Mask operator&(Mask a, Mask b) {
      return {a.builder, a.builder->bit_and(a.value, b.value)};
    }
    friend Mask operator|(Mask a, Mask b) {
      return {a.builder, a.builder->bit_or(a.value, b.value)};
    }
    friend Mask operator!(Mask a) { return {a.builder, a.builder->logical_not(a.value)}; }
  };

  /// The bits of an expression, as a signed integer of its width.
  struct Integer {
    Builder* builder;
    Value value;
    std::int64_t constant = 0;

    Value in(Builder& b) const {
      return builder ? value : b.constant(kIntegerType, bits_of(constant));
    }
    static std::uint64_t bits_of(std::int64_t x) {
      return wide ? static_cast<std::uint64_t>(x) : static_cast<std::uint32_t>(x);
    }
    static Integer combine(Opcode code, Integer a, Integer b) {
      Builder* to = a.builder ? a.builder : b.builder;
      return {to, to->binary(code, a.in(*to), b.in(*to))};
    }
    friend Integer operator+(Integer a, Integer b) { return combine(Opcode::kAdd, a, b); }
    friend Integer operator-(Integer a, Integer b) { return combine(Opcode::kSubtract, a, b); }
    friend Integer operator&(Integer a, Integer b) { return combine(Opcode::kAnd, a, b); }
    friend Integer operator^(Integer a, Integer b) { return combine(Opcode::kXor, a, b); }
    friend Integer operator<<(Integer a, int n) {
      return combine(Opcode::kShiftLeft, a, Expression::integer(n));
    }
    friend Integer arithmetic_shift(Integer a, int n) {
      return combine(Opcode::kShiftRightArithmetic, a, Expression::integer(n));
    }
    friend Mask operator==(Integer a, Integer b) {
      return {a.builder, a.builder->equal(a.value, b.in(*a.builder))};
    }
    friend Mask operator<(Integer a, Integer b) {
      return {a.builder, a.builder->less(a.value, b.in(*a.builder))};
    }
  };

  Builder* builder;
  Value value;
  double constant = 0;

  static Expression of(double value) { return {nullptr, kNone, value}; }
  static Integer integer(std::int64_t value) { return {nullptr, kNone, value}; }
  static auto library_sin() { return static_cast<Host (*)(Host)>(std::sin); }
  static auto library_cos() { return static_cast<Host (*)(Host)>(std::cos); }

  Value in(Builder& b) const { return builder ? value : b.number(kType, constant); }
  static Expression combine(Opcode code, Expression a, Expression b) {
    Builder* to = a.builder ? a.builder : b.builder;
    return {to, to->binary(code, a.in(*to), b.in(*to))};
  }
  static Mask compare(Opcode code, Expression a, Expression b) {
    Builder* to = a.builder ? a.builder : b.builder;
    return {to, to->compare(code, a.in(*to), b.in(*to))};
  }
  friend Expression operator+(Expression a, Expression b) { return combine(Opcode::kAdd, a, b); }
  friend Expression operator-(Expression a, Expression b) {
    return combine(Opcode::kSubtract, a, b);
  }
  friend Expression operator*(Expression a, Expression b) {
    return combine(Opcode::kMultiply, a, b);
  }
  friend Expression operator/(Expression a, Expression b) { return combine(Opcode::kDivide, a, b); }
  friend Expression operator-(Expression a) {
    return a.builder ? Expression{a.builder, a.builder->negate(a.value)} : of(-a.constant);
  }
  friend Mask operator<(Expression a, Expression b) { return compare(Opcode::kLess, a, b); }
  friend Mask operator<=(Expression a, Expression b) { return compare(Opcode::kLessEqual, a, b); }
  friend Mask operator>(Expression a, Expression b) { return compare(Opcode::kGreater, a, b); }
  friend Mask operator==(Expression a, Expression b) { return compare(Opcode::kEqual, a, b); }
  friend Expression fma(Expression a, Expression b, Expression c) {
    Builder* to = a.builder ? a.builder : b.builder ? b.builder : c.builder;
    return {to, to->fma(a.in(*to), b.in(*to), c.in(*to))};
  }
  friend Expression min(Expression a, Expression b) { return combine(Opcode::kMin, a, b); }
  friend Expression max(Expression a, Expression b) { return combine(Opcode::kMax, a, b); }
  friend Expression abs(Expression a) { return {a.builder, a.builder->abs(a.value)}; }
  friend Expression sqrt(Expression a) { return {a.builder, a.builder->sqrt(a.value)}; }
  friend Expression floor(Expression a) { return {a.builder, a.builder->floor(a.value)}; }
  friend Expression select(Mask p, Expression a, Expression b) {
    return {p.builder, p.builder->select(p.value, a.in(*p.builder), b.in(*p.builder))};
  }
  friend Integer bits(Expression a) {
    if (a.builder) return {a.builder, a.builder->bitcast(a.value, kIntegerType)};
    const auto host = static_cast<Host>(a.constant);
    if constexpr (wide)
      return integer(std::bit_cast<std::int64_t>(host));
    else
      return integer(std::bit_cast<std::int32_t>(host));
  }
  friend Expression copy_sign(Expression a, Expression sign) {
    const Integer sign_bit = integer(math::kSignBit<Expression>);
    const Integer other_bits = integer(wide ? INT64_MAX : INT32_MAX);
    return math::from_bits<Expression>((bits(a) & other_bits) ^ (bits(sign) & sign_bit));
  }
  /// `usual`, but function(x) where `rare` holds.
  friend Expression where_rare(Mask rare, Expression x, Expression usual, Host (*function)(Host)) {
    const Value called = x.builder->math_call(function, x.value, rare.value);
    return {x.builder, x.builder->select(rare.value, called, usual.value)};
  }
};

}  // namespace

namespace math {

template <class N>
N from_bits(typename N::Integer a) {
  return {a.builder, a.builder->bitcast(a.value, N::kType)};
}

}  // namespace math

namespace {

using Single = Expression<false>;
using Double = Expression<true>;

/// f in the type of x.
template <class F>
Value in_own_type(Builder& builder, Value x, F f) {
  if (builder.type(x) == Type::kF64) return f(Double{&builder, x}).value;
  return f(Single{&builder, x}).value;
}

/// f in double precision, rounded to the type of x: for what is seldom used in loops.
template <class F>
Value in_double(Builder& builder, Value x, F f) {
  const Type type = builder.type(x);
  return builder.convert(f(Double{&builder, builder.convert(x, Type::kF64)}).value, type);
}

}  // namespace

Value exp(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::exp(a); });
}
Value expm1(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::expm1(a); });
}
Value log(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::log(a); });
}
Value log1p(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::log1p(a); });
}
Value logistic(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::logistic(a); });
}
Value sin(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::sin(a); });
}
Value cos(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::cos(a); });
}
Value sinh(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::sinh(a); });
}
Value cosh(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::cosh(a); });
}
Value tanh(Builder& builder, Value x) {
  return in_own_type(builder, x, [](auto a) { return math::tanh(a); });
}
Value asin(Builder& builder, Value x) {
  return in_double(builder, x, [](Double a) { return math::asin(a); });
}
Value acos(Builder& builder, Value x) {
  return in_double(builder, x, [](Double a) { return math::acos(a); });
}
Value atan(Builder& builder, Value x) {
  return in_double(builder, x, [](Double a) { return math::atan(a); });
}

Value tan(Builder& builder, Value x) {
  if (builder.type(x) == Type::kF64)
    return builder.math_call(static_cast<double (*)(double)>(std::tan), x);
  return in_double(builder, x, [](Double a) {
    return select(a == Double::of(0), a, math::circular<Double, 0>(a) / math::cos(a));
  });
}

Value erf(Builder& builder, Value x) {
  if (builder.type(x) == Type::kF64)
    return builder.math_call(static_cast<double (*)(double)>(std::erf), x);
  return math::erf(Single{&builder, x}).value;
}

Value power(Builder& builder, Value x, Value y) {
  if (builder.type(x) == Type::kF64)
    return builder.math_call(static_cast<double (*)(double, double)>(std::pow), x, y);
  const Double base{&builder, builder.convert(x, Type::kF64)};
  const Double exponent{&builder, builder.convert(y, Type::kF64)};
  return builder.convert(math::power_of_singles(base, exponent).value, Type::kF32);
}

}  // namespace rondo::lower
