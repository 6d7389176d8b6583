// One record per op: everything the library knows about it.
//
// Semantics that hold for every op, and that rewrites may rely on:
// - Integers wrap. Division by zero gives all ones, remainder by zero the dividend.
// - Shifts by the width or more give 0, arithmetic ones the sign.
// - Floats are IEEE 754: no contraction, no reassociation unless a reduction says so.
// - NaN propagates through minimum, maximum and clamp.
// - Indices of dynamic slices and gathers are clamped; scatter drops updates that are out of
//   bounds.
// - Ops are pure: the same operands give the same results, on every thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/op_batching.h"
#include "ir/op_construct.h"
#include "ir/op_derivative.h"
#include "ir/op_execution.h"
#include "ir/op_structure.h"
#include "ir/op_text.h"
#include "ir/op_types.h"

namespace rondo::ir {

/// The cost of an op beside a pass over its result: decides whether a value is worth keeping, and
/// whether an op is fused into the loop of its consumers.
enum class Cost : std::uint8_t {
  kElementwise,  // some arithmetic for each element of the result
  kMovement,     // each element of the result is copied from one place of an operand
  kReduction,    // each operand is read once, and gives fewer elements
  kHeavy,        // more than that: products, sorts, loops, every op that calls a region
};

/// Nodes that are not computations of a program.
enum class OpKind : std::uint8_t {
  kOrdinary,
  kParameter,
  kConstant,
  kLazy,  // a lazy tensor (ir/lazy.h); never part of a program
};

struct OpDef {
  std::string_view name;  // in the IR's text and in errors
  /// How C++ writes an op of two operands, for errors: the operator, or the function if that has
  /// another name.
  std::string_view spelling = {};
  int arity = -1;  // number of operands; -1: any
  Cost cost = Cost::kHeavy;
  OpKind kind = OpKind::kOrdinary;
  bool observer = false;  // tap, print, progress: reports values to the outside; never folded,
                          // merged or hoisted

  // One group for each part of the library that uses records.
  OpTypes types = {};
  OpStructure structure = {};
  OpKernel kernel = {};
  OpExpansion expansion = {};
  OpDerivative derivative = {};
  OpBatching batching = {};
  OpText text = {};
  OpConstruct construct = {};

  /// Whether an executor can run the node without expanding it.
  constexpr bool runs() const { return kernel.prepare != nullptr || kernel.on_literals != nullptr; }
};

}  // namespace rondo::ir
