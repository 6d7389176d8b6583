// Unrolled contractions: sums of few terms (short rows, products of small matrices), written where
// they are used, without a loop.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

/// Each element of the result adds terms; a term is the product of one element of each factor.
struct Terms {
  lower::Opcode combine;
  lower::Type type;       // in which they are computed
  bool pairwise = false;  // combined by tree reduction (lower::Lanes::Reduction), not sequentially
  int init = -1;          // the operand with the initial value; none: zero
  absl::InlinedVector<std::int64_t, 2> sizes = {};     // of the reduced axes
  absl::InlinedVector<ir::AccessMap, 2> factors = {};  // of operand 0, 1; as in ir::Contraction

  std::int64_t count() const;
};

/// Threshold: Sums of up to this many terms are unrolled: code size against a loop or a kernel
/// call. Not measured.
inline constexpr std::int64_t kMostTerms = 8;

/// Threshold: The same for products that are added up to a single element: a term takes 1.2 ns, the
/// latency of a fused multiplication, and a call of the kernel 25 ns. Set by
/// signals/adaptive_filter in bench/workloads.
inline constexpr std::int64_t kMostProductTerms = 24;

/// Threshold: The same for reductions of a lane's elements, where a loop would keep the loop around
/// them from being vectorized: code size, and the registers that the elements take. At most
/// lower::Lanes::kPartials, which one tree reduction combines. Not measured.
inline constexpr std::int64_t kMostLaneTerms = 64;

/// None if the node is no such combination, or has more than `most` terms (of products that give a
/// single element, kMostProductTerms, if that is more); nor, unless `reorders`,
/// if its kernel adds products in another order.
std::optional<Terms> few_terms(const ir::Node& node, bool reorders = false,
                               std::int64_t most = kMostTerms);

}  // namespace rondo::executor
