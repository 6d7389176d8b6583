// Which results of regions may be written in the memory of a parameter.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo::executor {

/// For each output of the regions of a function the parameter that it is made from by writing parts
/// only: by updates, by loops that carry it this way, by branches. The two can then share memory.
class InPlace {
 public:
  static constexpr std::int32_t kNoParameter = -1;

  explicit InPlace(const Function& function);
  std::int32_t parameter_of(const Function& region, std::size_t output) const {
    return regions_.at(region.identity()).parameters[output];
  }
  /// The parameter of the branches that a result of a conditional is made from in this way, or that
  /// is passed on unchanged, in at least one branch. The other branches make a separate array and
  /// pass the parameter on as no other result: in its memory, or copied there when they end.
  std::int32_t parameter_of_branches(const ir::Node& conditional, std::size_t result) const;

 private:
  class Finder;
  struct Region {
    std::vector<std::int32_t> parameters;         // of each output
    absl::flat_hash_set<std::int32_t> made;       // these
    absl::flat_hash_set<ir::ValueKey> handed_on;  // the values that outputs alias, through bitcasts
  };

  absl::flat_hash_map<const void*, Region> regions_;
};

}  // namespace rondo::executor
