// Constant folding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::passes {

/// Threshold: Elements of a result that is folded to a constant: size of the program against work
/// at run time (also the size of constants copied into regions). Not measured.
inline constexpr std::int64_t kFoldedResultElements = 16;
/// Threshold: Elements of the constant operands of a folded node, together: compile time against
/// work at run time. Not measured.
inline constexpr std::int64_t kFoldedOperandElements = 4096;

/// The results of a node with constant operands, as constants computed by the kernel of its op.
/// Nullopt if it is too large, has regions, or is an observer.
std::optional<std::vector<Tensor>> fold(const ir::Node* node);

/// The values of the results of a node whose operands have these values, under the same conditions.
std::optional<std::vector<Literal>> fold_values(const ir::Node* node,
                                                std::span<const Literal* const> operands);

}  // namespace rondo::passes
