#include "passes/rewrite.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "ir/layout.h"

namespace rondo::passes {

using ir::Node;

ir::Operands FunctionRewrite::operands_of(const Node* node) const {
  return changed_ ? replay_.operands_of(node) : node->operands;
}

Tensor FunctionRewrite::rebuilt(const Node* node, std::vector<Function> regions) const {
  return ir::rebuild(node, operands_of(node), std::move(regions));
}

Tensor FunctionRewrite::rebuilt(const Node* node) const {
  return changed_ ? ir::rebuild(node, replay_.operands_of(node)) : Tensor::of(node);
}

void FunctionRewrite::bind(const Tensor& from, Tensor to) {
  if (from.same_as(to)) return;
  changed_ = true;
  replay_.bind(from, std::move(to));
}

void FunctionRewrite::replace(const Node* node, const Tensor& to) {
  for (std::uint32_t i = 0; i < node->types.size(); i++)
    bind(Tensor::of(node, i), Tensor::of(to.node(), to.result() + i));
}

void FunctionRewrite::replace(const Node* node, std::span<const Tensor> results) {
  for (std::uint32_t i = 0; i < results.size(); i++) bind(Tensor::of(node, i), results[i]);
}

Function FunctionRewrite::finish() const {
  if (!changed_) return source_;
  std::vector<Tensor> results;
  bool same = true;
  for (const Tensor& result : source_.outputs()) {
    results.push_back(replay_(result));
    same = same && results.back().same_as(result);
  }
  if (same) return source_;
  return finish(source_.parameters(), std::move(results), source_.result_names());
}

Function FunctionRewrite::finish(std::vector<Tensor> params, std::vector<Tensor> results,
                                 std::vector<std::string> result_names) const {
  absl::flat_hash_set<const Node*> live;  // and not yet in the new body
  live.reserve(source_.body().size());
  std::vector<const Node*> stack;
  auto mark = [&](const Tensor& tensor) {
    if (!ir::is_parameter(tensor.node()) && live.insert(tensor.node()).second)
      stack.push_back(tensor.node());
  };
  for (const Tensor& result : results) mark(result);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Tensor& operand : node->operands) mark(operand);
  }

  std::vector<const Node*> body;
  body.reserve(live.size());
  std::vector<std::pair<const Node*, std::size_t>> path;  // with the next operand to look at
  auto append = [&](const Node* first) {
    if (live.erase(first)) path.emplace_back(first, 0);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == node->operands.size()) {
        body.push_back(node);
        path.pop_back();
        continue;
      }
      const Node* operand = node->operands[next++].node();
      if (live.erase(operand)) path.emplace_back(operand, 0);
    }
  };
  for (const Node* node : source_.body()) {
    const auto placed = placed_.find(node);
    append(placed != placed_.end() ? placed->second.node() : replay_(Tensor::of(node)).node());
  }
  for (const Tensor& result : results) append(result.node());
  return FunctionAccess::make({source_.name(), std::move(params), std::move(body),
                               std::move(results), std::move(result_names)});
}

namespace {

/// A function on its way through rewrite_regions.
struct RegionVisit {
  Function source;
  Function current;
  std::size_t next_node = 0;
  std::size_t next_region = 0;
};

}  // namespace

Function rewrite_regions(const Function& function, const FunctionPass& before,
                         const FunctionPass& after, bool (*stays)(const Function&)) {
  struct Done {
    Function source;  // so that its identity stays taken
    Function result;
  };
  absl::flat_hash_map<const void*, Done> done;
  std::vector<RegionVisit> stack;
  auto enter = [&](const Function& source) {
    if (done.contains(source.identity())) return;
    if (stays && stays(source))
      done.emplace(source.identity(), Done{source, source});
    else
      stack.push_back({source, before ? before(source) : source});
  };
  auto with_new_regions = [&](const Function& source) {
    FunctionRewrite rewrite(source);
    for (const Node* node : source.body()) {
      if (node->regions.empty() && !rewrite.changed()) continue;
      std::vector<Function> regions;
      regions.reserve(node->regions.size());
      for (const Function& region : node->regions)
        regions.push_back(done.at(region.identity()).result);
      const Tensor rebuilt = rewrite.rebuilt(node, std::move(regions));
      rewrite.replace(node, rebuilt);
    }
    return rewrite.finish();
  };
  enter(function);
  while (!stack.empty()) {
    RegionVisit& visit = stack.back();
    if (visit.next_node < visit.current.body().size()) {
      const Node* node = visit.current.body()[visit.next_node];
      if (visit.next_region < node->regions.size()) {
        const Function region = node->regions[visit.next_region++];
        enter(region);
      } else {
        visit.next_node++;
        visit.next_region = 0;
      }
      continue;
    }
    Function result = with_new_regions(visit.current);
    if (after) result = after(result);
    done.emplace(visit.source.identity(), Done{visit.source, std::move(result)});
    stack.pop_back();
  }
  return done.at(function.identity()).result;
}

bool RegionFacts::observes(const Node* node) {
  if (node->op->observer) return true;
  for (const Function& region : node->regions) {
    if (observes(region)) return true;
  }
  return false;
}

namespace {

bool is_uncounted_loop(const Node* node) {
  const auto layout = ir::region_layout(node);
  return layout && layout->is_loop() && !layout->trip_count;
}

}  // namespace

bool RegionFacts::may_not_end(const Node* node) {
  if (is_uncounted_loop(node)) return true;
  for (const Function& region : node->regions) {
    if (may_not_end(region)) return true;
  }
  return false;
}

bool RegionFacts::has(const Function& function, FunctionNotes::Note note) {
  const auto notes = [](const Function& of) -> FunctionNotes& { return FunctionAccess::notes(of); };
  std::vector<RegionVisit> stack;
  if (!notes(function).has(FunctionNotes::kLookedAt)) stack.push_back({function, {}});
  while (!stack.empty()) {
    RegionVisit& visit = stack.back();
    if (visit.next_node == visit.source.body().size()) {
      int found = FunctionNotes::kLookedAt;
      for (const Node* node : visit.source.body()) {
        if (node->op->observer) found |= FunctionNotes::kObserves;
        if (is_uncounted_loop(node)) found |= FunctionNotes::kMayNotEnd;
        for (const Function& region : node->regions) {
          for (const auto inner : {FunctionNotes::kObserves, FunctionNotes::kMayNotEnd})
            if (notes(region).has(inner)) found |= inner;
        }
      }
      notes(visit.source).add(found);
      stack.pop_back();
      continue;
    }
    const Node* node = visit.source.body()[visit.next_node];
    if (visit.next_region == node->regions.size()) {
      visit.next_node++;
      visit.next_region = 0;
      continue;
    }
    const Function region = node->regions[visit.next_region++];
    if (!notes(region).has(FunctionNotes::kLookedAt)) stack.push_back({region, {}});
  }
  return notes(function).has(note);
}

WatchedNodes::WatchedNodes(const Function& function, RegionFacts& facts) {
  if (!facts.observes(function)) return;
  for (const Node* node : function.body()) {
    bool watched = facts.observes(node);
    for (const Tensor& operand : node->operands) watched = watched || contains(operand);
    if (watched) nodes_.insert(node);
  }
}

Tensor parameter_at(const Tensor& old, std::size_t index) {
  const auto& attributes = old.node()->attrs<ir::ParameterAttributes>();
  const auto place = static_cast<std::int64_t>(index);
  if (attributes.index == place) return old;
  return ir::make_parameter(old.type(), attributes.name, place, attributes.region,
                            old.node()->location());
}

}  // namespace rondo::passes
