// Common subexpressions.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "ir/node.h"
#include "ir/structure.h"
#include "passes/rewrite.h"

namespace rondo::passes {

/// The expressions of one function, identified by op, attributes, operands (in either order if the
/// op is commutative) and regions (by structure).
class CommonExpressions {
 public:
  CommonExpressions(const Function& function, ir::StructureTable& structures)
      : met_(function.body().size(), Hash(), Equal{&structures}) {}

  /// An earlier node that computes the same; else the node itself, which is added to the table.
  /// Observers never match. The nodes must outlive the table.
  const ir::Node* first_equal(const ir::Node* node);

 private:
  struct Hash {
    std::size_t operator()(const ir::Node* node) const;
  };
  struct Equal {
    ir::StructureTable* structures;
    bool operator()(const ir::Node* a, const ir::Node* b) const;
  };
  absl::flat_hash_set<const ir::Node*, Hash, Equal> met_;
};

}  // namespace rondo::passes
