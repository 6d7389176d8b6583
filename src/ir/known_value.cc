#include "ir/known_value.h"

#include <utility>

namespace rondo::ir {

KnownValue::~KnownValue() {
  if (const Node* node = node_if_made()) release(node);
}

const Node* KnownValue::node() const {
  if (const Node* made = node_if_made()) return made;
  const Node* const node = new Node(literal_, id_);
  const Node* first = nullptr;
  if (node_.compare_exchange_strong(first, node, std::memory_order_acq_rel)) return node;
  release(node);  // another thread was faster
  return first;
}

Tensor make_known(Literal literal) {
  if (!literal.bytes()) check_not_moved_from(literal, {});
  return Tensor::adopt(new KnownValue(std::move(literal), take_id()));
}

}  // namespace rondo::ir
