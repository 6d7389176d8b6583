#include "passes/cse.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "ir/region_facts.h"

namespace rondo::passes {

namespace {

using ir::Node;

bool takes_either_order(const Node* node) {
  return node->op->structure.commutative && node->operands.size() == 2;
}

std::size_t hash_of(const Node* node) {
  std::size_t hash = absl::HashOf(node->op, node->attributes.hash(), node->operands.size());
  if (takes_either_order(node)) {
    const ir::ValueKey a = node->operands[0], b = node->operands[1];
    return absl::HashOf(hash, std::min(a, b), std::max(a, b));
  }
  for (const Tensor& operand : node->operands) hash = absl::HashOf(hash, ir::ValueKey(operand));
  return hash;
}

bool same_operands(const Node* a, const Node* b) {
  const auto same = [](const Tensor& x, const Tensor& y) { return x.same_as(y); };
  if (std::equal(a->operands.begin(), a->operands.end(), b->operands.begin(), b->operands.end(),
                 same))
    return true;
  return takes_either_order(a) && takes_either_order(b) && a->operands[0].same_as(b->operands[1]) &&
         a->operands[1].same_as(b->operands[0]);
}

}  // namespace

std::size_t CommonExpressions::Hash::operator()(const Node* node) const { return hash_of(node); }

bool CommonExpressions::Equal::operator()(const Node* a, const Node* b) const {
  if (a == b) return true;
  if (a->op != b->op || a->types != b->types || !same_operands(a, b) ||
      a->attributes != b->attributes)
    return false;
  const auto same_structure = [&](const Function& x, const Function& y) {
    return x.same_as(y) || structures->number(x) == structures->number(y);
  };
  return std::equal(a->regions.begin(), a->regions.end(), b->regions.begin(), b->regions.end(),
                    same_structure);
}

const Node* CommonExpressions::first_equal(const Node* node) {
  return ir::observes(node) ? node : *met_.insert(node).first;
}

}  // namespace rondo::passes
