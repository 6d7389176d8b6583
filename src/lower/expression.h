// A value of a program as a number that templates take (lower/number.h): each step is an op that
// the Builder records.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "lower/builder.h"
#include "lower/number.h"
#include "lower/opcodes.h"

namespace rondo::lower {

struct ExpressionMask {
  Builder* builder;
  Value value;
  friend ExpressionMask operator&(ExpressionMask a, ExpressionMask b) {
    return {a.builder, a.builder->bit_and(a.value, b.value)};
  }
  friend ExpressionMask operator|(ExpressionMask a, ExpressionMask b) {
    return {a.builder, a.builder->bit_or(a.value, b.value)};
  }
  friend ExpressionMask operator!(ExpressionMask a) {
    return {a.builder, a.builder->logical_not(a.value)};
  }
};

/// An f32 (T = float), an f64 (double), or an integer or pred, whose value says which (int64_t).
/// Without a builder, a constant.
template <class T>
struct Expression : NumberOperations<Expression<T>> {
  static constexpr bool kIsFloat = std::is_floating_point_v<T>;
  static constexpr bool kWide = std::is_same_v<T, double>;
  static constexpr int kMantissa = kWide ? 52 : 23;
  static constexpr std::int64_t kBias = kWide ? 1023 : 127;
  static constexpr Type kType = kWide ? Type::kF64 : Type::kF32;  // of a float
  static constexpr Type kBitsType = kWide ? Type::kS64 : Type::kS32;
  using Mask = ExpressionMask;
  using Double = Expression<double>;
  using Integer = Expression<std::int64_t>;
  using Constant = std::conditional_t<kIsFloat, double, std::int64_t>;

  Builder* builder;
  union {
    Value value;
    Constant constant;
  };

  Expression(Builder& b, Value v) : builder(&b), value(v) {}
  static Expression of(Constant constant) { return Expression(constant); }

  /// The value in the type of an expression that it meets.
  Value beside(const Expression& other) const { return in(*other.builder, other.type()); }
  Value in(Builder& b, Type type) const {
    if (builder) return value;
    if constexpr (kIsFloat)
      return b.number(type, constant);
    else
      return b.constant(type, static_cast<std::uint64_t>(constant) &
                                  (~std::uint64_t{0} >> (64 - 8 * lower::width(type))));
  }
  Type type() const {
    if constexpr (kIsFloat) return kType;
    if (!builder) throw InternalError("an integer constant takes its type from what it meets");
    return builder->type(value);
  }
  /// Of an integer, in bits.
  std::int64_t width() const { return 8 * lower::width(type()); }

  template <Opcode code>
  [[gnu::noinline]] static Expression apply(Expression a) {
    if constexpr (code == Opcode::kNegate) {
      if (!a.builder) return of(-a.constant);
    }
    return {*a.builder, a.builder->unary(code, a.value)};
  }
  template <Opcode code>
  [[gnu::noinline]] static Expression apply(Expression a, Expression b) {
    const Expression& like = a.builder ? a : b;
    return {*like.builder, like.builder->binary(code, a.beside(like), b.beside(like))};
  }
  template <Opcode code>
  [[gnu::noinline]] static Expression apply(Expression a, Expression b, Expression c) {
    const Expression& like = a.builder ? a : b.builder ? b : c;
    return {*like.builder,
            like.builder->fused(code, a.beside(like), b.beside(like), c.beside(like))};
  }
  template <Opcode code>
  [[gnu::noinline]] static Mask compare(Expression a, Expression b) {
    const Expression& like = a.builder ? a : b;
    return {like.builder, like.builder->compare(code, a.beside(like), b.beside(like))};
  }
  friend Expression select(Mask p, Expression a, Expression b) {
    const Type type = (a.builder ? a : b).type();
    return {*p.builder, p.builder->select(p.value, a.in(*p.builder, type), b.in(*p.builder, type))};
  }

  friend Integer bits(Expression a) {
    if (a.builder) return {*a.builder, a.builder->bitcast(a.value, kBitsType)};
    if constexpr (kWide)
      return Integer::of(std::bit_cast<std::int64_t>(a.constant));
    else
      return Integer::of(std::bit_cast<std::int32_t>(static_cast<float>(a.constant)));
  }
  static Expression from_bits(Integer bits) {
    return {*bits.builder, bits.builder->bitcast(bits.value, kType)};
  }
  friend Expression multiply_add(Expression a, Expression b, Expression c) {
    const Expression& like = a.builder ? a : b.builder ? b : c;
    return {*like.builder,
            like.builder->multiply_add(a.beside(like), b.beside(like), c.beside(like))};
  }
  friend Expression subtract_product(Expression c, Expression a, Expression b) {
    const Expression& like = c.builder ? c : a.builder ? a : b;
    return {*like.builder,
            like.builder->subtract_product(c.beside(like), a.beside(like), b.beside(like))};
  }
  friend Expression copy_sign(Expression a, Expression sign) {
    constexpr std::int64_t sign_bit = kWide ? INT64_MIN : INT32_MIN;
    return from_bits((bits(a) & Integer::of(~sign_bit)) ^ (bits(sign) & Integer::of(sign_bit)));
  }
  friend Double to_double(Expression a) {
    return {*a.builder, a.builder->convert(a.value, Type::kF64)};
  }
  static Expression from_double(Double a) {
    return {*a.builder, a.builder->convert(a.value, kType)};
  }

  friend Expression call(LibraryFunction f, Expression a) { return masked_call(f, a, kNone); }
  friend Expression call(LibraryFunction2 f, Expression a, Expression b) {
    if constexpr (kWide)
      return {*a.builder, a.builder->math_call(f.wide, f.wide_name, a.value, b.beside(a))};
    else
      return {*a.builder, a.builder->math_call(f.single, f.single_name, a.value, b.beside(a))};
  }
  friend Expression where_rare(Mask rare, Expression x, Expression usual, LibraryFunction f) {
    return select(rare, masked_call(f, x, rare.value), usual);
  }

 private:
  explicit Expression(Constant of) : builder(nullptr), constant(of) {}
  static Expression masked_call(LibraryFunction f, Expression a, Value predicate) {
    if constexpr (kWide)
      return {*a.builder, a.builder->math_call(f.wide, f.wide_name, a.value, predicate)};
    else
      return {*a.builder, a.builder->math_call(f.single, f.single_name, a.value, predicate)};
  }
};

}  // namespace rondo::lower
