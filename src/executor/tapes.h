// Which values of a function are tapes: arrays that grow by rows while it runs (ir/loop_nest.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"

namespace rondo::executor {

struct Tapes {
  /// Results and parameters, each with the name of the loop whose backward pass reads the tape.
  /// What a tape begins with, an array of one row, is none of them.
  absl::flat_hash_map<ir::ValueKey, std::string_view> values;
  /// What is done with one that only the reference can do; empty where there is nothing.
  std::string why_not;
};

Tapes tapes_of(const Function& function);

}  // namespace rondo::executor
