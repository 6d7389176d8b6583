// The record of XLA's RngBitGenerator.
#pragma once

#include "ops/support.h"
#include "rondo/ops/random.h"

namespace rondo::ops {

/// Operand: the state. Results: the new state, and bits of the given type.
struct RngBitGeneratorAttributes {
  TensorType type;
  RngAlgorithm algorithm;
  bool operator==(const RngBitGeneratorAttributes&) const = default;
};
extern const ir::OpDef kRngBitGenerator;

}  // namespace rondo::ops
