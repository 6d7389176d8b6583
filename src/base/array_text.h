// The elements of an array as nested text.
#pragma once

#include <cstdint>
#include <string>

#include "base/number_text.h"
#include "rondo/literal.h"

namespace rondo {

struct ArrayStyle {
  char open = '{';
  char close = '}';
  NumberStyle numbers = NumberStyle::kHlo;
  /// Arrays of more elements than this show three of each end of an axis with `...` between, and at
  /// most about a thousand in all.
  std::int64_t cut_above = INT64_MAX;
};

/// Appends the elements, one pair of brackets for each axis: `{{1, 2}, {3, 4}}`; `{}` for [0] and
/// [0,2], `{{}, {}}` for [2,0]; a scalar has none.
void append_elements(std::string& out, const Literal& literal, const ArrayStyle& style = {});

}  // namespace rondo
