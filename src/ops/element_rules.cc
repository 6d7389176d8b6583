#include "ops/element_rules.h"

#include "ops/create.h"
#include "ops/elementwise.h"

namespace rondo::ops {

using lower::Type;

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

Element iota_element(const ElementCall& c) {
  const auto& [type, axis] = c.node.attrs<IotaAttributes>();
  const Type to = lower::type_of(type.dtype);
  Value index = c.index(axis);
  // Vectors of s64 have half as many lanes as those of narrower floats.
  if (lower::is_float(to) && lower::width(to) < 8 && type.shape[axis] <= INT32_MAX)
    index = c.builder.convert(index, Type::kS32);
  index = c.builder.convert(index, to);
  return is_complex(type.dtype) ? Element{index, c.builder.number(c.builder.type(index), 0)}
                                : Element{index};
}

}  // namespace rondo::ops
