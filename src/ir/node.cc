#include "ir/node.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "fmt/format.h"
#include "ir/debuggers.h"
#include "ir/known_value.h"
#include "ir/lazy.h"
#include "ir/user_code.h"
#include "rondo/detail/reference_count.h"

namespace rondo::ir {

namespace {

std::atomic<std::uint64_t> next_node_id{1};

/// Nodes whose last handle was released while another node is being destroyed. A chain of a million
/// nodes would otherwise recurse.
class DestructionQueue {
 public:
  DestructionQueue() noexcept { in_force = this; }
  ~DestructionQueue() { in_force = nullptr; }
  DestructionQueue(const DestructionQueue&) = delete;
  DestructionQueue& operator=(const DestructionQueue&) = delete;

  void destroy(const Node* first) {
    delete first;
    while (!pending_.empty()) {
      const Node* node = pending_.back();
      pending_.pop_back();
      delete node;
    }
  }
  void push(const Node* node) { pending_.push_back(node); }
  static thread_local DestructionQueue* in_force;

 private:
  absl::InlinedVector<const Node*, 32> pending_;
};
constinit thread_local DestructionQueue* DestructionQueue::in_force = nullptr;

thread_local const SourceLocation* location_in_force = nullptr;

thread_local std::uint64_t made_by_thread = 0;
thread_local int build_depth = 0;

bool any_traced(std::span<const Tensor> operands) {
  return std::any_of(operands.begin(), operands.end(),
                     [](const Tensor& operand) { return operand.node()->traced; });
}

Operands both(const Tensor& a, const Tensor& b) {
  Operands operands;
  operands.push_back(a);
  operands.push_back(b);
  return operands;
}

constexpr std::uint32_t kMostLine = 0x7fffffffu;

Tensor plain_node(const OpDef& op, Operands&& operands, Attributes&& attributes,
                  ResultTypes&& types, SourceLocation at, std::vector<Function>&& regions) {
  return Tensor::adopt(new Node(op, std::move(operands), std::move(attributes), std::move(types),
                                std::move(regions), at));
}

[[gnu::noinline]] Tensor made_lazy(const Node* node) {
  return Tensor::adopt(new Node(std::make_unique<LazyCell>(Tensor::adopt(node)), *node));
}

/// The handle to a new node. It is a lazy tensor if it depends on no parameter and belongs to no
/// program.
Tensor handle_to(const Node* node) {
  if (node->traced || build_depth > 0 || node->types.empty()) return Tensor::adopt(node);
  // The value of a lazy tensor may be read as a whole, so it must be initialized.
  if (node->op->structure.unset)
    return node->op->expansion.rule(*Tensor::adopt(node).node(), {})[0];
  return made_lazy(node);
}

/// The same, evaluated if an EagerScope requires it.
[[gnu::noinline]] Tensor evaluated_if_eager(const Node* node) {
  if (node->traced) return Tensor::adopt(node);
  Tensor made = handle_to(node);
  if (is_lazy(made.node()) && eager_active()) keep_values({&made, 1}, made.node()->location());
  return made;
}

[[gnu::noinline]] Tensor inferred_binary(const OpDef& op, const Tensor& a, const Tensor& b,
                                         const SourceLocation& at) {
  return evaluated_if_eager(new Node(op, both(a, b), {}, {}, at));
}

/// Flattened: most nodes of a trace are created here.
[[gnu::flatten]] const Node* binary_node(const OpDef& op, const Tensor& a, const Tensor& b,
                                         const TensorType& type, bool is_traced,
                                         const SourceLocation& at) {
  return new Node(op, a, b, type, is_traced, at);
}

InferredTypes infer_constant(const InferContext& context) {
  return {context.attrs<ConstantAttributes>().value.type()};
}

}  // namespace

const OpDef kConstant{.name = "constant",
                      .arity = 0,
                      .kind = OpKind::kConstant,
                      .types = {.infer = infer_constant},
                      .derivative = {.zero = true},
                      .text = {.hlo = "constant", .stablehlo = "stablehlo.constant"}};
const OpDef kParameter{
    .name = "parameter", .arity = 0, .kind = OpKind::kParameter, .text = {.hlo = "parameter"}};

LocationScope::LocationScope(SourceLocation at) noexcept
    : at_(at), outer_(std::exchange(location_in_force, &at_)) {}
LocationScope::~LocationScope() { location_in_force = outer_; }

UserCode::UserCode() noexcept : outer_(std::exchange(location_in_force, nullptr)) {}
UserCode::~UserCode() { location_in_force = outer_; }

SourceLocation place_in_force(SourceLocation at) noexcept {
  return location_in_force ? *location_in_force : at;
}

BuildScope::BuildScope() noexcept { build_depth++; }
BuildScope::~BuildScope() { build_depth--; }

Node::Node(const OpDef& record, Operands&& inputs, Attributes&& node_attributes,
           ResultTypes&& node_types, std::vector<Function>&& node_regions, SourceLocation at,
           std::unique_ptr<LazyCell> node_cell)
    : line(at.line & kMostLine),
      traced(&record == &kParameter || any_traced(inputs)),
      op(&record),
      id(take_id()),
      operands(std::move(inputs)),
      cell(std::move(node_cell)),
      attributes(std::move(node_attributes)),
      regions(std::move(node_regions)),
      types(std::move(node_types)),
      file(at.file),
      function(at.function) {}
Node::Node(const OpDef& record, Operands&& inputs, Attributes&& node_attributes,
           std::vector<Function>&& node_regions, SourceLocation at)
    : line(at.line & kMostLine),
      traced(any_traced(inputs)),
      op(&record),
      id(take_id()),
      operands(std::move(inputs)),
      attributes(std::move(node_attributes)),
      regions(std::move(node_regions)),
      types(record.types.infer({record, operands, attributes, regions, at})),
      file(at.file),
      function(at.function) {}
inline Node::Node(const OpDef& record, const Tensor& a, const Tensor& b, const TensorType& type,
                  bool is_traced, const SourceLocation& at)
    : line(at.line & kMostLine),
      traced(is_traced),
      op(&record),
      id(take_id()),
      operands(a, b),
      types(type),
      file(at.file),
      function(at.function) {}
Node::Node(std::unique_ptr<LazyCell> node_cell, const Node& definition)
    : line(definition.line),
      traced(false),
      op(&LazyCell::kOp),
      id(take_id()),
      cell(std::move(node_cell)),
      types(definition.types.data(), definition.types.size()),
      file(definition.file),
      function(definition.function) {}
Node::Node(Literal&& value, SourceLocation at)
    : line(at.line & kMostLine),
      traced(false),
      op(&kConstant),
      id(take_id()),
      attributes(ConstantAttributes{std::move(value)}),
      types(attributes.as<ConstantAttributes>().value.type()),
      file(at.file),
      function(at.function) {}
Node::Node(const Literal& value, std::uint64_t known_id)
    : line(0),
      traced(false),
      op(&kConstant),
      id(known_id),
      attributes(ConstantAttributes{value}),
      types(value.type()),
      file(SourceLocation().file),
      function(SourceLocation().function) {}
Node::~Node() = default;

[[gnu::noinline]] void Regions::Deleter::operator()(
    const std::vector<Function>* list) const noexcept {
  delete list;
}

[[gnu::noinline]] void destroy(const Node* node) noexcept {
  if (DestructionQueue::in_force)
    DestructionQueue::in_force->push(node);
  else
    DestructionQueue().destroy(node);
}

[[gnu::flatten]] void release_backwards(std::span<const Node* const> nodes) noexcept {
  if (DestructionQueue::in_force) {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) release(*node);
    return;
  }
  DestructionQueue queue;
  constexpr std::ptrdiff_t kAhead = 8;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (nodes.rend() - node > kAhead) {
      __builtin_prefetch(node[kAhead]);
      __builtin_prefetch(&node[kAhead]->types);
    }
    if (detail::drop_reference((*node)->references)) queue.destroy(*node);
  }
}

std::uint64_t take_ids(std::uint64_t count) noexcept {
  made_by_thread += count;
  if (!detail::is_single_threaded())
    return next_node_id.fetch_add(count, std::memory_order_relaxed);
  const std::uint64_t id = next_node_id.load(std::memory_order_relaxed);
  next_node_id.store(id + count, std::memory_order_relaxed);
  return id;
}
std::uint64_t take_id() noexcept { return take_ids(1); }
std::uint64_t nodes_made() noexcept { return made_by_thread; }
std::uint64_t next_id() noexcept { return next_node_id.load(std::memory_order_relaxed); }

void fail(std::string_view op, std::string_view message, SourceLocation at) {
  const std::string_view finding = message.substr(0, message.find('\n'));
  throw TraceError(
      fmt::format("{}: {}\n  at {}{}", op, finding, at.str(), message.substr(finding.size())), at);
}

void InferContext::fail(const std::string& message) const { ir::fail(op.name, message, at); }

const Tensor& checked(const Tensor& tensor, const char* op, SourceLocation at) {
  if (tensor.empty()) {
    throw TraceError(
        fmt::format("{}: an operand is an empty Tensor{}\n  Give it a value first: a "
                    "default-constructed Tensor has none, nor one that was moved from.",
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
  return evaluated_if_eager(
      new Node(op, std::move(operands), std::move(attributes), std::move(regions), at));
}

Tensor make_of_equals(const OpDef& op, const Tensor& a, const Tensor& b, const SourceLocation& at) {
  const Node* const left = a.node();
  const Node* const right = b.node();
  const TensorType& type = left->types[a.result()];
  if (!(type == right->types[b.result()])) return {};
  const SourceLocation& place = location_in_force ? *location_in_force : at;
  if (!(op.types.keeps_dtypes & dtypes(type.dtype))) return inferred_binary(op, a, b, place);
  const bool is_traced = left->traced || right->traced;
  const Node* const node = binary_node(op, a, b, type, is_traced, place);
  return is_traced ? Tensor::adopt(node) : evaluated_if_eager(node);
}

Tensor make_typed(const OpDef& op, Operands operands, Attributes attributes, ResultTypes types,
                  SourceLocation at, std::vector<Function> regions) {
  return handle_to(new Node(op, std::move(operands), std::move(attributes), std::move(types),
                            std::move(regions), at));
}

std::vector<Tensor> make_many(const OpDef& op, Operands operands, Attributes attributes,
                              SourceLocation at, std::vector<Function> regions) {
  return results_of(
      make(op, std::move(operands), std::move(attributes), at, std::move(regions)).node());
}

std::vector<bool> given_once(std::span<const Tensor> operands) {
  absl::InlinedVector<ValueKey, 8> sorted(operands.begin(), operands.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<bool> once(operands.size());
  for (std::size_t i = 0; i < operands.size(); i++) {
    const auto [first, last] =
        std::equal_range(sorted.begin(), sorted.end(), ValueKey(operands[i]));
    once[i] = last - first == 1;
  }
  return once;
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
  return plain_node(*node->op, std::move(operands), Attributes(node->attributes),
                    ResultTypes(node->types), node->location(), std::move(regions));
}

Tensor rebuild(const Node* node, Operands operands) {
  return rebuild(node, std::move(operands), node->regions);
}

void check_not_moved_from(const Literal& value, SourceLocation at) {
  if (value.bytes() || value.elements() == 0) return;
  fail("constant", "the literal was moved from\n  Use it before it is moved, or copy it.", at);
}

Tensor make_constant(Literal value, SourceLocation at) {
  check_not_moved_from(value, at);
  if (location_in_force) at = *location_in_force;
  return Tensor::adopt(new Node(std::move(value), at));
}

const Literal* constant_value(const Tensor& tensor) noexcept {
  if (const KnownValue* known = tensor.value()) return &known->literal();
  const Node* node = tensor.node();
  return node && is_constant(node) ? &node->attrs<ConstantAttributes>().value : nullptr;
}

const Literal* known_value(const Tensor& tensor) {
  if (const KnownValue* known = tensor.value()) return &known->literal();
  const Node* node = tensor.node();
  if (!node || !node->cell) return constant_value(tensor);
  return node->cell->value(tensor.result());
}

std::string_view op_name(const Node* node) noexcept {
  return node->cell ? node->cell->op().name : node->op->name;
}

Tensor make_parameter(TensorType type, std::string name, std::int64_t index,
                      std::shared_ptr<RegionToken> region, SourceLocation at) {
  return plain_node(kParameter, {}, ParameterAttributes{std::move(region), index, std::move(name)},
                    {std::move(type)}, at, {});
}

}  // namespace rondo::ir

namespace rondo {

[[gnu::noinline]] void Tensor::destroy(std::uintptr_t held) noexcept {
  if (held & kIsValue)
    reinterpret_cast<const ir::KnownValue*>(held ^ kIsValue)->destroy();
  else
    ir::destroy(reinterpret_cast<const ir::Node*>(held));
}

}  // namespace rondo
