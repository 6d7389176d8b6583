#include "run/lazy_plan.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "ir/lazy.h"
#include "ir/node.h"

namespace rondo::ir {

std::optional<LazyPlan> LazyPlan::of(const LazyProgram& program, std::span<const TensorType> types,
                                     std::span<const Tensor> asked, std::span<const Tensor> kept,
                                     Executable executable) {
  if (executable.device() || executable.mesh()) return std::nullopt;
  LazyPlan plan;
  plan.types_.assign(types.begin(), types.end());
  absl::flat_hash_map<ValueKey, std::uint32_t> values;
  absl::flat_hash_map<const Node*, std::uint32_t> lazy;
  for (const Tensor& value : program.values)
    values.emplace(value, static_cast<std::uint32_t>(values.size()));
  plan.steps_.reserve(program.steps.size());
  for (const LazyProgram::Step& step : program.steps) {
    const Node* node = step.node.node();
    if (step.again || !step.lazy || node->op->observer) return std::nullopt;
    lazy.emplace(step.lazy, static_cast<std::uint32_t>(plan.steps_.size()));
    plan.steps_.push_back({node->op, node->attributes, node->regions, node->types});
  }
  absl::flat_hash_set<std::uint32_t> seen_values, seen_steps;
  const auto use = [&](const Tensor& tensor) -> Use {
    if (const auto value = values.find(tensor); value != values.end()) {
      const bool is_first = seen_values.insert(value->second).second;
      return {value->second, tensor.result(), true, is_first};
    }
    const std::uint32_t number = lazy.at(tensor.node());
    return {number, tensor.result(), false, seen_steps.insert(number).second};
  };
  for (const Tensor& tensor : asked) {
    if (!is_lazy(tensor.node()) && !is_constant(tensor.node())) return std::nullopt;
    plan.asked_.push_back(use(tensor));
    if (!plan.asked_.back().is_value) plan.steps_[plan.asked_.back().number].is_asked = true;
  }
  for (auto step = program.steps.rbegin(); step != program.steps.rend(); ++step) {
    for (const Tensor& operand : step->node.node()->operands) {
      const Use made = use(operand);
      if (!made.is_value) plan.steps_[made.number].handles++;
      plan.operands_.push_back(made);
    }
  }
  plan.operands_.shrink_to_fit();
  plan.kept_.reserve(kept.size());
  for (const Tensor& tensor : kept) {
    plan.kept_.push_back(lazy.at(tensor.node()));
    plan.steps_[plan.kept_.back()].is_kept = true;
    plan.results_ += tensor.node()->types.size();
  }
  plan.executable_ = std::move(executable);
  return plan;
}

void LazyPlan::count_held(HeldBytes& held) const {
  held.elements(types_);
  held.elements(asked_);
  held.elements(operands_);
  held.elements(steps_);
  for (const Step& step : steps_) {
    held.elements(step.regions);
    held.elements(step.types);
  }
  held.elements(kept_);
}

/// Matches a graph with the plan.
class LazyPlan::Match {
 public:
  explicit Match(const LazyPlan& plan) : plan_(plan) {
    values_.resize(plan.types_.size());
    lazy_.resize(plan.steps_.size());
    definitions_.resize(plan.steps_.size());
    if (!rondo::detail::is_single_threaded()) held_.resize(plan.steps_.size());
  }

  bool is_like(std::span<const Tensor> asked) {
    if (asked.size() != plan_.asked_.size()) return false;
    const Use* use = plan_.asked_.data();
    for (const Tensor& tensor : asked) {
      if (!fits(tensor, *use++)) return false;
    }
    use = plan_.operands_.data();
    // Decreasing ids imply that these nodes are all different.
    std::uint64_t last_id = UINT64_MAX;
    for (std::size_t i = plan_.steps_.size(); i-- > 0;) {
      const Node* const node = definitions_[i];
      if (node->id >= last_id || !fits(*node, plan_.steps_[i], *lazy_[i])) return false;
      last_id = node->id;
      for (const Tensor& operand : node->operands) {
        if (!fits(operand, *use++)) return false;
      }
    }
    return true;
  }

  const Literal& value(std::size_t i) const { return *known_value(*values_[i]); }
  Tensor lazy(std::size_t step) const { return Tensor::of(lazy_[step]); }

 private:
  bool fits(const Tensor& tensor, const Use& use) {
    if (use.is_value) {
      const Tensor*& place = values_[use.number];
      if (!use.is_first) return place->same_as(tensor);
      place = &tensor;
      const Literal* const literal = value_here(tensor);
      return literal && literal->type() == plan_.types_[use.number];
    }
    if (tensor.value() || tensor.result() != use.result) return false;
    const Node* const node = tensor.node();
    if (!use.is_first) return node == lazy_[use.number];
    if (!is_lazy(node)) return false;
    lazy_[use.number] = node;
    // If other threads may release the definition, it is retained.
    if (!held_.empty()) held_[use.number] = node->cell->definition();
    const Node* const definition =
        held_.empty() ? node->cell->definition_of_one_thread() : held_[use.number].node();
    definitions_[use.number] = definition;
    return definition != nullptr;
  }
  static bool fits(const Node& node, const Step& step, const Node& lazy) {
    if (node.op != step.op || !(node.attributes == step.attributes) ||
        node.regions.size() != step.regions.size()) {
      return false;
    }
    const auto same = [](const Function& a, const Function& b) { return a.same_as(b); };
    if (!step.regions.empty() &&
        !std::equal(step.regions.begin(), step.regions.end(), node.regions.begin(), same)) {
      return false;
    }
    if (!std::equal(node.types.begin(), node.types.end(), step.types.begin(), step.types.end()))
      return false;
    const bool is_held = lazy.references.load(std::memory_order_relaxed) > step.handles;
    return step.is_asked || is_held == step.is_kept;
  }
  static const Literal* value_here(const Tensor& tensor) {
    return is_elsewhere(tensor) ? nullptr : known_value(tensor);
  }

  template <class T>
  using List = absl::InlinedVector<T, 16>;

  const LazyPlan& plan_;
  List<const Tensor*> values_;
  List<const Node*> lazy_;         // for each step
  List<const Node*> definitions_;  // the same
  List<Tensor> held_;              // the same, or empty
};

bool LazyPlan::run(std::span<const Tensor> asked) const {
  Match match(*this);
  if (!match.is_like(asked)) return false;
  absl::InlinedVector<Tensor, 4> kept;
  absl::InlinedVector<std::unique_ptr<LazyValues>, 4> values;
  for (const std::uint32_t step : kept_) {
    kept.push_back(match.lazy(step));
    values.push_back(std::make_unique<LazyValues>());
  }
  compute(match, absl::MakeSpan(values));
  for (std::size_t i = 0; i < kept.size(); i++)
    kept[i].node()->cell->set_values(std::move(values[i]));
  return true;
}

void LazyPlan::compute(const Match& match,
                       absl::Span<const std::unique_ptr<LazyValues>> values) const {
  if (!executable_.runs_on_memory()) {
    std::vector<Literal> arguments;
    for (std::size_t i = 0; i < types_.size(); i++) arguments.push_back(match.value(i));
    std::vector<Literal> results = executable_.run(arguments);
    auto next = results.begin();
    for (std::size_t i = 0; i < kept_.size(); i++) {
      for (std::size_t n = steps_[kept_[i]].types.size(); n > 0; n--)
        values[i]->list.push_back(std::move(*next++));
    }
    return;
  }
  absl::InlinedVector<const std::byte*, 16> from(types_.size());
  for (std::size_t i = 0; i < from.size(); i++) from[i] = match.value(i).bytes();
  absl::InlinedVector<std::byte*, 4> to;
  for (std::size_t i = 0; i < kept_.size(); i++) {
    for (const TensorType& type : steps_[kept_[i]].types) {
      values[i]->list.push_back(Literal::uninitialized(type));
      to.push_back(values[i]->list.back().mutable_bytes());
    }
  }
  executable_.run_on_memory(from.data(), to.data(), {});
}

}  // namespace rondo::ir
