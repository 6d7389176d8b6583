// The element code of ops (ir/element.h), from what computes a value.
//
// Floats of 16 bits are computed in f32 and rounded once, as kernels do.
#pragma once

#include <span>

#include "ir/element.h"
#include "lower/math.h"
#include "lower/opcodes.h"

namespace rondo::ops {

using ir::ElementCall;
using lower::Element;
using lower::Value;

inline bool is_half_type(lower::Type type) {
  return type == lower::Type::kF16 || type == lower::Type::kBF16;
}

/// f(builder, x) on the operands, halves as f32; a float result goes back.
template <class F>
Element computed(const ElementCall& c, F&& f) {
  absl::InlinedVector<Value, 3> x;
  const lower::Type type = c.builder.type(c.x(0));
  for (const Element& operand : c.operands) {
    const bool half = is_half_type(c.builder.type(operand[0]));
    x.push_back(half ? c.builder.convert(operand[0], lower::Type::kF32) : operand[0]);
  }
  const Value result = f(c.builder, std::span<const Value>(x));
  const bool back = is_half_type(type) && c.builder.type(result) == lower::Type::kF32;
  return {back ? c.builder.convert(result, type) : result};
}

/// A function on one, two or three values.
template <auto f>
Element element_of(const ElementCall& c) {
  return computed(c, [](lower::Builder& b, std::span<const Value> x) {
    if constexpr (std::is_invocable_v<decltype(f), lower::Builder&, Value>)
      return f(b, x[0]);
    else if constexpr (std::is_invocable_v<decltype(f), lower::Builder&, Value, Value>)
      return f(b, x[0], x[1]);
    else
      return f(b, x[0], x[1], x[2]);
  });
}

template <lower::Opcode code>
Element unary_element(const ElementCall& c) {
  return computed(c,
                  [](lower::Builder& b, std::span<const Value> x) { return b.unary(code, x[0]); });
}
template <lower::Opcode code>
Element binary_element(const ElementCall& c) {
  return computed(
      c, [](lower::Builder& b, std::span<const Value> x) { return b.binary(code, x[0], x[1]); });
}

/// Opcode for each part of a complex number.
template <lower::Opcode code>
Element by_parts(const ElementCall& c) {
  if (c.operands[0].size() == 1) {
    return c.operands.size() == 1 ? unary_element<code>(c) : binary_element<code>(c);
  }
  Element parts;
  for (std::size_t i = 0; i < 2; i++) {
    parts.push_back(c.operands.size() == 1
                        ? c.builder.unary(code, c.operands[0][i])
                        : c.builder.binary(code, c.operands[0][i], c.operands[1][i]));
  }
  return parts;
}

/// Opcode, and another one for preds.
template <lower::Opcode code, lower::Opcode of_preds>
Element pred_or(const ElementCall& c) {
  return c.builder.type(c.x(0)) == lower::Type::kPred ? binary_element<of_preds>(c)
                                                      : by_parts<code>(c);
}

/// A function of libm, in both widths.
template <auto single, auto wide>
Element libm_element(const ElementCall& c) {
  return computed(c, [](lower::Builder& b, std::span<const Value> x) {
    const bool narrow = b.type(x[0]) == lower::Type::kF32;
    if constexpr (requires { single(1.0f); })
      return narrow ? b.math_call(lower::Function1F32(single), x[0])
                    : b.math_call(lower::Function1F64(wide), x[0]);
    else
      return narrow ? b.math_call(lower::Function2F32(single), x[0], x[1])
                    : b.math_call(lower::Function2F64(wide), x[0], x[1]);
  });
}

// The names of opcodes are long.
namespace code {
using enum lower::Opcode;
}

// Elements that several records share, or that take more than a line (element_rules.cc).
Element sign_element(const ElementCall& c);
Element is_finite_element(const ElementCall& c);
Element convert_element_rule(const ElementCall& c);
Element select_element(const ElementCall& c);
Element compare_element(const ElementCall& c);
Element iota_element(const ElementCall& c);
Element real_element(const ElementCall& c);
Element imag_element(const ElementCall& c);
Element complex_element(const ElementCall& c);

}  // namespace rondo::ops
