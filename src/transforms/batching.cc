#include "transforms/batching.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "transforms/tangents.h"

namespace rondo::transforms {

namespace {

using ir::BatchCall;
using ir::BatchValue;
using ir::BatchValues;

[[noreturn]] void cannot_batch(const Node& node) {
  throw TraceError(
      fmt::format("{}: vmap cannot batch this op{}{}\n  at {}\n  Keep what it computes with the "
                  "same in all lanes, or map over them with rondo::map.",
                  node.op->name, node.op->batching.why_not.empty() ? "" : ": ",
                  node.op->batching.why_not, node.location().str()),
      node.location());
}

/// The results of a function's nodes that are used.
absl::flat_hash_set<ValueKey> used_values(const Function& function) {
  absl::flat_hash_set<ValueKey> used;
  for (const Tensor& output : function.outputs()) used.insert(ValueKey(output));
  for (const Node* node : function.body()) {
    for (const Tensor& operand : node->operands) used.insert(ValueKey(operand));
  }
  return used;
}

}  // namespace

BatchValues Batcher::batch(const Function& function, std::span<const BatchValue> arguments,
                           const Tensor& active) {
  struct Restore {
    Tensor& place;
    Tensor value;
    ~Restore() { place = value; }
  } const restore{active_, std::exchange(active_, active)};
  absl::flat_hash_map<ValueKey, BatchValue> known;
  for (std::size_t i = 0; i < arguments.size(); i++)
    known.insert_or_assign(ValueKey(function.parameters()[i]), arguments[i]);
  const auto value_of = [&](const Tensor& tensor) {
    const auto found = known.find(ValueKey(tensor));
    return found == known.end() ? BatchValue{tensor} : found->second;  // a constant
  };
  const absl::flat_hash_set<ValueKey> used = used_values(function);
  for (const Node* node : function.body()) {
    if (ir::is_constant(node)) continue;
    BatchValues operands;
    for (const Tensor& operand : node->operands) operands.push_back(value_of(operand));
    Flags used_results;
    for (std::uint32_t r = 0; r < node->types.size(); r++)
      used_results.push_back(used.contains(ValueKey(node, r)));
    BatchValues results = batch_node(*node, operands, used_results);
    if (notes_all_ops_ && expansions_ == 0 && !noted_.contains(node)) {
      const bool differs = std::any_of(results.begin(), results.end(),
                                       [](const BatchValue& value) { return value.batched; });
      keep_note({node->location(), std::string(node->op->name),
                 differs ? "batched" : "the same in all lanes", true});
    }
    for (std::uint32_t r = 0; r < results.size(); r++)
      known.insert_or_assign(ValueKey(node, r), std::move(results[r]));
  }
  BatchValues outputs;
  for (const Tensor& output : function.outputs()) outputs.push_back(value_of(output));
  return outputs;
}

const ir::BatchedFunction& Batcher::batched(const Function& function, const Flags& parameters) {
  const bool some = !active_.empty();
  const auto key = std::tuple(function.identity(), parameters, some);
  if (const auto found = batched_.find(key); found != batched_.end()) return found->second;
  ir::RegionTracer tracer(function.name(), "the batched " + function.name(), {});
  const std::vector<std::string> names = function.param_names();
  std::vector<Tensor> params;
  BatchValues arguments;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    const TensorType& type = function.parameters()[i].type();
    params.push_back(tracer.param(parameters[i] ? ir::with_lanes(type, lanes_) : type, names[i]));
    arguments.push_back({params.back(), parameters[i]});
  }
  if (some) params.push_back(tracer.param(active_.type(), "lanes"));
  ir::BatchedFunction made{{}, batched_results(function, parameters)};
  const BatchValues values = batch(function, arguments, some ? params.back() : Tensor());
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < values.size(); i++) {
    results.push_back(made.results[i] ? ir::full_value(values[i], lanes_, {}) : values[i].value);
  }
  made.function = Function::make(function.name(), std::move(params), std::move(results));
  kept_.push_back(function);
  return batched_.emplace(key, std::move(made)).first->second;
}

BatchValues Batcher::batch_node(const Node& node, const BatchValues& operands, const Flags& used) {
  const ir::LocationScope scope(node.location());
  const bool any = std::any_of(operands.begin(), operands.end(),
                               [](const BatchValue& value) { return value.batched; });
  if (!any && !asks_for_lanes(node)) {
    ir::Operands same;
    for (const BatchValue& operand : operands) same.push_back(operand.value);
    const Tensor copy = ir::make_typed(*node.op, std::move(same), node.attributes, node.types,
                                       node.location(), node.regions);
    BatchValues results;
    for (std::uint32_t r = 0; r < node.types.size(); r++)
      results.push_back({Tensor::of(copy.node(), r)});
    return results;
  }
  const BatchCall call{node, operands, used, *this};
  BatchValues results;
  if (!node.op->batching.why_not.empty())
    cannot_batch(node);
  else if (node.op->batching.rule)
    results = node.op->batching.rule(call);
  else if (node.op->structure.elementwise)
    results = ir::batch_alike(call);
  else if (node.op->expansion.rule)
    results = batch_expanded(call, node.op->expansion.rule);
  else
    cannot_batch(node);
  for (std::size_t r = 0; r < results.size(); r++) {
    const TensorType meant =
        results[r].batched ? ir::with_lanes(node.types[r], lanes_) : node.types[r];
    if (results[r].value.type() == meant) continue;
    throw InternalError(fmt::format("{}: its batching rule gives {} for {}", node.op->name,
                                    results[r].value.type().str(), meant.str()),
                        node.location());
  }
  return results;
}

BatchValues Batcher::batch_expanded(const BatchCall& call, ir::ExpandRule rule) {
  const std::string name(call.node.op->name);
  ir::RegionTracer tracer(name, "the expansion of " + name, call.at());
  std::vector<Tensor> params, arguments;
  for (std::size_t i = 0; i < call.operands.size(); i++) {
    params.push_back(tracer.param(call.type(i), "operand"));
    // The rule sees a constant as a constant, unless it holds the values of all lanes.
    const bool known = !call.batched(i) && ir::is_constant(call.x(i).node());
    arguments.push_back(known ? call.x(i) : params.back());
  }
  std::vector<Tensor> results = rule(call.node, arguments);
  const Function function = Function::make(name, std::move(params), std::move(results));
  expansions_++;
  BatchValues batched = batch(function, call.operands, active_);
  expansions_--;
  return batched;
}

Flags Batcher::batched_of_node(const Node& node, const Flags& operands) {
  if (node.op->batching.varying) return node.op->batching.varying(node, operands, *this);
  return Flags(node.types.size(), any_of(operands) || asks_for_lanes(node));
}

Flags Batcher::batched_results(const Function& function, const Flags& parameters) {
  const auto key = std::pair(function.identity(), parameters);
  if (const auto found = known_flags_.find(key); found != known_flags_.end()) return found->second;
  absl::flat_hash_set<ValueKey> batched;
  for (std::size_t i = 0; i < parameters.size(); i++) {
    if (parameters[i]) batched.insert(ValueKey(function.parameters()[i]));
  }
  for (const Node* node : function.body()) {
    Flags operands;
    for (const Tensor& operand : node->operands)
      operands.push_back(batched.contains(ValueKey(operand)));
    if (!any_of(operands) && !asks_for_lanes(*node)) continue;
    const Flags results = batched_of_node(*node, operands);
    for (std::uint32_t r = 0; r < results.size(); r++) {
      if (results[r]) batched.insert(ValueKey(node, r));
    }
  }
  Flags flags;
  for (const Tensor& output : function.outputs())
    flags.push_back(batched.contains(ValueKey(output)));
  kept_.push_back(function);
  known_flags_.insert_or_assign(key, flags);
  return flags;
}

bool Batcher::asks_for_lanes(const Node& node) {
  if (node.op->batching.axis_name)
    return !axis_name_.empty() && node.op->batching.axis_name(node) == axis_name_;
  if (axis_name_.empty()) return false;
  return std::any_of(node.regions.begin(), node.regions.end(),
                     [&](const Function& region) { return asks_for_lanes(region); });
}

bool Batcher::asks_for_lanes(const Function& function) {
  if (const auto found = asks_.find(function.identity()); found != asks_.end())
    return found->second;
  bool asks = false;
  for (const Node* node : function.body()) asks = asks || asks_for_lanes(*node);
  kept_.push_back(function);
  asks_.insert_or_assign(function.identity(), asks);
  return asks;
}

void Batcher::note(const Node& node, std::string text) {
  noted_.insert(&node);
  keep_note({node.location(), std::string(node.op->name), std::move(text)});
}

void Batcher::keep_note(BatchNote note) {
  const std::string told = fmt::format("{} {} {}", note.at.str(), note.op, note.text);
  if (told_.insert(told).second) notes_.push_back(std::move(note));
}

}  // namespace rondo::transforms
