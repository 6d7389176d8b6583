// How C++ source writes a binary op: what errors advise the user to write.
#pragma once

#include <string>
#include <string_view>

#include "ir/node.h"
#include "rondo/tensor.h"

namespace rondo::ir {

/// An op's name in errors, and its C++ form.
struct Spelling {
  // NOLINTBEGIN(google-explicit-constructor): a name or a record converts to the op
  Spelling(std::string_view op) : name(op) {}
  Spelling(const char* op) : name(op) {}
  Spelling(const OpDef& op) : name(op.name), code(op.spelling.empty() ? op.name : op.spelling) {}
  // NOLINTEND(google-explicit-constructor)
  Spelling(std::string_view op, std::string_view written) : name(op), code(written) {}

  std::string_view name;
  /// An operator, or a function of two operands; empty if the op is neither.
  std::string_view code = {};

  /// `a * b`, or `rondo::maximum(a, b)`; for an op that is neither, only what `changed` says.
  std::string of(const std::string& a, const std::string& b, const std::string& changed) const;
};

/// `rondo::convert(x, rondo::DType::kF32)`.
std::string converted(std::string_view x, DType dtype);
/// `F32` of DType::kF32, for messages.
std::string dtype_constant(DType dtype);
/// A C++ scalar as C++ source: `0.1f`, `2.0`, `3`.
std::string scalar_code(const Scalar& value);

/// The tensor operand of an op whose other one is a C++ scalar, and on which side it is.
struct ScalarUse {
  const Spelling& op;
  bool scalar_first;
};

}  // namespace rondo::ir
