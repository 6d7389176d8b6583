// Operations on quantized types: on the real numbers that the integers represent.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "text/read_operation.h"

namespace rondo::text {

/// An operation with the real types in place of the quantized ones.
struct RealOperation {
  mlir::Operation operation;
  std::vector<Tensor> operands;  // dequantized
};
/// Nullopt for an operation without quantized types, and for one that moves the integers as they
/// are. Throws ParseError if the operands do not fit their types.
std::optional<RealOperation> with_real_types(std::string_view text,
                                             const mlir::Operation& operation,
                                             std::span<const Tensor> operands, SourceLocation at);
/// The results of the real operation as those of the quantized one.
std::vector<Tensor> quantized_results(const mlir::Operation& operation, std::vector<Tensor> results,
                                      SourceLocation at);

}  // namespace rondo::text
