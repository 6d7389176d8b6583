// The scalar code of one element, which a record gives to executors that generate loops.
#pragma once

#include <cstdint>
#include <span>

#include "absl/functional/function_ref.h"
#include "ir/node.h"
#include "lower/builder.h"

namespace rondo::ir {

/// Computes one element of a node's result.
struct ElementCall {
  const Node& node;
  lower::Builder& builder;
  /// The same element of each operand (of operand 0, the one that the record's access map gives).
  std::span<const lower::Element> operands;
  /// The element's index along an axis of the result, an s64.
  absl::FunctionRef<lower::Value(std::int64_t axis)> index;

  DType dtype(std::size_t i = 0) const { return node.operand_type(i).dtype; }
  lower::Value x(std::size_t i) const { return operands[i][0]; }
};

}  // namespace rondo::ir
