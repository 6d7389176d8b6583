#include "passes/simplify.h"

#include <optional>
#include <utility>

#include "ir/region_facts.h"
#include "passes/control.h"
#include "passes/cse.h"
#include "passes/fold.h"
#include "passes/identities.h"

namespace rondo::passes {

namespace {

using ir::Node;

// No chain of rewrites of one node is this long. A rule that returns to its input would end here.
constexpr int kMostRewrites = 32;

class Simplifier {
 public:
  Simplifier(const Function& function, ir::StructureTable& structures)
      : rewrite_(function), watched_(function), expressions_(function, structures) {}

  Function run() {
    for (const Node* node : rewrite_.source().body()) visit(node);
    Function result = rewrite_.finish();
    if (settled_) FunctionAccess::notes(result).add(FunctionNotes::kSettled);
    return result;
  }

 private:
  void visit(const Node* node) {
    Tensor current = rewrite_.rebuilt(node);
    for (int i = 0; i < kMostRewrites; i++) {
      watch(current.node());
      if (current.node()->op->observer) break;
      if (std::optional<std::vector<Tensor>> values = several_values(current.node())) {
        settled_ = settled_ && !current.node()->op->construct.layout;
        rewrite_.replace(node, *values);
        return;
      }
      const std::uint64_t first_new = ir::next_id(), made = ir::nodes_made();
      Tensor simpler = simplify(current.node());
      if (simpler.empty() || !may_become(current.node(), simpler.node())) break;
      if (ir::nodes_made() > made + 1) settled_ = false;
      current = std::move(simpler);
      if (current.node()->id < first_new) {  // simplified when it was visited
        rewrite_.bind(Tensor::of(node), std::move(current));
        return;
      }
    }
    rewrite_.replace(node, Tensor::of(expressions_.first_equal(current.node())));
  }

  /// The values of all results, if they are known without the node.
  std::optional<std::vector<Tensor>> several_values(const Node* node) {
    if (ir::is_constant(node)) return std::nullopt;
    return node->op->construct.layout ? decide(node, watched_) : fold_to_known(node);
  }

  std::optional<std::vector<Tensor>> fold_to_known(const Node* node) {
    std::optional<std::vector<Tensor>> constants = fold(node);
    if (!constants) return std::nullopt;
    for (Tensor& constant : *constants)
      constant = Tensor::of(expressions_.first_equal(constant.node()));
    return constants;
  }

  void watch(const Node* node) {
    if (watched_.empty() || watched_.contains(node)) return;
    bool watched = ir::observes(node);
    for (const Tensor& operand : node->operands) watched = watched || watched_.contains(operand);
    if (watched) watched_.add(node);
  }

  /// An observed operand must not be lost: if there is exactly one, the replacement of the node
  /// must still depend on it.
  bool may_become(const Node* node, const Node* simpler) {
    if (watched_.empty() || !watched_.contains(node)) return true;
    const Node* only = nullptr;
    for (const Tensor& operand : node->operands) {
      if (!watched_.contains(operand) || operand.node() == only) continue;
      if (only) return false;
      only = operand.node();
    }
    watch(simpler);
    return watched_.contains(simpler);
  }

  FunctionRewrite rewrite_;
  WatchedNodes watched_;
  CommonExpressions expressions_;  // its nodes are kept alive by the source or by rewrite_
  // Rules look at a node and its operands. Each node of the result is fully rewritten, except those
  // that a rule created as operands of its result, and those that replaced a construct.
  bool settled_ = true;
};

}  // namespace

Function simplify_function(const Function& function, ir::StructureTable& structures) {
  if (FunctionAccess::notes(function).has(FunctionNotes::kSettled)) return function;
  return Simplifier(function, structures).run();
}

}  // namespace rondo::passes
