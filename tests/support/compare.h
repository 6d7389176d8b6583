// Compares arrays that two executors computed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rondo/literal.h"

namespace rondo::testing {

/// How far floats and complex numbers may differ: |got - want| <= atol + rtol |want|. Integers and
/// pred must be equal; NaN and infinities must be in the same positions; numbers below the least
/// normal one count as zero, since XLA flushes them.
struct Tolerance {
  std::optional<double> rtol = std::nullopt;
  double atol = 0;
  double ulps = 16;  // without rtol: units in the last place of 1 in the dtype
  /// Complex numbers with a part that is not finite only have to be of the same kind: NaN in any
  /// part, or infinite in any part.
  bool loose_complex = false;
};

/// Every bit equal, except that any NaN equals any other.
inline constexpr Tolerance kExactly{.rtol = 0.0, .atol = -1.0};

/// What differs, `element [1,2] is 3, expected 4` for the first few; empty if nothing does.
std::string difference(const Literal& got, const Literal& want, const Tolerance& tolerance = {});

/// The same for lists of results.
std::string difference(const std::vector<Literal>& got, const std::vector<Literal>& want,
                       const Tolerance& tolerance = {});

}  // namespace rondo::testing
