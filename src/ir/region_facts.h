// Facts about a function at any depth. They are cached with the function, so that a walk may query
// each region of a nest, innermost first.
#pragma once

#include "ir/node.h"

namespace rondo::ir {

/// Whether it contains an observer.
bool observes(const Function& function);
bool observes(const Node* node);

/// Whether it contains a loop of unknown trip count, which may not end, or not soon.
bool may_not_end(const Function& function);
bool may_not_end(const Node* node);

/// Whether it contains a loop that may make no trip (Residuals::may_make_none).
bool may_make_none(const Function& function);
bool may_make_none(const Node* node);

/// Whether an op takes indices that a run checks under RunOptions::check_bounds.
bool takes_indices(const Function& function);
bool takes_indices(const Node* node);

/// Whether updates of parts of arrays (OpBatching::blend) become visible in its body when the
/// constructs in it are inlined (OpExpansion::inlines_regions). A select between its results and
/// others sees them only then.
bool inlines_updates(const Function& function);

/// Whether it contains a rule (custom_vjp) by which reverse mode computes results in another way,
/// and which forward mode rejects. The forward run that reverse mode derives from such a function
/// must be what the rule computes, so that forward mode can differentiate it again.
bool has_own_forward(const Function& function);

}  // namespace rondo::ir
