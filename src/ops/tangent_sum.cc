// Sums of cotangents that are zero but for the parts of an array that were read. A loop that reads
// one row per trip has one such sum per trip; adding whole arrays would cost the array's size each
// time.
#include <algorithm>
#include <cstddef>

#include "ir/derivative.h"
#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/scatter.h"
#include "rondo/ops/indexing.h"

namespace rondo::ops {

namespace {

constexpr std::int64_t kSmallConstant = 64;  // elements looked at
constexpr int kLongestChain = 64;            // parts of one sum

bool is_zero_tensor(const Tensor& tensor) {
  Tensor source = tensor;
  while (source.node()->op == &kBroadcastInDim || source.node()->op == &kReshape)
    source = source.node()->operand(0);
  const Literal* value = ir::known_value(source);
  if (!value || value->elements() > kSmallConstant) return false;
  const std::byte* bytes = value->bytes();
  return std::all_of(bytes, bytes + value->type().bytes(),
                     [](std::byte b) { return b == std::byte{0}; });
}

std::vector<Tensor> starts_of_update(const Node* node) {
  return std::vector<Tensor>(node->operands.begin() + 2, node->operands.end());
}

Tensor part_of(const Tensor& x, const Node* update) {
  return dynamic_slice(x, starts_of_update(update), update->operand_type(1).shape.vector());
}

/// update_slice(base, part) where `part` is added to what stands in the base: what was added.
Tensor added_part(const Node* node) {
  const Tensor &base = node->operand(0), &part = node->operand(1);
  if (is_zero_tensor(base)) return part;
  const Node* sum = part.node();
  if (sum->op != &kAdd || sum->operand(0).node()->op != &kDynamicSlice) return {};
  const Node* read = sum->operand(0).node();
  const bool same_place =
      read->operand(0).same_as(base) && read->operands.size() + 1 == node->operands.size() &&
      std::equal(read->operands.begin() + 1, read->operands.end(), node->operands.begin() + 2,
                 [](const Tensor& a, const Tensor& b) { return a.same_as(b); });
  return same_place ? sum->operand(1) : Tensor();
}

bool is_scattered_sum(const Node* node) {
  return node->op == &kScatter && node->types.size() == 1 && is_linear_scatter(*node) &&
         !overwrites(node->regions[0]);
}

/// `sum` with `x` in place of the zeros that it starts from; empty if it is no sum of parts.
Tensor added_by_parts(const Tensor& x, const Tensor& sum) {
  std::vector<const Node*> chain;
  Tensor base = sum;
  while (static_cast<int>(chain.size()) < kLongestChain) {
    const Node* node = base.node();
    const bool part = node->op == &kDynamicUpdateSlice && !added_part(node).empty();
    if (!part && !is_scattered_sum(node)) break;
    chain.push_back(node);
    base = node->operand(0);
  }
  if (chain.empty() || !is_zero_tensor(base)) return {};
  Tensor total = x;
  for (auto node = chain.rbegin(); node != chain.rend(); ++node) {
    if ((*node)->op == &kScatter) {
      total = ir::rebuild(*node, {total, (*node)->operand(1), (*node)->operand(2)});
    } else {
      total = dynamic_update_slice(total, part_of(total, *node) + added_part(*node),
                                   starts_of_update(*node));
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
  if (Tensor sum = ops::added_by_parts(a, b); !sum.empty()) return sum;
  if (Tensor sum = ops::added_by_parts(b, a); !sum.empty()) return sum;
  return a + b;
}

}  // namespace rondo::ir
