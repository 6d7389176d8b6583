#include "passes/identities.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace rondo::passes {

namespace {

using IdentityRows = absl::flat_hash_map<const ir::OpDef*, absl::InlinedVector<const Identity*, 4>>;

IdentityRows rows_by_op() {
  IdentityRows rows;
  for (const Identity& row : arithmetic_identities()) rows[row.op].push_back(&row);
  for (const Identity& row : shape_identities()) rows[row.op].push_back(&row);
  return rows;
}

}  // namespace

Tensor simplify(const ir::Node* node) {
  static const IdentityRows rows = rows_by_op();
  const auto found = rows.find(node->op);
  if (found == rows.end()) return {};
  for (const Identity* row : found->second) {
    if (Tensor simpler = row->apply(*node); !simpler.empty()) return simpler;
  }
  return {};
}

}  // namespace rondo::passes
