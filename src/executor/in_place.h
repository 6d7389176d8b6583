// Which results of regions may be written where a parameter is.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo::executor {

/// For each output of the regions of a function the parameter that it is made of by writing parts
/// only: by updates, by loops that carry it so, by branches. One place is enough for both then.
class InPlace {
 public:
  static constexpr std::int32_t kNoParameter = -1;

  explicit InPlace(const Function& function);
  std::int32_t parameter_of(const Function& region, std::size_t output) const {
    return regions_.at(region.identity()).parameters[output];
  }
  /// The parameter of the branches that a result of a conditional is made of so, or that is left as
  /// it is, in one branch at least. The others make an array of their own and hand the parameter on
  /// as no other result: in its place, or copied there when they end.
  std::int32_t parameter_of_branches(const ir::Node& conditional, std::size_t result) const;

 private:
  class Finder;
  struct Region {
    std::vector<std::int32_t> parameters;         // of each output
    absl::flat_hash_set<std::int32_t> made;       // these
    absl::flat_hash_set<ir::ValueKey> handed_on;  // what outputs are, under whichever type
  };

  absl::flat_hash_map<const void*, Region> regions_;
};

}  // namespace rondo::executor
