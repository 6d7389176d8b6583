// Which results of regions may be written where a parameter is.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rondo/function.h"

namespace rondo::executor {

/// For each output of the regions of a function the parameter that it is made of by writing parts
/// only: by updates, by loops that carry it so, by branches. One place is enough for both then.
class InPlace {
 public:
  static constexpr std::int32_t kNoParameter = -1;

  explicit InPlace(const Function& function);
  std::int32_t parameter_of(const Function& region, std::size_t output) const {
    return parameters_.at(region.identity())[output];
  }
  /// The parameter of the branches that a result of a conditional is made of so, or that is left as
  /// it is, in one branch at least. The others make an array of their own and hand the parameter on
  /// as no other result: in its place, or copied there when they end.
  std::int32_t parameter_of_branches(const ir::Node& conditional, std::size_t result) const;

 private:
  std::int32_t find(const Function& region, std::size_t output) const;

  absl::flat_hash_map<const void*, std::vector<std::int32_t>> parameters_;
};

}  // namespace rondo::executor
