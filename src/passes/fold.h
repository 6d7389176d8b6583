// Values that are known before the program runs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::passes {

/// A node is folded when each of its results has at most so many elements (as many as a constant
/// that is copied into a region),
inline constexpr std::int64_t kFoldedResultElements = 16;
/// and its operands, all of them constants, have together at most so many, so that compiling stays
/// fast.
inline constexpr std::int64_t kFoldedOperandElements = 4096;

/// The results of a node on constants as constants, computed by the kernel of its op; nothing where
/// it is not that small, has regions, or is seen from outside.
std::optional<std::vector<Tensor>> fold(const ir::Node* node);

/// The values of the results of a node whose operands have these values, under the same conditions.
std::optional<std::vector<Literal>> fold_values(const ir::Node* node,
                                                std::span<const Literal* const> operands);

}  // namespace rondo::passes
