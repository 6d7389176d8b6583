// What a record says of many lanes at once. The calls are in ir/batch.h.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rondo/tensor.h"

namespace rondo::ir {

struct Node;
class Batching;
struct BatchCall;
struct BatchValue;

/// The op for many lanes at once; a value for each result.
using BatchRule = std::vector<BatchValue> (*)(const BatchCall&);
/// The sum over the lanes of an op of one result, all operands of which differ by lane; for one
/// that is linear in each.
using BatchSumRule = Tensor (*)(const BatchCall&);
/// Which results differ by lane where the flagged operands do. Of ops whose results do not all.
using VaryingRule = std::vector<bool> (*)(const Node&, const std::vector<bool>& operands,
                                          Batching&);
/// Of an op that gives operand 0 with a part replaced: the same on these operands, but that lanes
/// without `active`, a pred[lanes], keep operand 0 as it is. All of them have the lanes in front.
using BlendRule = Tensor (*)(const Node&, std::span<const Tensor> operands, const Tensor& active);

/// Elementwise ops have one rule for all; an op without a rule is batched as what it expands to.
struct OpBatching {
  BatchRule rule = nullptr;
  BatchSumRule sum = nullptr;     // where that costs less than the results of the lanes
  VaryingRule varying = nullptr;  // without it every result differs by lane if an operand does
  BlendRule blend = nullptr;
  /// Of a collective: the name of the axis of lanes that the node is about.
  std::string_view (*axis_name)(const Node&) = nullptr;
  std::string_view why_not = {};  // why it cannot be batched, for the error
};

}  // namespace rondo::ir
