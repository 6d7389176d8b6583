// What stands in a function at any depth. Functions note it, so that it may be asked again and
// again: for each region of a program around the ones that were asked before, too.
#pragma once

#include "ir/node.h"

namespace rondo::ir {

/// Does it tell the outside anything?
bool observes(const Function& function);
bool observes(const Node* node);

/// Does it contain a loop whose number of trips is not known: one that may not end, or not soon?
bool may_not_end(const Function& function);
bool may_not_end(const Node* node);

/// Does it contain a loop that may make no trip (Residuals::may_make_none)?
bool may_make_none(const Function& function);
bool may_make_none(const Node* node);

/// Whether an op takes indices that a run checks under RunOptions::check_bounds.
bool takes_indices(const Function& function);
bool takes_indices(const Node* node);

/// Do updates of parts of arrays (OpDef::blend) come into its body when the constructs in it are
/// inlined (OpDef::inlines_regions)? What chooses between its results and others sees them only
/// then.
bool inlines_updates(const Function& function);

/// Does a rule stand in it (custom_vjp) by which reverse mode computes results in another way, and
/// which forward mode refuses? What reverse mode leaves of such a function must be what the rule
/// computes, so that it can be differentiated forward again.
bool has_own_forward(const Function& function);

}  // namespace rondo::ir
