// A walk over a program with its regions nested as they stand, for printers that write a region
// inside the node that holds it.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// Calls, in program order and without recursion, for each occurrence of a function:
/// - visitor.open(function, holder, index): `holder` is null for the outermost function, which else
///   is region `index` of the holder;
/// - visitor.node(node) for each node of the body, then its regions, and visitor.after(node) if it
///   has any;
/// - visitor.close(function, holder, index).
template <class Visitor>
void walk_nested(const Function& function, Visitor& visitor) {
  struct Place {
    const Function* function;  // kept alive by its holder
    const Node* holder;
    std::size_t index;
    std::size_t node = 0;
    std::size_t region = 0;
  };
  std::vector<Place> stack;
  visitor.open(function, nullptr, 0);
  stack.push_back({&function, nullptr, 0});
  while (!stack.empty()) {
    Place& place = stack.back();
    const std::vector<const Node*>& body = place.function->body();
    if (place.node == body.size()) {
      const Place closed = place;
      stack.pop_back();
      visitor.close(*closed.function, closed.holder, closed.index);
      continue;
    }
    const Node* node = body[place.node];
    if (place.region == 0) visitor.node(*node);
    if (place.region < node->regions.size()) {
      const std::size_t index = place.region++;
      visitor.open(node->regions[index], node, index);
      stack.push_back({&node->regions[index], node, index});
      continue;
    }
    if (!node->regions.empty()) visitor.after(*node);
    place.node++;
    place.region = 0;
  }
}

}  // namespace rondo::ir
