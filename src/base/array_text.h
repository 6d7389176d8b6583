// The elements of an array as nested text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/number_text.h"
#include "rondo/literal.h"

namespace rondo {

/// Larger arrays are shortened where people read them.
inline constexpr std::int64_t kElementsShownWhole = 64;

struct ArrayStyle {
  char open = '{';
  char close = '}';
  NumberStyle numbers = NumberStyle::kHlo;
  /// Larger arrays show three elements at each end of an axis with `...` between, and at most about
  /// a thousand in all.
  std::int64_t cut_above = INT64_MAX;
  /// An fmt format for floats that replaces `numbers`: "{:.3f}". Empty: none.
  std::string_view float_format = {};
};

/// `format` with its field, `{}` or `{:.3f}` with f, e or g, replaced by the elements; those of an
/// array with its type before them.
std::string formatted_literal(std::string_view format, const Literal& literal);

/// Appends the elements with a pair of brackets per axis: `{{1, 2}, {3, 4}}`; `{}` for [0] and
/// [0,2], `{{}, {}}` for [2,0]; a scalar has none.
void append_elements(std::string& out, const Literal& literal, const ArrayStyle& style = {});

}  // namespace rondo
