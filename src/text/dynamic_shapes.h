// Operations whose sizes are operands.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "text/read_operation.h"

namespace rondo::text {

/// An operation with sizes that were operands as attributes: that of the same meaning without
/// `dynamic_`, on the operands that are left.
struct FixedOperation {
  mlir::Operation operation;
  std::vector<Tensor> operands;
};
/// Whether operations of that name have sizes as operands.
bool has_dynamic_form(std::string_view name);
/// Of an operation that has. Throws ParseError unless the sizes follow from constants.
FixedOperation with_fixed_sizes(std::string_view text, const mlir::Operation& operation,
                                std::span<const Tensor> operands);

}  // namespace rondo::text
