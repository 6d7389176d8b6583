// The parts of reading StableHLO.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/node.h"
#include "text/mlir/program.h"

namespace rondo::text {

/// An operation whose operands are known.
struct ReadOperation {
  std::string_view text;  // of the whole program
  const mlir::Operation& operation;
  std::span<const Tensor> operands;
  std::span<const Function> regions;
  SourceLocation at;
};

/// The attributes of an op with this record. Throws ParseError for one that is missing, of another
/// kind, or unknown.
ir::Attributes read_stablehlo_attributes(const ir::OpDef& op, const ReadOperation& read);

/// What an operation computes, by functions of ours.
using ReadFunction = std::vector<Tensor> (*)(const ReadOperation&);
/// Null if there is none of this name.
ReadFunction stablehlo_function(std::string_view name);

}  // namespace rondo::text
