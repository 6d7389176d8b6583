// Control flow that is decided before the program runs.
#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite.h"

namespace rondo::passes {

/// What a construct gives when it is decided already: a conditional with a constant selector is its
/// branch, a loop that makes no trip its inits (and ys without elements). Nothing for other nodes,
/// and where something that is seen from outside would be lost.
std::optional<std::vector<Tensor>> decide(const ir::Node* node, const WatchedNodes& watched);

/// Whether a node is a loop that is known to make no trip, by its count or its inits.
bool ends_at_once(const ir::Node* node);
/// What a loop gives then.
std::vector<Tensor> results_of_no_trip(const ir::Node* node);

/// Loops whose number of trips can be told (OpDef::induction) get it as their attribute.
Function count_trips(const Function& function);

}  // namespace rondo::passes
