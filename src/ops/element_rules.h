// The element code of ops (ir/element.h), from what computes a value.
//
// Floats of 16 bits are computed in f32 and rounded once, as kernels do.
#pragma once

#include <type_traits>

#include "ir/element.h"
#include "lower/expression.h"
#include "lower/math_functions.h"
#include "lower/opcodes.h"

namespace rondo::ops {

using ir::ElementCall;
using lower::Element;
using lower::Value;

/// Whether the functor F takes so many numbers N.
template <int arity, class F, class N>
inline constexpr bool takes_numbers = arity == 1   ? std::is_invocable_v<F, N>
                                      : arity == 2 ? std::is_invocable_v<F, N, N>
                                                   : std::is_invocable_v<F, N, N, N>;

/// The parts of what a functor has given, which has this type if it is a constant.
template <class T>
Element parts_of(lower::Builder& b, const lower::Expression<T>& x, lower::Type type) {
  return {x.in(b, type)};
}
template <class T>
Element parts_of(lower::Builder& b, const lower::Complex<lower::Expression<T>>& z,
                 lower::Type type) {
  return {z.re.in(b, type), z.im.in(b, type)};
}
inline Element parts_of(lower::Builder&, const lower::ExpressionMask& mask, lower::Type) {
  return {mask.value};
}

/// The functor F on what number(operand) makes of each operand.
template <int arity, class F, class Make>
Element element_from_numbers(const ElementCall& c, lower::Type type, Make number) {
  const F f;
  if constexpr (!takes_numbers<arity, F, decltype(number(c.operands[0]))>)
    throw InternalError("element code of an op that has none for its dtype");
  else if constexpr (arity == 1)
    return parts_of(c.builder, f(number(c.operands[0])), type);
  else if constexpr (arity == 2)
    return parts_of(c.builder, f(number(c.operands[0]), number(c.operands[1])), type);
  else
    return parts_of(c.builder,
                    f(number(c.operands[0]), number(c.operands[1]), number(c.operands[2])), type);
}

/// The element rule of a functor on numbers (lower/number.h).
template <int arity, class F>
Element element_of(const ElementCall& c) {
  using lower::Type;
  lower::Builder& b = c.builder;
  const Type type = b.type(c.x(0));
  const auto in = [&]<class T>() {
    if (c.operands[0].size() == 2) {
      return element_from_numbers<arity, F>(c, type, [&](const Element& z) {
        using N = lower::Expression<T>;
        return lower::Complex<N>{N(b, z[0]), N(b, z[1])};
      });
    }
    return element_from_numbers<arity, F>(
        c, type, [&](const Element& x) { return lower::Expression<T>(b, x[0]); });
  };
  if (type == Type::kF64) return in.template operator()<double>();
  if (type == Type::kF32) return in.template operator()<float>();
  if (!lower::is_float(type)) {
    return element_from_numbers<arity, F>(
        c, type, [&](const Element& x) { return lower::Expression<std::int64_t>(b, x[0]); });
  }
  const Element result = element_from_numbers<arity, F>(c, Type::kF32, [&](const Element& x) {
    return lower::Expression<float>(b, b.convert(x[0], Type::kF32));
  });
  return {b.type(result[0]) == Type::kF32 ? b.convert(result[0], type) : result[0]};
}

// Elements that several records share, or that take more than a line (element_rules.cc).
Element convert_element_rule(const ElementCall& c);
Element select_element(const ElementCall& c);
Element iota_element(const ElementCall& c);

}  // namespace rondo::ops
