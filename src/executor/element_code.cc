#include "executor/element_code.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "lower/opcodes.h"

namespace rondo::executor {

bool has_element_code(const Node& node) {
  const Strategy form = strategy_of(node);
  return form == Strategy::kConstant || (form == Strategy::kElement && !node.operands.empty()) ||
         form == Strategy::kForward || form == Strategy::kRead || form == Strategy::kAlias;
}

std::int64_t element_work(const Node& node) {
  Builder builder;
  const Value nowhere = builder.buffer({lower::Storage::kArena, 0, 0, 0});
  std::vector<Element> operands;
  for (const Tensor& operand : node.operands) {
    const auto offset = static_cast<std::int64_t>(operands.size()) * 16;
    operands.push_back(builder.load_element(operand.dtype(), {nowhere, offset, {}}));
  }
  const std::size_t before = builder.program().code.size();
  const auto index = [&](std::int64_t) { return builder.index(0); };
  node.op->structure.element({node, builder, operands, index});
  std::int64_t work = 0;
  const std::vector<lower::Op>& code = builder.program().code;
  for (std::size_t at = before; at < code.size(); at++) work += lower::op_work(code[at]);
  return work;
}

namespace {

/// Threshold: Steps of an op whose code is written in place of a call, in C source: as long as the
/// call. Not measured.
constexpr std::size_t kMostSteps = 4;

/// Arithmetic on one or two real numbers of one type, which nothing but its operands determines.
bool may_be_function(const Node& node) {
  const DType dtype = node.type().dtype;
  if (dtype != DType::kF32 && dtype != DType::kF64) return false;
  if (!(node.attributes == ir::Attributes(ir::NoAttributes()))) return false;
  if (node.operands.empty() || node.operands.size() > 2) return false;
  return std::all_of(node.operands.begin(), node.operands.end(),
                     [&](const Tensor& operand) { return operand.dtype() == dtype; });
}

std::shared_ptr<const lower::Program> function_code(const Node& node, bool contracts) {
  Builder builder;
  builder.set_contracts(contracts);
  const lower::Type type = lower::type_of(node.type().dtype);
  const std::int64_t bytes = lower::width(type);
  std::vector<Element> operands;
  for (std::uint32_t i = 0; i < node.operands.size(); i++) {
    const Value pointer = builder.buffer({lower::Storage::kArgument, i, 0, bytes});
    operands.push_back({builder.load(type, {pointer, 0, {}})});
  }
  const auto index = [&](std::int64_t) { return builder.index(0); };
  const Element made = node.op->structure.element({node, builder, operands, index});
  builder.store_element(made, {builder.buffer({lower::Storage::kResult, 0, 0, bytes}), 0, {}});
  return std::make_shared<const lower::Program>(builder.finish());
}

/// Null if the op is no call.
const lower::MathFunction* function_of(const Node& node, Builder& builder) {
  const auto kind = builder.functions();
  if (kind == Builder::Functions::kInlined || !may_be_function(node)) return nullptr;
  const bool single = node.type().dtype == DType::kF32;
  const std::string_view of_library = node.op->text.c;
  const bool from_library = kind == Builder::Functions::kOfLibrary && !of_library.empty();
  const std::string name = from_library ? std::string(of_library) + (single ? "f" : "")
                                        : std::string(node.op->name) + (single ? "_f32" : "_f64");
  auto& known = builder.program().functions;
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const auto& function) { return function.name == name; });
  if (found != known.end()) return &*found;
  std::shared_ptr<const lower::Program> code;
  if (!from_library) {
    code = function_code(node, builder.contracts());
    // Beside its operands, where they are, its result, and the store.
    if (code->code.size() <= kMostSteps + 2 * node.operands.size() + 2) return nullptr;
  }
  known.push_back({known.size() + 1, name, std::move(code)});
  return &known.back();
}

}  // namespace

Element element_of(const Node& node, Builder& builder, std::span<const Element> operands,
                   absl::FunctionRef<Value(std::int64_t axis)> index) {
  const lower::Located located(builder, node.location());
  const lower::MathFunction* function = function_of(node, builder);
  if (function == nullptr) return node.op->structure.element({node, builder, operands, index});
  return {builder.call_function(*function, operands[0][0],
                                operands.size() > 1 ? operands[1][0] : lower::kNone)};
}

bool is_element_code(const Function& region) {
  const auto has_one_element = [](const Tensor& value) { return is_scalar(value.type()); };
  return std::all_of(region.body().begin(), region.body().end(), [&](const Node* node) {
    return has_element_code(*node) &&
           std::all_of(node->types.begin(), node->types.end(), is_scalar) &&
           std::all_of(node->operands.begin(), node->operands.end(), has_one_element);
  });
}

bool equal_elements(const Node& constant) {
  const Literal& value = constant.attrs<ir::ConstantAttributes>().value;
  const std::int64_t width = byte_width(value.dtype());
  return value.elements() > 0 &&
         std::memcmp(value.bytes(), value.bytes() + width,
                     static_cast<std::size_t>(value.type().bytes() - width)) == 0;
}

Element first_element(Builder& builder, const Node& constant) {
  const Literal& value = constant.attrs<ir::ConstantAttributes>().value;
  const Type part = lower::type_of(value.dtype());
  Element element;
  for (std::int64_t at = 0; at < byte_width(value.dtype()); at += lower::width(part)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value.bytes() + at, static_cast<std::size_t>(lower::width(part)));
    element.push_back(builder.constant(part, bits));
  }
  return element;
}

std::vector<Element> region_elements(
    Builder& builder, const Function& region, std::span<const Element> arguments,
    std::span<const std::size_t> outputs,
    const std::function<std::vector<Element>(const Node&, std::span<const Element>)>& other) {
  absl::flat_hash_set<const Node*> needed;
  for (const std::size_t i : outputs) needed.insert(region.outputs()[i].node());
  for (auto node = region.body().rbegin(); node != region.body().rend(); ++node) {
    if (!needed.contains(*node)) continue;
    for (const Tensor& operand : (*node)->operands) needed.insert(operand.node());
  }
  absl::flat_hash_map<ir::ValueKey, Element> values;
  for (std::size_t i = 0; i < arguments.size(); i++)
    values.emplace(region.parameters()[i], arguments[i]);
  std::vector<Element> operands;
  for (const Node* node : region.body()) {
    if (!needed.contains(node)) continue;
    operands.clear();
    for (const Tensor& operand : node->operands) operands.push_back(values.at(operand));
    const Strategy form = strategy_of(*node);
    std::vector<Element> made;
    if (form == Strategy::kConstant && equal_elements(*node)) {
      made.push_back(first_element(builder, *node));
    } else if (form == Strategy::kElement && !operands.empty()) {
      const auto index = [&](std::int64_t) { return builder.index(0); };
      made.push_back(element_of(*node, builder, operands, index));
    } else if (form == Strategy::kForward) {
      made = operands;
    } else if (form == Strategy::kRead && is_scalar(node->operand_type(0))) {
      made.push_back(operands[0]);
    } else if (form == Strategy::kAlias && operands[0].size() == 1) {
      made.push_back({builder.bitcast(operands[0][0], lower::type_of(node->type().dtype))});
    } else if (form == Strategy::kAlias) {
      made.push_back(operands[0]);
    } else {
      made = other(*node, operands);
    }
    for (std::uint32_t i = 0; i < node->types.size(); i++)
      values.emplace(Tensor::of(node, i), made[i]);
  }
  std::vector<Element> results;
  for (const std::size_t i : outputs) results.push_back(values.at(region.outputs()[i]));
  return results;
}

}  // namespace rondo::executor
