// The IR as a Graphviz graph.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/array_text.h"
#include "base/escape.h"
#include "base/number_text.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/print.h"
#include "ir/region_walk.h"
#include "rondo/text.h"

namespace rondo {

namespace ir {

namespace {

constexpr std::int64_t kDotElements = 6;

class DotPrinter {
 public:
  explicit DotPrinter(const Function& function) {
    out_ += "digraph \"";
    append_escaped(out_, function.name());
    out_ +=
        "\" {\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n"
        "  edge [fontname=\"monospace\", fontsize=8, labeldistance=2];\n"
        "  graph [fontname=\"monospace\", fontsize=11, style=rounded];\n";
  }

  /// What follows are the functions that the program calls, each in a box of its own.
  void begin_callees() { is_callee_ = true; }

  std::string take() && { return std::move(out_) + edges_ + "}\n"; }

  void open(const Function& function, const Node* holder, std::size_t index) {
    if (holder) {
      std::string label;
      append_region_label(label, *holder, index);
      begin_cluster(label);
    } else if (is_callee_) {
      begin_cluster(function.name());
    }
    scopes_.emplace_back();
    const std::vector<Tensor>& parameters = function.parameters();
    const auto layout = holder ? region_layout(holder) : std::nullopt;
    for (std::size_t i = 0; i < parameters.size(); i++) {
      const Node* node = parameters[i].node();
      begin_node(*node);
      append_escaped(out_, node->attrs<ParameterAttributes>().name);
      append_types(*node);
      out_ += "\", shape=ellipse];\n";
      if (layout && layout->is_invariant(index, i)) {
        add_edge(scopes_[scopes_.size() - 2], captured_operand(*holder, function, i),
                 scopes_.back().at(node), "style=dashed");
      } else if (holder) {
        add_hand_over(id_of_holder(*holder), scopes_.back().at(node), "style=dotted");
      }
    }
  }

  void node(const Node& node) {
    const bool nests = has_nested_regions(node);
    if (nests) {
      std::string label(node.op->name);
      append_own_attributes(label, node);
      begin_cluster(label);
    }
    begin_node(node);
    if (is_constant(&node)) {
      append_elements(out_, node.attrs<ConstantAttributes>().value, {.cut_above = kDotElements});
    } else {
      out_ += node.op->name;
      std::string attributes;
      if (!nests) append_own_attributes(attributes, node);
      if (node.op->construct.flow == Flow::kCall) attributes += ' ' + node.regions[0].name();
      append_escaped(out_, attributes);
    }
    append_types(node);
    if (node.line != 0 && !is_constant(&node)) {
      out_ += "\\n";
      append_escaped(out_, node.location().str());
    }
    out_ += is_constant(&node) ? "\", shape=plaintext];\n" : "\"];\n";
    const std::uint64_t id = scopes_.back().at(&node);
    const auto layout = region_layout(&node);
    for (std::size_t i = 0; i < node.operands.size(); i++) {
      if (goes_inside_only(layout, i)) continue;
      // The order of the edges does not matter to Graphviz.
      std::string place;
      if (node.operands.size() > 1 && !nests && !node.op->structure.commutative)
        place = "headlabel=" + std::to_string(i);
      add_edge(scopes_.back(), node.operands[i], id, place);
    }
  }

  void after(const Node&) { end_cluster(); }

  void close(const Function& function, const Node* holder, std::size_t) {
    const std::uint64_t id = next_id_++;
    indent();
    out_ += 'n';
    append_number(out_, id);
    out_ += " [label=\"return\", shape=plaintext];\n";
    for (const Tensor& result : function.outputs()) add_edge(scopes_.back(), result, id, "");
    if (holder) {
      add_hand_over(id, id_of_holder(*holder), "style=dotted, constraint=false");
    }
    if (holder || is_callee_) end_cluster();
    scopes_.pop_back();
  }

 private:
  using Scope = absl::flat_hash_map<const Node*, std::uint64_t>;

  /// Parameters and operands correspond from their ends.
  static const Tensor& captured_operand(const Node& holder, const Function& region, std::size_t i) {
    return holder.operands[holder.operands.size() - (region.parameters().size() - i)];
  }
  static bool goes_inside_only(const std::optional<RegionLayout>& layout, std::size_t operand) {
    return layout && layout->role_of_operand(operand) == RegionLayout::Role::kInvariant;
  }

  /// The id of the node whose region is being written.
  std::uint64_t id_of_holder(const Node& holder) const {
    return scopes_[scopes_.size() - 2].at(&holder);
  }
  /// Edges for what a construct passes to its regions (the next carry, a row), and what they
  /// return.
  void add_hand_over(std::uint64_t from, std::uint64_t to, std::string_view style) {
    edges_ += "  n";
    append_number(edges_, from);
    edges_ += " -> n";
    append_number(edges_, to);
    ((edges_ += " [") += style) += "];\n";
  }

  void indent() { out_.append(2 * (clusters_ < 20 ? clusters_ + 1 : 21), ' '); }

  void begin_cluster(std::string_view label) {
    indent();
    out_ += "subgraph cluster_";
    append_number(out_, next_id_++);
    out_ += " {\n";
    clusters_++;
    indent();
    out_ += "label=\"";
    append_escaped(out_, label);
    out_ += "\";\n";
  }
  void end_cluster() {
    clusters_--;
    indent();
    out_ += "}\n";
  }

  void begin_node(const Node& node) {
    const std::uint64_t id = next_id_++;
    scopes_.back().emplace(&node, id);
    indent();
    out_ += 'n';
    append_number(out_, id);
    out_ += " [label=\"";
  }
  void append_types(const Node& node) {
    for (std::size_t i = 0; i < node.types.size(); i++) {
      out_ += i == 0 ? "\\n" : ", ";
      append_type(out_, node.types[i]);
    }
  }

  /// All edges come last: an edge within a cluster would pull its ends into it.
  void add_edge(const Scope& scope, const Tensor& from, std::uint64_t to, std::string_view style) {
    const auto found = scope.find(from.node());
    if (found == scope.end()) return;  // of a program that verify() rejects
    edges_ += "  n";
    append_number(edges_, found->second);
    edges_ += " -> n";
    append_number(edges_, to);
    if (from.node()->types.size() > 1) {
      edges_ += " [label=\"#";
      append_number(edges_, from.result());
      edges_ += '"';
      if (!style.empty()) (edges_ += ", ") += style;
      edges_ += ']';
    } else if (!style.empty()) {
      ((edges_ += " [") += style) += ']';
    }
    edges_ += ";\n";
  }

  std::string out_, edges_;
  std::vector<Scope> scopes_;
  bool is_callee_ = false;
  std::size_t clusters_ = 0;
  std::uint64_t next_id_ = 0;
};

}  // namespace

}  // namespace ir

std::string to_dot(const Function& function) {
  ir::DotPrinter printer(function);
  ir::walk_nested(function, printer);
  printer.begin_callees();
  for (const Function& callee : ir::called_functions(function)) ir::walk_nested(callee, printer);
  return std::move(printer).take();
}

std::string to_dot(const Tensor& lazy) { return to_dot(Function::make("main", {}, {lazy})); }

}  // namespace rondo
