// Which results of regions may be written where a parameter is.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "rondo/function.h"

namespace rondo::executor {

/// For each output of the regions of a function the parameter that it is made of by writing parts
/// only: by updates, by loops that carry it so, by branches that all do. One place is enough for
/// both then.
class InPlace {
 public:
  static constexpr std::int32_t kNoParameter = -1;

  explicit InPlace(const Function& function);
  std::int32_t parameter_of(const Function& region, std::size_t output) const {
    return parameters_.at(region.identity())[output];
  }

 private:
  std::int32_t find(const Function& region, std::size_t output) const;

  absl::flat_hash_map<const void*, std::vector<std::int32_t>> parameters_;
};

}  // namespace rondo::executor
