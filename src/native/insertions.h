// Instructions that a pass adds to machine code.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "native/machine_code.h"

namespace rondo::native_code {

/// By the position of the instruction before which they are added, in their order.
using Insertions = absl::flat_hash_map<std::size_t, std::vector<Instruction>>;

void insert(MachineCode& code, const Insertions& added);

}  // namespace rondo::native_code
