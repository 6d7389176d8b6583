#include "rondo/function.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ir/region_walk.h"

namespace rondo {

namespace {

[[noreturn]] void foreign_parameter(const ir::Node* node, const std::string& name) {
  const auto& attributes = node->attrs<ir::ParameterAttributes>();
  throw TraceError(fmt::format("{} uses '{}' of {}{}, which is traced elsewhere\n  Return the "
                               "tensor from there as a result, or pass it in as an argument.",
                               name, attributes.name,
                               attributes.region ? attributes.region->what : "another program",
                               ir::in_brackets(node->location())),
                   node->location());
}

}  // namespace

Function Function::make(std::string name, std::vector<Tensor> params, std::vector<Tensor> results,
                        std::vector<std::string> result_names) {
  absl::flat_hash_set<const ir::Node*> own;
  for (const Tensor& param : params) own.insert(param.node());
  for (const Tensor& result : results) ir::checked(result, name.c_str(), {});
  const auto program = ir::LazyProgram::from(results, false, [&](const Tensor& parameter) {
    if (!own.contains(parameter.node())) foreign_parameter(parameter.node(), name);
  });
  std::vector<Tensor> constants;
  for (const Tensor& value : program.values)
    constants.push_back(ir::make_constant(*ir::known_value(value), value.node()->location()));
  return program.close(std::move(name), std::move(params), constants, std::move(results),
                       std::move(result_names));
}

Function FunctionAccess::make(Function::Data data) {
  for (const ir::Node* node : data.body) ir::retain(node);
  const auto destroy = [](Function::Data* held) {
    held->results.clear();
    ir::release_backwards(held->body);
    delete held;
  };
  Function function;
  function.data_ = {new Function::Data(std::move(data)), destroy};
  return function;
}

namespace {

[[noreturn]] void empty_function() {
  throw TraceError("this Function is empty\n  Make one with rondo::trace or a parser.");
}

}  // namespace

const std::string& Function::name() const {
  return data_ ? data_->name : (empty_function(), data_->name);
}
const std::vector<std::string>& Function::result_names() const {
  if (!data_) empty_function();
  return data_->result_names;
}
const std::vector<Tensor>& Function::parameters() const {
  if (!data_) empty_function();
  return data_->params;
}
const std::vector<Tensor>& Function::outputs() const {
  if (!data_) empty_function();
  return data_->results;
}
const std::vector<const ir::Node*>& Function::body() const {
  if (!data_) empty_function();
  return data_->body;
}

std::vector<TensorType> Function::params() const {
  std::vector<TensorType> types;
  for (const Tensor& param : parameters()) types.push_back(param.type());
  return types;
}

std::vector<TensorType> Function::results() const {
  std::vector<TensorType> types;
  for (const Tensor& result : outputs()) types.push_back(result.type());
  return types;
}

std::vector<std::string> Function::param_names() const {
  std::vector<std::string> names;
  for (const Tensor& param : parameters())
    names.push_back(param.node()->attrs<ir::ParameterAttributes>().name);
  return names;
}

namespace ir {

namespace {

/// A position that stops only at nodes with regions.
class HolderPlace : public BodyPlace {
 public:
  using BodyPlace::BodyPlace;
  const Node* next() {
    const Node* node = BodyPlace::next();
    while (node && node->regions.empty()) node = BodyPlace::next();
    return node;
  }
};

struct InsideOut : FunctionVisitor {
  explicit InsideOut(bool (*skipped)(const Function&)) : skip(skipped) {}
  std::optional<HolderPlace> enter(const Function& function, const Node* holder, std::size_t) {
    const bool skipped = function.empty() ? holder != nullptr : skip && skip(function);
    if (skipped || !seen.insert(function.identity()).second) return std::nullopt;
    return HolderPlace(function);
  }
  void leave(HolderPlace& place) { order.push_back(place.function()); }

  bool (*skip)(const Function&);
  absl::flat_hash_set<const void*> seen;
  std::vector<Function> order;
};

}  // namespace

std::vector<Function> regions_inside_out(const Function& function, bool (*skip)(const Function&)) {
  InsideOut visitor(skip);
  walk_regions(function, visitor);
  return std::move(visitor.order);
}

std::vector<Function> called_functions(const Function& function) {
  std::vector<Function> all = regions_inside_out(function);
  absl::flat_hash_set<const void*> called;
  for (const Function& each : all) {
    for (const Node* node : each.body()) {
      if (node->op->construct.flow == Flow::kCall) called.insert(node->regions[0].identity());
    }
  }
  std::erase_if(all, [&](const Function& each) { return !called.contains(each.identity()); });
  return all;
}

void Replay::bind(const Tensor& from, Tensor to) { map_.insert_or_assign(from, std::move(to)); }

Tensor Replay::operator()(const Tensor& tensor) const {
  auto found = map_.find(tensor);
  return found == map_.end() ? tensor : found->second;
}

Operands Replay::operands_of(const Node* node) const {
  Operands operands;
  operands.reserve(node->operands.size());
  for (const Tensor& operand : node->operands) operands.push_back((*this)(operand));
  return operands;
}

void Replay::copy(const Node* node) {
  const auto is_bound = [this](const Tensor& operand) { return map_.contains(operand); };
  if (std::none_of(node->operands.begin(), node->operands.end(), is_bound) ||
      map_.contains({node, 0})) {
    return;
  }
  Tensor copied = rebuild(node, operands_of(node));
  if (copied.node() != node) bind_results(node, copied);
}

void Replay::bind_results(const Node* from, const Tensor& to) {
  bind(Tensor::of(from), to);
  for (std::uint32_t i = 1; i < from->types.size(); i++)
    bind(Tensor::of(from, i), Tensor::of(to.node(), i));
}

std::vector<Tensor> Replay::inline_call(const Function& function,
                                        std::span<const Tensor> arguments) {
  Replay replay;
  for (std::size_t i = 0; i < arguments.size(); i++)
    replay.bind(function.parameters()[i], arguments[i]);
  // All nodes are new: those that depend on no parameter would otherwise belong to two programs,
  // and count as older than a region that is traced around this call.
  for (const Node* node : function.body()) {
    if (!is_constant(node))
      replay.bind_results(node, make_typed(*node->op, replay.operands_of(node), node->attributes,
                                           node->types, node->location(), node->regions));
  }
  std::vector<Tensor> results;
  for (const Tensor& result : function.outputs()) results.push_back(replay(result));
  return results;
}

}  // namespace ir

}  // namespace rondo
