// Reading operations `check.*`, and custom calls of these names.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rondo/tensor.h"
#include "text/checks.h"
#include "text/mlir/program.h"

namespace rondo::text {

struct ReadCheck {
  Check check;
  Tensor actual, expected;
};

bool is_check(const mlir::Operation& operation);
/// Throws ParseError for one that is unknown or has other operands or attributes.
ReadCheck read_check(std::string_view text, const mlir::Operation& operation,
                     std::span<const Tensor> operands);
/// What the operation gives: nothing, or `true` by `check.eq`.
std::vector<Tensor> check_result(const mlir::Operation& operation);

/// The elements of an attribute as a constant.
Tensor tensor_of(const mlir::Attribute& elements, SourceLocation at);

}  // namespace rondo::text
