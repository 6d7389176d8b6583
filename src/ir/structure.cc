#include "ir/structure.h"

#include <utility>

#include "absl/hash/hash.h"
#include "ir/canonical_order.h"
#include "ir/region_walk.h"

namespace rondo::ir {

namespace {

thread_local std::uint64_t made_by_this_thread = 0;

}  // namespace

class StructureWriter {
 public:
  void number(std::uint64_t value) {
    std::string& out = structure_.wiring_;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
  }
  void type(const TensorType& of) {
    number(static_cast<std::uint64_t>(of.dtype));
    number(of.shape.size());
    for (std::int64_t dim : of.shape) number(static_cast<std::uint64_t>(dim));
  }
  template <class NumberOf>
  void node(const Node* node, std::uint64_t own, StructureTable& regions, NumberOf number_of) {
    number(reinterpret_cast<std::uintptr_t>(node->op));
    number(node->types.size());
    for (const TensorType& of : node->types) type(of);
    number(node->operands.size());
    for (const Tensor& operand : node->operands) {
      number(own - number_of(operand));  // usually small, so one byte suffices
      number(operand.result());
    }
    structure_.attributes_.push_back(node->attributes);
    number(node->regions.size());
    for (const Function& region : node->regions) number(regions.number(region));
  }
  /// Writes one function, whose regions are numbered already.
  void function(const Function& function, const CanonicalOrder& order, StructureTable& regions) {
    const auto number_of = [&](const Tensor& tensor) { return order.numbers.at(tensor.node()); };
    number(function.parameters().size());
    for (const Tensor& param : function.parameters()) type(param.type());
    number(order.nodes.size());
    for (const Node* of : order.nodes) node(of, order.numbers.at(of), regions, number_of);
    number(function.outputs().size());
    for (const Tensor& result : function.outputs()) {
      number(number_of(result));
      number(result.result());
    }
    for (const Node* of : function.body()) {
      if (order_is_seen(of)) number(order.numbers.at(of));
    }
  }
  /// Writes all structures of a table, by their numbers.
  void table(const StructureTable& table) {
    std::vector<const Structure*> all(table.size());
    for (const auto& [structure, at] : table.numbers_) all[at] = &structure;
    for (const Structure* structure : all) {
      number(structure->wiring_.size());
      structure_.wiring_ += structure->wiring_;
      structure_.attributes_.insert(structure_.attributes_.end(), structure->attributes_.begin(),
                                    structure->attributes_.end());
    }
  }
  Structure finish() {
    std::size_t hash = absl::HashOf(structure_.wiring_);
    for (const Attributes& attributes : structure_.attributes_)
      hash = absl::HashOf(hash, attributes.hash());
    structure_.hash_ = hash;
    return std::move(structure_);
  }

 private:
  Structure structure_;
};

/// Numbers the regions of a function first, in canonical order.
class StructureTable::Numbering : public FunctionVisitor {
 public:
  struct Place {
    Function function;
    CanonicalOrder order;
    std::size_t next_node = 0;
    const Node* next() {
      return next_node < order.nodes.size() ? order.nodes[next_node++] : nullptr;
    }
  };

  explicit Numbering(StructureTable& table) : table_(table) {}
  std::optional<Place> enter(const Function& function, const Node*, std::size_t) {
    if (table_.by_identity_.contains(function.identity())) return std::nullopt;
    return Place{function, CanonicalOrder(function)};
  }
  void leave(Place& place) {
    StructureWriter writer;
    writer.function(place.function, place.order, table_);
    const std::uint32_t number =
        table_.numbers_.try_emplace(writer.finish(), table_.size()).first->second;
    table_.by_identity_.emplace(place.function.identity(), number);
    table_.kept_.push_back(std::move(place.function));
  }

 private:
  StructureTable& table_;
};

std::uint32_t StructureTable::number(const Function& function) {
  if (const auto known = by_identity_.find(function.identity()); known != by_identity_.end())
    return known->second;
  Numbering numbering(*this);
  walk_regions(function, numbering);
  return by_identity_.at(function.identity());
}

std::uint64_t structures_made() noexcept { return made_by_this_thread; }

Structure structure_of(const Function& function) {
  made_by_this_thread++;
  // Regions are visited in an order that depends on structure only, and so do their numbers,
  // whether or not equal ones are one object.
  StructureTable table;
  table.number(function);
  StructureWriter writer;
  writer.table(table);
  return writer.finish();
}

Structure structure_of(const LazyProgram& program, std::span<const TensorType> types,
                       std::span<const Tensor> outputs) {
  made_by_this_thread++;
  StructureTable table;
  StructureWriter writer;
  absl::flat_hash_map<const Node*, std::uint64_t> numbers;
  std::uint64_t next = 0;
  const auto number_of = [&](const Tensor& tensor) { return numbers.at(tensor.node()); };
  writer.number(program.values.size());
  for (std::size_t i = 0; i < program.values.size(); i++) {
    writer.number(numbers.try_emplace(program.values[i].node(), next++).first->second);
    writer.number(program.values[i].result());
    writer.type(types[i]);
  }
  writer.number(program.steps.size());
  for (const LazyProgram::Step& step : program.steps) {
    const Node* node = step.node.node();
    const std::uint64_t own = numbers.try_emplace(node, next++).first->second;
    if (!step.again) writer.node(node, own, table, number_of);
    if (step.lazy) numbers.try_emplace(step.lazy, own);
  }
  writer.number(outputs.size());
  for (const Tensor& output : outputs) {
    writer.number(number_of(output));
    writer.number(output.result());
  }
  writer.table(table);
  return writer.finish();
}

}  // namespace rondo::ir
