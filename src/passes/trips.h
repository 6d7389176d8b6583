// Shared by the passes that compute something for all trips of a loop at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "ir/batch.h"
#include "ir/layout.h"

namespace rondo::passes {

/// Creates a batcher for this many lanes.
using BatchingFor = absl::FunctionRef<std::unique_ptr<ir::Batching>(std::int64_t lanes)>;

/// Threshold: Trips from which products of all trips are one product: the copies it needs against
/// the faster product. Not measured.
inline constexpr std::int64_t kLeastBatchedTrips = 8;
/// Threshold: Uses of each element of the shared factor, or of the sum, by the product of one trip:
/// with more, that product is about as fast. Set by scan_rnn in bench/anchors for the factor (at 32
/// uses 3 to 9 % are gained); not measured for the sum.
inline constexpr double kMostUsesOfFactor = 32, kMostUsesOfSum = 128;
/// Threshold: Bytes kept for all trips, as a multiple of those that the loop reads and returns (at
/// least kHoistedBytes, passes/hoist.h): memory against the faster product. Not measured.
inline constexpr double kMostBatchedBytes = 4;

/// The layout of a loop whose trips can be computed at once: of known length, and over slices or
/// with an index that can be one.
std::optional<ir::RegionLayout> batchable_layout(const ir::Node* node);
/// The same loop, which reads its index from an array.
Tensor over_slices(const ir::Node* loop);
/// The bytes that may be kept for all trips (kMostBatchedBytes).
double room_for_trips(const ir::RegionLayout& layout);
/// The bytes of a value for all trips.
double bytes_of_trips(const ir::RegionLayout& layout, const TensorType& type);

/// What a value of a body depends on.
enum class TripSource : std::uint8_t {
  kInvariants,  // equal in every trip
  kSlices,      // invariants, the index and slices of xs, by ops that can be batched
  kCarry,       // a carry, or something that must be done trip by trip
};

/// Threshold: Products of fewer multiplications are inlined into the loop (kMostProducts,
/// ops/kernels/dot_kernel.cc) and lose nothing there. Not measured.
inline constexpr double kLeastMultiplications = 16384;

/// Whether a node is a product of arrays: heavy, linear in each of its two operands, and with that
/// many multiplications or a form that cannot be inlined into the loop.
bool is_product(const ir::Node* node);
/// How often a product uses each element of one of its factors or its result, given the types of
/// the other two.
double uses(const TensorType& element, const TensorType& a, const TensorType& b);

class TripSources {
 public:
  explicit TripSources(const ir::RegionLayout& layout);
  TripSource of(const ir::Node* node) const { return sources_.at(node); }
  TripSource of(const Tensor& value) const { return of(value.node()); }

 private:
  absl::flat_hash_map<const ir::Node*, TripSource> sources_;
};

/// The array with axis `from` moved to position `to`.
Tensor with_axis_moved(const Tensor& x, std::int64_t from, std::int64_t to, SourceLocation at);

}  // namespace rondo::passes
