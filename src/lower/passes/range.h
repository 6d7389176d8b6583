// Ranges of integers, and arithmetic on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lower/program.h"

namespace rondo::lower {

/// The closed interval from `low` to `high`. Of u64 that of values which are known to be s64 too,
/// and else full: only comparisons use it.
struct Range {
  std::int64_t low = INT64_MIN, high = INT64_MAX;
  bool contains(const Range& other) const { return low <= other.low && other.high <= high; }
  bool operator==(const Range&) const = default;
};

/// All values of a type.
Range range_of(Type type);
bool is_followed(Type type);

inline Range join(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// The intersection of `a` and `b`; `a` if it is empty, which happens only in unreachable code.
inline Range common(const Range& a, const Range& b) {
  const Range both{std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? both : a;
}

/// The range of an op's result for operands in these ranges; none if nothing is known, or if the
/// result may overflow the type.
std::optional<Range> computed(const Op& op, const Range& a, const Range& b, const Range& c);

/// Whether a comparison holds for all numbers in these ranges, or for none of them.
std::optional<bool> compared(Opcode compare, const Range& a, const Range& b);

/// The values of `a` for which `compare` with some value of `b` can hold.
Range where_compared(Opcode compare, const Range& a, const Range& b);

}  // namespace rondo::lower
