// What an integer may be: arithmetic on bounds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lower/program.h"

namespace rondo::lower {

/// From `low` to `high`, both among them. Values of u64 are not followed: theirs is always whole.
struct Range {
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  bool contains(const Range& other) const { return low <= other.low && other.high <= high; }
  bool operator==(const Range&) const = default;
};

/// Of all values of a type.
Range range_of(Type type);
bool is_followed(Type type);

inline Range join(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// The values of `a` that are in `b` as well; all of `a` where there are none, in code that never
/// runs.
inline Range common(const Range& a, const Range& b) {
  const Range both{std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? both : a;
}

/// Of the result of an op on operands in these ranges; none where nothing is known, or where the
/// type may not hold it.
std::optional<Range> computed(const Op& op, const Range& a, const Range& b, const Range& c);

/// The values of `a` for which `compare` holds, beside a value of `b`.
Range where_compared(Opcode compare, const Range& a, const Range& b);

}  // namespace rondo::lower
