// The record of the k greatest elements along the last axis.
#pragma once

#include <cstdint>
#include <memory>

#include "ops/support.h"

namespace rondo::ops {

struct TopKAttributes {
  std::int64_t k;
  bool operator==(const TopKAttributes&) const = default;
};
/// Operand: an array. Results: its k greatest elements along the last axis, descending, NaN first,
/// and their s32 positions; of equal ones the first.
extern const ir::OpDef kTopK;

std::unique_ptr<ir::Kernel> prepare_top_k(const Node& node);

}  // namespace rondo::ops
