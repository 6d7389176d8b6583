// Common subexpressions.
#pragma once

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "ir/node.h"
#include "ir/structure.h"
#include "passes/rewrite.h"

namespace rondo::passes {

/// The expressions of one function: op, attributes, operands (of commutative ops in either order)
/// and regions (by structure).
class CommonExpressions {
 public:
  explicit CommonExpressions(ir::StructureTable& structures) : structures_(structures) {}

  /// A node met before that computes the same; else the node itself, which is remembered. What is
  /// seen from outside is never the same. The nodes must outlive the table.
  const ir::Node* first_equal(const ir::Node* node);

 private:
  bool equal(const ir::Node* a, const ir::Node* b) const;

  ir::StructureTable& structures_;
  absl::flat_hash_map<std::size_t, absl::InlinedVector<const ir::Node*, 1>> by_hash_;
};

}  // namespace rondo::passes
