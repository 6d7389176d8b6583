// Conditionals: one branch after the other, each writing its results to the same places.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/lowerer.h"
#include "lower/opcodes.h"

namespace rondo::executor {

std::optional<std::size_t> Lowerer::operand_to_write(Scope& scope, const Node* node,
                                                     std::uint32_t i, const std::vector<bool>& once,
                                                     std::uint32_t at) {
  const std::int32_t parameter = in_place_->parameter_of_branches(*node, i);
  if (parameter == InPlace::kNoParameter) return std::nullopt;
  const std::size_t operand =
      ir::region_layout(node)->operand_of_param(static_cast<std::size_t>(parameter));
  const Tensor& value = node->operands[operand];
  if (is_tape(Tensor::of(node, i))) {
    const bool all = std::all_of(
        node->regions.begin(), node->regions.end(),
        [&](const Function& branch) { return in_place_->parameter_of(branch, i) == parameter; });
    if (!all || place(scope, value).kind != Place::Kind::kTape) return std::nullopt;
  }
  if (!once[operand] || !is_last_use(scope, value, at)) return std::nullopt;
  return operand;
}

void Lowerer::open_conditional(const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  Scope& scope = scopes_.back();
  Construct construct(node, step.first_value);
  construct.branches.selector = place(scope, node->operands[0]).element[0];
  for (std::size_t i = 1; i < node->operands.size(); i++) {
    Place argument = place(scope, node->operands[i]);
    argument.writable = false;
    construct.arguments.push_back(std::move(argument));
  }
  const std::vector<bool> once = ir::given_once(node->operands);
  for (std::uint32_t i = 0; i < node->types.size(); i++) {
    Place result;
    const Tensor value = Tensor::of(node, i);
    if (lanes_ || (!is_tape(value) && is_scalar(node->types[i]))) {
    } else if (const auto operand = operand_to_write(scope, node, i, once, at)) {
      // The branches reuse it, one after the other.
      Place& from = place(scope, node->operands[*operand]);
      from.element.clear();
      result = from;
      construct.arguments[*operand - 1] = from;
      construct.carried[i].storage = from.storage;
      storages_[static_cast<std::size_t>(from.storage)].open_loops++;
      from.storage = -1;
      scope.destinations.erase(step.first_value + i);
    } else if (is_tape(value)) {
      result = new_tape(node->types[i], tapes_.at(value));
    } else {
      result = destination(scope, node, i);
    }
    construct.results.push_back(result);
  }
  construct.branches.values.resize(node->regions.size());
  constructs_.push_back(std::move(construct));
  open_branch();
}

void Lowerer::open_branch() {
  Construct& construct = constructs_.back();
  const std::size_t branch = construct.branches.current, count = construct.node->regions.size();
  if (branch + 1 < count) {
    const Value selector = construct.branches.selector;
    const Value chosen =
        builder_.type(selector) == Type::kPred
            ? selector
            : builder_.equal(selector,
                             builder_.number(builder_.type(selector), static_cast<double>(branch)));
    construct.branches.ifs.push_back(builder_.begin_if(chosen));
  }
  const std::vector<Place> arguments = construct.arguments;
  const std::vector<Place> results = construct.results;
  enter(Scope::Role::kBranch, construct.node->regions[branch]);
  Scope& scope = scopes_.back();
  bind(scope, arguments);
  const auto& outputs = scope.function.outputs();
  for (std::size_t i = 0; i < results.size(); i++) {
    const std::int32_t taken = constructs_.back().carried[i].storage;
    if (taken >= 0) reuse_buffer(scope, i, results[i]);
    if (results[i].kind != Place::Kind::kArray || taken >= 0) continue;
    Place to = results[i];
    to.writable = false;
    scope.destinations.try_emplace(scope.plan->value(outputs[i]), to);
  }
}

void Lowerer::reuse_buffer(Scope& scope, std::size_t result, const Place& memory) {
  const Node& node = *constructs_.back().node;
  Storage& storage = storages_[static_cast<std::size_t>(memory.storage)];
  storage.values = 1;
  const std::int32_t parameter = in_place_->parameter_of_branches(node, result);
  if (in_place_->parameter_of(scope.function, result) == parameter) return;
  // Only the result may overwrite the parameter.
  storage.values = 2;
  const Tensor& from = scope.function.parameters()[static_cast<std::size_t>(parameter)];
  scope.reused_buffers.try_emplace(scope.plan->value(scope.function.outputs()[result]),
                                   Scope::ReusedBuffer{scope.plan->value(from), memory});
}

void Lowerer::copy_outputs(Scope& scope, const Construct& construct) {
  const auto& outputs = scope.function.outputs();
  // A result may be in memory that another one reuses: if both update the same operand.
  absl::flat_hash_map<Value, std::size_t> taken_over;  // the result at a place that is reused
  for (std::size_t i = 0; i < outputs.size(); i++) {
    if (construct.carried[i].storage >= 0) taken_over.emplace(construct.results[i].pointer, i);
  }
  const auto overwrites_carry = [&](std::size_t output) {
    const auto found = taken_over.find(place(scope, outputs[output]).pointer);
    return found != taken_over.end() && found->second != output;
  };
  for (const bool first : {true, false}) {
    for (std::size_t i = 0; i < outputs.size(); i++) {
      const Place& to = construct.results[i];
      const Place& from = place(scope, outputs[i]);
      if (to.kind == Place::Kind::kArray && from.kind != Place::Kind::kSingle &&
          overwrites_carry(i) == first)
        copy(from.pointer, to.pointer, outputs[i].type().bytes());
    }
  }
}

void Lowerer::close_branch() {
  Scope& scope = scopes_.back();
  Construct& construct = constructs_.back();
  const auto& outputs = scope.function.outputs();
  std::vector<Value>& values = construct.branches.values[construct.branches.current];
  for (std::size_t i = 0; i < outputs.size(); i++) {
    const Place& from = place(scope, outputs[i]);
    if (lanes_) {
      construct.results[i] = lane_place(scope, outputs[i]);
      const Element& element = construct.results[i].element;
      values.insert(values.end(), element.begin(), element.end());
    } else if (construct.results[i].kind == Place::Kind::kTape)
      assign_tape(construct.results[i], scope, outputs[i]);
    else if (from.kind == Place::Kind::kSingle)
      values.insert(values.end(), from.element.begin(), from.element.end());
  }
  if (!lanes_) copy_outputs(scope, construct);
  absl::flat_hash_set<std::uint32_t> seen;
  for (const Tensor& output : outputs) {
    const std::uint32_t value = scope.plan->value(output);
    if (!ir::is_parameter(output.node()) && seen.insert(value).second) release(scope.places[value]);
  }
  release_parameters(scope);
  scopes_.pop_back();
  construct.branches.current++;
  if (construct.branches.current < construct.node->regions.size()) {
    builder_.begin_else();
    return open_branch();
  }
  std::vector<Value> chosen = construct.branches.values.back();
  for (std::size_t branch = construct.branches.ifs.size(); branch-- > 0;)
    chosen = builder_.end_if(construct.branches.values[branch], chosen);
  Scope& outer = scopes_.back();
  std::size_t at = 0;
  for (std::size_t i = 0; i < construct.results.size(); i++) {
    Place& result = outer.places[construct.first_value + i];
    const TensorType& type = construct.node->types[i];
    if (lanes_) {
      result = construct.results[i];
      if (is_scalar(type)) result.kind = Place::Kind::kSingle;
      for (Value& part : result.element) part = chosen[at++];
    } else if (construct.results[i].kind != Place::Kind::kTape && is_scalar(type)) {
      Element element{chosen[at++]};
      if (is_complex(type.dtype)) element.push_back(chosen[at++]);
      result = single(std::move(element));
    } else {
      result = construct.results[i];
      if (const std::int32_t taken = construct.carried[i].storage; taken >= 0) {
        Storage& storage = storages_[static_cast<std::size_t>(taken)];
        storage.values = 1;
        storage.open_loops--;
      }
    }
  }
  constructs_.pop_back();
  end_step(outer, outer.next - 1);
}

}  // namespace rondo::executor
