#include "ops/element_rules.h"

#include "ops/create.h"
#include "ops/elementwise.h"

namespace rondo::ops {

using lower::Builder;
using lower::Opcode;
using lower::Type;

Element sign_element(const ElementCall& c) {
  return computed(c, [](Builder& b, std::span<const Value> x) {
    const Type type = b.type(x[0]);
    const Value zero = b.number(type, 0);
    const Value below = b.select(b.less(x[0], zero), b.number(type, -1), x[0]);
    return b.select(b.greater(x[0], zero), b.number(type, 1), below);
  });
}

Element is_finite_element(const ElementCall& c) {
  return computed(c, [](Builder& b, std::span<const Value> x) {
    return b.less(b.abs(x[0]),
                  b.constant(b.type(x[0]), lower::identity(Opcode::kMin, b.type(x[0]))));
  });
}

Element convert_element_rule(const ElementCall& c) {
  const DType to = c.node.attrs<ConvertAttributes>().dtype;
  const Type type = lower::type_of(to);
  Element result{c.builder.convert(c.x(0), type)};
  if (is_complex(to)) {
    result.push_back(c.operands[0].size() == 2 ? c.builder.convert(c.operands[0][1], type)
                                               : c.builder.number(type, 0));
  }
  return result;
}

Element select_element(const ElementCall& c) {
  Element parts;
  for (std::size_t i = 0; i < c.operands[1].size(); i++)
    parts.push_back(c.builder.select(c.x(0), c.operands[1][i], c.operands[2][i]));
  return parts;
}

namespace {

/// An integer with the place of a float in IEEE 754's total order.
Value total_order_key(Builder& b, Value x) {
  const Type type = b.type(x);
  if (!lower::is_float(type)) return x;
  const Type bits_type = lower::width(type) == 2   ? Type::kS16
                         : lower::width(type) == 4 ? Type::kS32
                                                   : Type::kS64;
  const Value bits = b.bitcast(x, bits_type);
  const Value most = b.constant(bits_type, lower::identity(Opcode::kMin, bits_type));
  return b.select(b.less(bits, b.number(bits_type, 0)), b.bit_xor(bits, most), bits);
}

}  // namespace

Element compare_element(const ElementCall& c) {
  static constexpr Opcode kCodes[] = {Opcode::kEqual,     Opcode::kNotEqual, Opcode::kLess,
                                      Opcode::kLessEqual, Opcode::kGreater,  Opcode::kGreaterEqual};
  const auto& [direction, total_order] = c.node.attrs<CompareAttributes>();
  const Opcode code = kCodes[static_cast<int>(direction)];
  Builder& b = c.builder;
  if (c.operands[0].size() == 2) {
    const Value re = b.compare(code, c.operands[0][0], c.operands[1][0]);
    const Value im = b.compare(code, c.operands[0][1], c.operands[1][1]);
    return {code == Opcode::kEqual ? b.bit_and(re, im) : b.bit_or(re, im)};
  }
  if (total_order) return {b.compare(code, total_order_key(b, c.x(0)), total_order_key(b, c.x(1)))};
  return computed(
      c, [code](Builder& at, std::span<const Value> x) { return at.compare(code, x[0], x[1]); });
}

Element iota_element(const ElementCall& c) {
  const auto& [type, axis] = c.node.attrs<IotaAttributes>();
  const Value index = c.builder.convert(c.index(axis), lower::type_of(type.dtype));
  return is_complex(type.dtype) ? Element{index, c.builder.number(c.builder.type(index), 0)}
                                : Element{index};
}

Element real_element(const ElementCall& c) { return {c.operands[0][0]}; }
Element imag_element(const ElementCall& c) { return {c.operands[0][1]}; }
Element complex_element(const ElementCall& c) { return {c.x(0), c.x(1)}; }

}  // namespace rondo::ops
