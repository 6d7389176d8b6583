// Sums of few terms (short rows, products of small matrices), which are written where they are
// used, without a loop.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

/// Each element of the result combines terms; a term is the product of one element of each factor.
struct Terms {
  lower::Opcode combine;
  lower::Type type;       // that they are computed in
  bool pairwise = false;  // combined by halves (lower::Lanes::Reduction), not one after the other
  int init = -1;          // the operand that they start from; none: zero
  absl::InlinedVector<std::int64_t, 2> sizes = {};     // of the axes that vanish
  absl::InlinedVector<ir::AccessMap, 2> factors = {};  // of operand 0, 1; as ir::Contraction has it

  std::int64_t count() const;
};

/// Threshold: Sums of up to this many terms are unrolled: code size against a loop or a kernel
/// call. Not measured.
inline constexpr std::int64_t kMostTerms = 8;

/// None where the node is no such combination, or one of many terms; nor, unless `reorders`, where
/// its kernel adds products up in another order.
std::optional<Terms> few_terms(const ir::Node& node, bool reorders = false);

}  // namespace rondo::executor
