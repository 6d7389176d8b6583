#include "passes/rewrite.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "ir/region_facts.h"
#include "ir/region_walk.h"

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
  if (!changed_) replay_.reserve(source_.body().size());
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
  absl::flat_hash_set<const Node*> seen;
  seen.reserve(source_.body().size());
  std::vector<const Node*> body;
  body.reserve(source_.body().size());
  std::vector<std::pair<const Node*, std::size_t>> path;  // with the next operand to visit
  auto enter = [&](const Node* node) {
    if (!ir::is_parameter(node) && seen.insert(node).second) path.emplace_back(node, 0);
  };
  auto append = [&](const Node* first) {
    enter(first);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == node->operands.size()) {
        body.push_back(node);
        path.pop_back();
        continue;
      }
      enter(node->operands[next++].node());
    }
  };
  for (const Node* node : source_.body()) {
    const auto placed = placed_.find(node);
    append(placed != placed_.end() ? placed->second.node() : replay_(Tensor::of(node)).node());
  }
  for (const Tensor& result : results) append(result.node());
  return ir::close_live({source_.name(), std::move(params), std::move(body), std::move(results),
                         std::move(result_names)});
}

namespace {

/// Rewrites a function with all regions in it, each once.
class RegionRewrite : public ir::FunctionVisitor {
 public:
  struct Place {
    Function source;
    ir::BodyPlace current;
    const Node* next() { return current.next(); }
  };

  RegionRewrite(const FunctionPass& before, const FunctionPass& after,
                bool (*stays)(const Function&))
      : before_(before), after_(after), stays_(stays) {}

  std::optional<Place> enter(const Function& source, const Node*, std::size_t) {
    if (done_.contains(source.identity())) return std::nullopt;
    if (stays_ && stays_(source)) {
      done_.emplace(source.identity(), Done{source, source});
      return std::nullopt;
    }
    return Place{source, ir::BodyPlace(before_ ? before_(source) : source)};
  }
  void leave(Place& place) {
    Function result = with_new_regions(place.current.function());
    if (after_) result = after_(result);
    done_.emplace(place.source.identity(), Done{place.source, std::move(result)});
  }
  const Function& result_of(const Function& source) const {
    return done_.at(source.identity()).result;
  }

 private:
  struct Done {
    Function source;  // kept alive, so that its identity is not reused
    Function result;
  };

  Function with_new_regions(const Function& source) const {
    FunctionRewrite rewrite(source);
    for (const Node* node : source.body()) {
      if (node->regions.empty() && !rewrite.changed()) continue;
      std::vector<Function> regions;
      regions.reserve(node->regions.size());
      for (const Function& region : node->regions) regions.push_back(result_of(region));
      const Tensor rebuilt = rewrite.rebuilt(node, std::move(regions));
      rewrite.replace(node, rebuilt);
    }
    return rewrite.finish();
  }

  const FunctionPass& before_;
  const FunctionPass& after_;
  bool (*stays_)(const Function&);
  absl::flat_hash_map<const void*, Done> done_;
};

}  // namespace

Function rewrite_regions(const Function& function, const FunctionPass& before,
                         const FunctionPass& after, bool (*stays)(const Function&)) {
  RegionRewrite rewrite(before, after, stays);
  ir::walk_regions(function, rewrite);
  return rewrite.result_of(function);
}

WatchedNodes::WatchedNodes(const Function& function) {
  if (!ir::observes(function)) return;
  for (const Node* node : function.body()) {
    bool watched = ir::observes(node);
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
