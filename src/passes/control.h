// Control flow that is known at compile time.
#pragma once

#include <optional>
#include <vector>

#include "passes/rewrite.h"

namespace rondo::passes {

/// The results of a construct that is known at compile time: a conditional with a constant selector
/// gives those of its branch, a loop without trips its initial values (and ys without elements).
/// Nullopt for other nodes, and if an observer would be lost.
std::optional<std::vector<Tensor>> decide(const ir::Node* node, const WatchedNodes& watched);

/// Whether a node is a loop that is known to make no trip, by its count or its initial values.
bool ends_at_once(const ir::Node* node);
/// The results of such a loop.
std::vector<Tensor> results_of_no_trip(const ir::Node* node);

/// Sets the trip count attribute of loops whose trip count is known (OpConstruct::induction).
Function count_trips(const Function& function);

}  // namespace rondo::passes
