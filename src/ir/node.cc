#include "ir/node.h"

#include <utility>

#include "fmt/format.h"
#include "ir/lazy.h"

namespace rondo::ir {

namespace {

std::atomic<std::uint64_t> next_node_id{1};

/// Nodes whose last handle went while another node is being destroyed. A chain of a million nodes
/// would otherwise recurse.
struct DestructionQueue {
  std::vector<const Node*> pending;
  bool running = false;
};
thread_local DestructionQueue* destruction_queue = nullptr;

thread_local const SourceLocation* location_in_force = nullptr;

void destroy(const Node* first) {
  if (destruction_queue) {
    destruction_queue->pending.push_back(first);
    return;
  }
  DestructionQueue queue;
  destruction_queue = &queue;
  queue.pending.push_back(first);
  while (!queue.pending.empty()) {
    const Node* node = queue.pending.back();
    queue.pending.pop_back();
    delete node;
  }
  destruction_queue = nullptr;
}

Node* allocate_node(const OpDef& op, Operands operands, Attributes attributes, ResultTypes types,
                    std::vector<Function> regions, SourceLocation at) {
  Node* node = new Node;
  node->op = &op;
  node->id = next_node_id.fetch_add(1, std::memory_order_relaxed);
  node->file = at.file;
  node->function = at.function;
  node->line = at.line;
  node->attributes = std::move(attributes);
  node->operands = std::move(operands);
  node->types = std::move(types);
  node->regions = std::move(regions);
  return node;
}

InferredTypes infer_constant(const InferContext& context) {
  return {context.attrs<ConstantAttributes>().value.type()};
}

}  // namespace

const OpDef kConstant{.name = "constant",
                      .hlo = "constant",
                      .stablehlo = "stablehlo.constant",
                      .arity = 0,
                      .infer = infer_constant,
                      .kind = OpKind::kConstant,
                      .zero_derivative = true};
const OpDef kParameter{
    .name = "parameter", .hlo = "parameter", .arity = 0, .kind = OpKind::kParameter};

LocationScope::LocationScope(SourceLocation at) noexcept
    : at_(at), outer_(std::exchange(location_in_force, &at_)) {}
LocationScope::~LocationScope() { location_in_force = outer_; }

Node::~Node() { delete values.load(std::memory_order_acquire); }

void retain(const Node* node) noexcept { node->references.fetch_add(1, std::memory_order_relaxed); }

void release(const Node* node) noexcept {
  if (node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node);
}

std::uint64_t next_id() noexcept { return next_node_id.load(std::memory_order_relaxed); }

void fail(std::string_view op, std::string_view message, SourceLocation at) {
  const std::string_view finding = message.substr(0, message.find('\n'));
  throw TraceError(
      fmt::format("{}: {}\n  at {}{}", op, finding, at.str(), message.substr(finding.size())), at);
}

void InferContext::fail(const std::string& message) const { ir::fail(op.name, message, at); }

const Tensor& checked(const Tensor& tensor, const char* op, SourceLocation at) {
  if (tensor.empty()) {
    throw TraceError(fmt::format("{}: an operand is an empty Tensor{}\n  Give it a value first: a "
                                 "default-constructed Tensor has none.",
                                 op, at.line == 0 ? "" : "\n  at " + at.str()),
                     at);
  }
  return tensor;
}

Tensor make(const OpDef& op, Operands operands, Attributes attributes, SourceLocation at,
            std::vector<Function> regions) {
  if (location_in_force) at = *location_in_force;
  for (const Tensor& operand : operands) checked(operand, op.name.data(), at);
  if (op.arity >= 0 && static_cast<int>(operands.size()) != op.arity) {
    throw InternalError(
        fmt::format("{}: {} operands, the record says {}", op.name, operands.size(), op.arity), at);
  }
  InferredTypes types = op.infer({op, operands, attributes, regions, at});
  Tensor made = make_typed(op, std::move(operands), std::move(attributes), std::move(types), at,
                           std::move(regions));
  if (eager_active() && !made.node()->types.empty()) evaluate_eagerly(made.node());
  return made;
}

Tensor make_typed(const OpDef& op, Operands operands, Attributes attributes, ResultTypes types,
                  SourceLocation at, std::vector<Function> regions) {
  return Tensor::of(allocate_node(op, std::move(operands), std::move(attributes), std::move(types),
                                  std::move(regions), at));
}

std::vector<Tensor> make_many(const OpDef& op, Operands operands, Attributes attributes,
                              SourceLocation at, std::vector<Function> regions) {
  return results_of(
      make(op, std::move(operands), std::move(attributes), at, std::move(regions)).node());
}

std::vector<Tensor> results_of(const Node* node) {
  std::vector<Tensor> results;
  results.reserve(node->types.size());
  for (std::uint32_t i = 0; i < node->types.size(); i++) results.push_back(Tensor::of(node, i));
  return results;
}

Tensor rebuild(const Node* node, Operands operands, std::vector<Function> regions) {
  bool same = operands.size() == node->operands.size() && regions.size() == node->regions.size();
  for (std::size_t i = 0; same && i < operands.size(); i++)
    same = operands[i].same_as(node->operands[i]);
  for (std::size_t i = 0; same && i < regions.size(); i++)
    same = regions[i].same_as(node->regions[i]);
  if (same) return Tensor::of(node);
  return make_typed(*node->op, std::move(operands), node->attributes, node->types, node->location(),
                    std::move(regions));
}

Tensor rebuild(const Node* node, Operands operands) {
  return rebuild(node, std::move(operands), node->regions);
}

Tensor make_constant(Literal value, SourceLocation at) {
  if (value.elements() > 0 && !value.bytes())
    fail("constant", "the literal was moved from\n  Use it before it is moved, or copy it.", at);
  ResultTypes types{value.type()};
  return make_typed(kConstant, {}, ConstantAttributes{std::move(value)}, std::move(types), at);
}

const Literal* known_value(const Tensor& tensor) noexcept {
  const Node* node = tensor.node();
  if (!node) return nullptr;
  if (is_constant(node)) return &node->attrs<ConstantAttributes>().value;
  const auto* values = node->values.load(std::memory_order_acquire);
  return values ? &(*values)[tensor.result()] : nullptr;
}

void print_field(std::string& out, const std::shared_ptr<RegionToken>& region) {
  out += region ? region->what : "-";
}

Tensor make_parameter(TensorType type, std::string name, std::int64_t index,
                      std::shared_ptr<RegionToken> region, SourceLocation at) {
  return make_typed(kParameter, {}, ParameterAttributes{std::move(region), index, std::move(name)},
                    {std::move(type)}, at);
}

}  // namespace rondo::ir
