// Values that several loops read, computed again in each of them where that costs less than a store
// and loads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "executor/region_plan.h"

namespace rondo::executor {

/// Follows which loops read each value, from the last step to the first.
class Rematerialization {
 public:
  explicit Rematerialization(const RegionPlan& plan);

  /// Loops read a value: those of the step, or where it is fused, all that read the step's value. A
  /// loop that reads it at several indices computes it for each.
  void add_reader(std::uint32_t value, const Step& step);
  /// Whether a value, none of whose elements is read twice by a loop, is computed in each loop that
  /// reads it. The values from which it is computed are then, too (is_part).
  bool pays(const Step& step);
  /// Whether it is computed where a value that is rematerialized is.
  bool is_part(std::uint32_t value) const { return parts_.contains(value); }

 private:
  // Threshold: A store, and the memory it takes, cost as many ops as this; a load costs one. With
  // it, values of up to two ops on two arrays are rematerialized in two loops, and none in more
  // than four. Set by simulations/stars in bench/workloads: 124 to 87 us.
  static constexpr std::int64_t kStore = 2;
  static constexpr std::size_t kMostReaders = 4;
  // Threshold: Elements from which on a value is rematerialized: a small array stays in the first
  // cache, and loops over it alone are one loop. Set by nbody in bench/anchors, 75 elements: 88 us,
  // 97 if they are computed twice.
  static constexpr std::int64_t kLeastElements = 1024;
  static constexpr std::uint32_t kNoMap = kNoPlace;

  const RegionPlan& plan_;
  /// A loop, by its step, that reads a value through an index map, by its step too, or directly.
  struct Reader {
    std::uint32_t loop, map;
    bool operator==(const Reader&) const = default;
  };
  std::vector<absl::InlinedVector<Reader, 2>> readers_;  // of each value
  absl::flat_hash_set<std::uint32_t> written_;           // in place
  absl::flat_hash_set<std::uint32_t> parts_;
};

}  // namespace rondo::executor
