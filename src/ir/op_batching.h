// The part of a record on batching (vmap). The calls are in ir/batch.h.
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

/// The batched op; a value for each result.
using BatchRule = std::vector<BatchValue> (*)(const BatchCall&);
/// The sum over the lanes of an op of one result, all operands of which differ by lane; for ops
/// that are linear in each operand.
using BatchSumRule = Tensor (*)(const BatchCall&);
/// Which results differ by lane if the flagged operands do. For ops whose results do not all
/// differ.
using VaryingRule = std::vector<bool> (*)(const Node&, const std::vector<bool>& operands,
                                          Batching&);
/// For an op that replaces a part of operand 0: the same on these operands, but lanes without
/// `active`, a pred[lanes], keep operand 0 unchanged. All operands have a leading axis of lanes.
using BlendRule = Tensor (*)(const Node&, std::span<const Tensor> operands, const Tensor& active);

/// Elementwise ops share one rule; an op without a rule is batched as its expansion.
struct OpBatching {
  BatchRule rule = nullptr;
  BatchSumRule sum = nullptr;     // if that is cheaper than the results of the lanes
  VaryingRule varying = nullptr;  // without it every result differs by lane if an operand does
  BlendRule blend = nullptr;
  /// For a collective: the name of the axis of lanes that the node works on.
  std::string_view (*axis_name)(const Node&) = nullptr;
  std::string_view why_not = {};  // why it cannot be batched, for the error
};

}  // namespace rondo::ir
