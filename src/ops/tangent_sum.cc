// Sums of cotangents that are zero but for the parts of an array that were read. A loop that reads
// one row per trip has one such sum per trip; adding whole arrays would cost the array's size each
// time.
#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>

#include "ir/derivative.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/pad.h"
#include "ops/scatter.h"
#include "rondo/ops/indexing.h"

namespace rondo::ops {

namespace {

constexpr std::int64_t kSmallConstant = 64;  // elements looked at
constexpr int kLongestChain = 64;            // parts of one sum
constexpr std::int64_t kSmallSum = 64;       // elements that are as well added as wholes

/// A copy of the operands: none of a lazy node that has been evaluated, as another thread may do at
/// any time.
ir::Operands operands_of(const Node* node) {
  const std::lock_guard lock(ir::lazy_mutex());
  return node->operands;
}

bool is_zero_tensor(const Tensor& tensor) {
  Tensor source = tensor;
  while (source.node()->op == &kBroadcastInDim || source.node()->op == &kReshape) {
    const ir::Operands operands = operands_of(source.node());
    if (operands.empty()) break;
    source = operands[0];
  }
  const Literal* value = ir::known_value(source);
  if (!value || value->elements() > kSmallConstant) return false;
  const std::byte* bytes = value->bytes();
  return std::all_of(bytes, bytes + value->type().bytes(),
                     [](std::byte b) { return b == std::byte{0}; });
}

/// A node of a sum that is built up part by part, and its operands.
struct Step {
  Tensor tensor;
  ir::Operands operands;

  explicit Step(const Tensor& t) : tensor(t), operands(operands_of(t.node())) {}
  const Node* node() const { return tensor.node(); }
  const ir::OpDef* op() const { return operands.empty() ? nullptr : node()->op; }
  std::vector<Tensor> starts() const {
    return std::vector<Tensor>(operands.begin() + 2, operands.end());
  }
};

/// update_slice(base, part) where `part` is added to what stands in the base: what was added.
Tensor added_part(const Step& update) {
  const Tensor &base = update.operands[0], &part = update.operands[1];
  if (is_zero_tensor(base)) return part;
  const Step sum(part);
  if (sum.op() != &kAdd) return {};
  const Step read(sum.operands[0]);
  if (read.op() != &kDynamicSlice) return {};
  const bool same_place =
      read.operands[0].same_as(base) && read.operands.size() + 1 == update.operands.size() &&
      std::equal(read.operands.begin() + 1, read.operands.end(), update.operands.begin() + 2,
                 [](const Tensor& a, const Tensor& b) { return a.same_as(b); });
  return same_place ? sum.operands[1] : Tensor();
}

bool is_scattered_sum(const Step& step) {
  const Node* node = step.node();
  return step.op() == &kScatter && node->types.size() == 1 && is_linear_scatter(*node) &&
         !overwrites(node->regions[0]);
}

/// Where a part stands in the zeros that pad it, as starts; none for another pad.
std::vector<Tensor> place_in_zeros(const Step& step) {
  if (step.op() != &kPad || !is_zero_tensor(step.operands[1])) return {};
  if (step.tensor.type().elements() <= kSmallSum) return {};
  const auto& pad = step.node()->attrs<PadAttributes>();
  const auto only = [](const std::vector<std::int64_t>& all, auto holds) {
    return std::all_of(all.begin(), all.end(), holds);
  };
  const auto not_negative = [](std::int64_t n) { return n >= 0; };
  if (!only(pad.low, not_negative) || !only(pad.high, not_negative) ||
      !only(pad.interior, [](std::int64_t n) { return n == 0; }))
    return {};
  std::vector<Tensor> starts;
  for (const std::int64_t low : pad.low)
    starts.push_back(Operand(low, step.node()->location()).as(DType::kS64));
  return starts;
}

/// `total` with `part` added at `starts`.
Tensor with_part(const Tensor& total, const Tensor& part, const std::vector<Tensor>& starts) {
  const Tensor there = dynamic_slice(total, starts, part.shape().vector());
  return dynamic_update_slice(total, there + part, starts);
}

/// `sum` with `x` in place of the zeros that it starts from; empty if it is no sum of parts.
Tensor added_by_parts(const Tensor& x, const Tensor& sum) {
  std::vector<Step> chain;
  Tensor base = sum;
  while (static_cast<int>(chain.size()) < kLongestChain) {
    Step step(base);
    const bool part = step.op() == &kDynamicUpdateSlice && !added_part(step).empty();
    if (!part && !is_scattered_sum(step)) break;
    base = step.operands[0];
    chain.push_back(std::move(step));
  }
  Tensor total = x;
  const Step first(base);
  if (const std::vector<Tensor> starts = place_in_zeros(first); !starts.empty())
    total = with_part(x, first.operands[0], starts);
  else if (chain.empty() || !is_zero_tensor(base))
    return {};
  for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
    if (step->op() == &kScatter) {
      total = ir::rebuild(step->node(), {total, step->operands[1], step->operands[2]});
    } else {
      total = with_part(total, added_part(*step), step->starts());
    }
  }
  return total;
}

}  // namespace

}  // namespace rondo::ops

namespace rondo::ir {

Tensor add_tangents(const Tensor& a, const Tensor& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  // Outside traces there is one such sum, and its nodes can be evaluated at any time.
  if (!tracing()) return a + b;
  if (Tensor sum = ops::added_by_parts(a, b); !sum.empty()) return sum;
  if (Tensor sum = ops::added_by_parts(b, a); !sum.empty()) return sum;
  return a + b;
}

}  // namespace rondo::ir
