// Which values of a function are tapes: arrays that grow by rows while it runs (ir/loop_nest.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"

namespace rondo::executor {

struct Tapes {
  /// Results and parameters, each with the name of the loop whose backward pass reads the tape. The
  /// initial value of a tape, an array of one row, is not among them.
  absl::flat_hash_map<ir::ValueKey, std::string_view> values;
  /// Names an operation on one that only the reference backend supports; empty if there is none.
  std::string why_not;
};

Tapes tapes_of(const Function& function);

}  // namespace rondo::executor
