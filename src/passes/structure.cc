#include "passes/structure.h"

#include <string_view>
#include <utility>

#include "ir/node.h"

namespace rondo::passes {

namespace {

/// A function in an order that depends on its wiring only: operands first, in the order in which
/// the results need them.
struct CanonicalOrder {
  std::vector<const ir::Node*> nodes;
  absl::flat_hash_map<const ir::Node*, std::uint64_t> numbers;  // the parameters' first

  explicit CanonicalOrder(const Function& function) {
    nodes.reserve(function.body().size());
    numbers.reserve(function.body().size() + function.parameters().size());
    for (const Tensor& param : function.parameters()) numbers.emplace(param.node(), numbers.size());
    std::vector<std::pair<const ir::Node*, std::size_t>> stack;  // with the next operand to look at
    constexpr std::uint64_t kUnderWay = ~std::uint64_t{0};
    auto visit = [&](const Tensor& tensor) {
      if (numbers.try_emplace(tensor.node(), kUnderWay).second)
        stack.emplace_back(tensor.node(), 0);
    };
    std::uint64_t next = numbers.size();
    for (const Tensor& result : function.outputs()) {
      visit(result);
      while (!stack.empty()) {
        auto& [node, operand] = stack.back();
        if (operand < node->operands.size()) {
          visit(node->operands[operand++]);
          continue;
        }
        numbers[node] = next++;
        nodes.push_back(node);
        stack.pop_back();
      }
    }
  }
};

void append_number(std::string& key, std::uint64_t value) {
  while (value >= 0x80) {
    key += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  key += static_cast<char>(value);
}

void append_bytes(std::string& key, std::string_view bytes) {
  append_number(key, bytes.size());
  key += bytes;
}

void append_type(std::string& key, const TensorType& type) {
  key += static_cast<char>(type.dtype);
  append_number(key, type.shape.size());
  for (std::int64_t dim : type.shape) append_number(key, static_cast<std::uint64_t>(dim));
}

void append_attributes(std::string& key, const ir::Node* node, std::string& scratch) {
  if (ir::is_constant(node)) {
    const Literal& value = node->attrs<ir::ConstantAttributes>().value;
    append_bytes(key, {reinterpret_cast<const char*>(value.bytes()),
                       static_cast<std::size_t>(value.type().bytes())});
    return;
  }
  scratch.clear();
  node->attributes.print(scratch);
  append_bytes(key, scratch);
}

bool order_is_seen(const ir::Node* node) { return node->op->observer || node->op->layout; }

/// The key of one function; its regions stand in it by number.
std::string flat_key(const Function& function, const CanonicalOrder& order,
                     const absl::flat_hash_map<const void*, std::uint32_t>& regions) {
  std::string key, scratch;
  append_number(key, function.parameters().size());
  for (const Tensor& param : function.parameters()) append_type(key, param.type());
  append_number(key, order.nodes.size());
  for (const ir::Node* node : order.nodes) {
    append_bytes(key, node->op->name);
    append_number(key, node->types.size());
    for (const TensorType& type : node->types) append_type(key, type);
    append_number(key, node->operands.size());
    const std::uint64_t own = order.numbers.at(node);
    for (const Tensor& operand : node->operands) {
      append_number(
          key,
          own - order.numbers.at(operand.node()));  // near in most cases, so that one byte will do
      append_number(key, operand.result());
    }
    append_attributes(key, node, scratch);
    append_number(key, node->regions.size());
    for (const Function& region : node->regions) append_number(key, regions.at(region.identity()));
  }
  append_number(key, function.outputs().size());
  for (const Tensor& result : function.outputs()) {
    append_number(key, order.numbers.at(result.node()));
    append_number(key, result.result());
  }
  for (const ir::Node* node : function.body()) {
    if (order_is_seen(node)) append_number(key, order.numbers.at(node));
  }
  return key;
}

/// A function whose regions are being numbered.
struct OpenStructure {
  Function function;
  CanonicalOrder order;
  std::size_t next_node = 0;
  std::size_t next_region = 0;
};

}  // namespace

std::uint32_t StructureTable::number(const Function& function) {
  std::vector<OpenStructure> stack;
  auto enter = [&](const Function& entered) {
    if (!by_identity_.contains(entered.identity()))
      stack.push_back({entered, CanonicalOrder(entered)});
  };
  enter(function);
  while (!stack.empty()) {
    OpenStructure& top = stack.back();
    if (top.next_node < top.order.nodes.size()) {
      const ir::Node* node = top.order.nodes[top.next_node];
      if (top.next_region < node->regions.size()) {
        enter(node->regions[top.next_region++]);
      } else {
        top.next_node++;
        top.next_region = 0;
      }
      continue;
    }
    std::string key = flat_key(top.function, top.order, by_identity_);
    const std::uint32_t number = by_key_.try_emplace(std::move(key), size()).first->second;
    by_identity_.emplace(top.function.identity(), number);
    kept_.push_back(std::move(top.function));
    stack.pop_back();
  }
  return by_identity_.at(function.identity());
}

std::string structural_key(const Function& function) {
  // Regions are met in an order that depends on structure only, so that their numbers do, whether
  // equal ones are one object or not.
  StructureTable table;
  table.number(function);
  std::vector<std::string_view> keys(table.size());
  std::size_t bytes = 0;
  for (const auto& [key, number] : table.by_key_) {
    keys[number] = key;
    bytes += key.size() + 10;
  }
  std::string all;
  all.reserve(bytes);
  for (std::string_view key : keys) append_bytes(all, key);
  return all;
}

}  // namespace rondo::passes
