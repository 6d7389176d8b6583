// One computation of HLO text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ir/sharding.h"
#include "rondo/function.h"

namespace rondo::text {

/// How a function is called, which decides the parameters and the result of its computation.
enum class HloRole : std::uint8_t {
  kEntry,      // takes arrays, gives an array or a flat tuple
  kCombiner,   // of reduce, sort, scatter...: the same
  kCondition,  // of while: takes the tuple of all operands, gives a pred
  kBody,       // of while: takes and gives that tuple
  kBranch,     // of conditional: takes the tuple of the arguments, gives an array or a flat tuple
};

/// The role of region `index` of a node.
HloRole hlo_role(const ir::Node& holder, std::size_t index);

/// The names of the computations, by the identity of the function and its role.
using ComputationNames = absl::flat_hash_map<std::pair<const void*, HloRole>, std::string>;

/// Appends the computation and an empty line. `callees` has all regions in `function`; `sharding`
/// is that of the entry, null for none.
void append_hlo_computation(std::string& out, const Function& function, HloRole role,
                            std::string_view name, const ComputationNames& callees, bool metadata,
                            const ir::ProgramSharding* sharding);

/// The types of tensors: `f32[2], s32[]`.
void append_hlo_types(std::string& out, std::span<const Tensor> tensors);
/// The same in parentheses, unless there is exactly one.
void append_hlo_shape(std::string& out, std::span<const Tensor> tensors);

}  // namespace rondo::text
