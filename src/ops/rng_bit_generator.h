// The record of XLA's RngBitGenerator.
#pragma once

#include "ir/field_reader.h"
#include "ops/support.h"
#include "rondo/ops/random.h"

namespace rondo {
void print_field(std::string& out, RngAlgorithm algorithm);
inline void read_field(ir::FieldReader& reader, RngAlgorithm& algorithm) {
  ir::read_choice(reader, algorithm, RngAlgorithm::kPhilox);
}
}  // namespace rondo

namespace rondo::ops {

/// Operand: the state. Results: the new state, and bits of the given type.
struct RngBitGeneratorAttributes {
  TensorType type;
  RngAlgorithm algorithm;
  bool operator==(const RngBitGeneratorAttributes&) const = default;
};
extern const ir::OpDef kRngBitGenerator;

}  // namespace rondo::ops
