// The walk over a program and its regions, for all code that visits them: passes, printers,
// collectors. It does not recurse.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// Walks depth first.
/// - `visitor.enter(function, holder, index)` returns the position of the walk in a function, or
///   nothing if it is not to be walked (a region may belong to many nodes). `holder` is null for
///   the outermost function, which otherwise is region `index` of the holder.
/// - `place.next()` returns the nodes one by one, then null. It keeps each alive until the next
/// one.
/// - `visitor.before(place, node)`, then the regions of the node, `visitor.after(place, node)`.
/// - `visitor.leave(place)` when there is no next node.
template <class Visitor>
void walk_regions(const Function& function, Visitor& visitor) {
  using Place = typename decltype(visitor.enter(function, nullptr, 0))::value_type;
  struct Open {
    Place place;
    const Node* node = nullptr;
    std::size_t region = 0;
  };
  std::vector<Open> stack;
  const auto enter = [&](const Function& entered, const Node* holder, std::size_t index) {
    if (auto place = visitor.enter(entered, holder, index)) stack.push_back({std::move(*place)});
  };
  enter(function, nullptr, 0);
  while (!stack.empty()) {
    Open& open = stack.back();
    if (!open.node) {
      open.node = open.place.next();
      open.region = 0;
      if (open.node) {
        visitor.before(open.place, *open.node);
      } else {
        Place left = std::move(open.place);
        stack.pop_back();
        visitor.leave(left);
      }
    } else if (open.region < open.node->regions.size()) {
      const std::size_t index = open.region++;
      enter(open.node->regions[index], open.node, index);
    } else {
      visitor.after(open.place, *open.node);
      open.node = nullptr;
    }
  }
}

/// A position that visits the body of a function in order.
class BodyPlace {
 public:
  explicit BodyPlace(Function function) : function_(std::move(function)) {}
  const Function& function() const { return function_; }
  const Node* next() {
    return next_ < function_.body().size() ? function_.body()[next_++] : nullptr;
  }

 private:
  Function function_;
  std::size_t next_ = 0;
};

/// Whether the regions of a node belong to it alone, and are written inside it. A function that is
/// called (Flow::kCall) is beside it.
inline bool has_nested_regions(const Node& node) {
  return !node.regions.empty() && node.op->construct.flow != Flow::kCall;
}

/// Walks each occurrence of a nested region where it occurs, for printers that write it inside its
/// node; called_functions gives what is called.
/// - visitor.open(function, holder, index);
/// - visitor.node(node) for each node of the body, then its nested regions, and visitor.after(node)
///   if it has any;
/// - visitor.close(function, holder, index).
template <class Visitor>
void walk_nested(const Function& function, Visitor& visitor) {
  struct Place : BodyPlace {
    Place(const Function& of, const Node* region_of, std::size_t number)
        : BodyPlace(of), holder(region_of), index(number) {}
    const Node* holder;
    std::size_t index;
  };
  struct Nested {
    Visitor& visitor;
    std::optional<Place> enter(const Function& entered, const Node* holder, std::size_t index) {
      if (holder && !has_nested_regions(*holder)) return std::nullopt;
      visitor.open(entered, holder, index);
      return Place(entered, holder, index);
    }
    void before(Place&, const Node& node) { visitor.node(node); }
    void after(Place&, const Node& node) {
      if (has_nested_regions(node)) visitor.after(node);
    }
    void leave(Place& place) { visitor.close(place.function(), place.holder, place.index); }
  };
  Nested nested{visitor};
  walk_regions(function, nested);
}

/// For visitors of functions only.
struct FunctionVisitor {
  template <class Place>
  void before(Place&, const Node&) {}
  template <class Place>
  void after(Place&, const Node&) {}
};

}  // namespace rondo::ir
