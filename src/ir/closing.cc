// From tensors to a closed function.
#include <algorithm>
#include <utility>

#include "ir/function_data.h"
#include "ir/lazy.h"

namespace rondo::ir {

Function close(Function::Data data, Replay replay) {
  if (!replay.empty()) {
    for (const Node*& node : data.body) {
      replay.copy(node);
      node = replay(Tensor::of(node)).node();
    }
    for (Tensor& result : data.results) result = replay(result);
  }
  return FunctionAccess::make(std::move(data));  // the replay keeps the copies alive
}

Function close_live(Function::Data data) {
  absl::flat_hash_set<const Node*> live;
  live.reserve(data.body.size());
  for (const Tensor& result : data.results) live.insert(result.node());
  std::vector<const Node*> body;
  for (auto at = data.body.rbegin(); at != data.body.rend(); ++at) {
    if (!live.contains(*at)) continue;
    body.push_back(*at);
    for (const Tensor& operand : (*at)->operands) live.insert(operand.node());
  }
  data.body.assign(body.rbegin(), body.rend());
  return FunctionAccess::make(std::move(data));
}

LazyProgram LazyProgram::from(std::span<const Tensor> results, bool constants_are_values,
                              const std::function<void(const Tensor&)>& parameter) {
  LazyProgram program;
  absl::flat_hash_set<ValueKey> values;
  absl::flat_hash_set<const Node*> seen;
  std::vector<const Node*> stack;
  const auto visit = [&](const Tensor& tensor) {
    const Node* node = tensor.node();
    const bool is_value =
        is_lazy(node) ? node->cell->evaluated() : constants_are_values && is_constant(node);
    if (is_value) {
      if (values.insert(tensor).second) program.values.push_back(tensor);
      return;
    }
    if (!seen.insert(node).second) return;
    if (is_parameter(node)) return parameter(tensor);
    if (!is_lazy(node)) {
      stack.push_back(node);
      program.steps.push_back({Tensor::of(node)});
      return;
    }
    Tensor definition = node->cell->definition();
    if (definition.empty()) {  // it has been evaluated since
      seen.erase(node);
      if (values.insert(tensor).second) program.values.push_back(tensor);
      return;
    }
    const bool is_new = seen.insert(definition.node()).second;
    if (is_new) stack.push_back(definition.node());
    program.steps.push_back({std::move(definition), node, !is_new});
  };
  for (const Tensor& result : results) visit(result);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Tensor& operand : node->operands) visit(operand);
  }
  std::sort(program.steps.begin(), program.steps.end(), [](const Step& a, const Step& b) {
    return std::pair(a.node.node()->id, a.again) < std::pair(b.node.node()->id, b.again);
  });
  return program;
}

Function LazyProgram::close(std::string name, std::vector<Tensor> params,
                            std::span<const Tensor> ends, std::vector<Tensor> results,
                            std::vector<std::string> result_names) const {
  Function::Data data{std::move(name), std::move(params), {}, {}, std::move(result_names)};
  Replay replay;
  for (std::size_t i = 0; i < values.size(); i++) {
    replay.bind(values[i], ends[i]);
    if (is_constant(ends[i].node())) data.body.push_back(ends[i].node());
  }
  for (const Step& step : steps) {
    replay.copy(step.node.node());
    const Tensor copied = replay(step.node);
    if (step.lazy) replay.bind_results(step.lazy, copied);
    if (!step.again) data.body.push_back(copied.node());
  }
  for (const Tensor& result : results) data.results.push_back(replay(result));
  return FunctionAccess::make(std::move(data));
}

}  // namespace rondo::ir
