#include "text/hlo_computation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/array_text.h"
#include "base/escape.h"
#include "base/for_dtype.h"
#include "base/number_text.h"
#include "base/text_buffer.h"
#include "ir/layout.h"
#include "ir/node.h"
#include "ir/node_table.h"
#include "ir/print.h"
#include "ir/type_text.h"
#include "text/names.h"
#include "text/write_attributes.h"

namespace rondo::text {

namespace {

using ir::Flow;
using ir::Node;

// Constants of at least this many equal elements are written as a scalar and a broadcast.
constexpr std::int64_t kBroadcastElements = 16;

/// XLA reads a complex number with one NaN part as two NaNs, so such numbers are assembled from
/// their parts.
bool has_complex_nan(const Literal& value) {
  return for_any_dtype(value.dtype(), [&]<class T>() {
    if constexpr (is_complex(dtype_of<T>)) {
      for (const T& element : value.data<T>()) {
        if (std::isnan(element.real()) || std::isnan(element.imag())) return true;
      }
    }
    return false;
  });
}

/// The real or the imaginary parts of complex numbers.
Literal parts_of(const Literal& value, std::size_t part) {
  const DType dtype = value.dtype() == DType::kC64 ? DType::kF32 : DType::kF64;
  Literal parts = Literal::uninitialized({dtype, value.shape()});
  const std::size_t width = static_cast<std::size_t>(byte_width(dtype));
  std::byte* to = parts.mutable_bytes();
  for (std::size_t i = 0; i < static_cast<std::size_t>(value.elements()); i++) {
    std::memcpy(to + i * width, value.bytes() + (2 * i + part) * width, width);
  }
  return parts;
}

class HloComputation {
 public:
  HloComputation(std::string& out, const Function& function, HloRole role, std::string_view name,
                 const ComputationNames& callees, bool metadata,
                 const ir::ProgramSharding* sharding)
      : out_(out),
        function_(function),
        role_(role),
        name_(name),
        callees_(callees),
        metadata_(metadata),
        sharding_(sharding),
        values_(function) {}

  void print() {
    if (role_ == HloRole::kEntry) out_ += "ENTRY ";
    out_ += name_;
    out_ += " {\n";
    find_root();
    if (takes_tuple())
      take_tuple();
    else
      take_arrays();
    for (const Node* node : function_.body()) print_node(*node);
    finish();
    out_ += "}\n\n";
  }

 private:
  /// `base.number`, or `base` alone for 0. Points into texts that outlive it.
  struct Name {
    const char* base = nullptr;
    std::uint32_t length = 0;
    std::uint32_t number = 0;
    explicit operator bool() const { return base != nullptr; }
  };
  using Names = absl::InlinedVector<Name, 4>;
  using Element = ir::ValueKey;

  bool takes_tuple() const { return role_ != HloRole::kEntry && role_ != HloRole::kCombiner; }

  /// Other names do not end in a point and a number, so this one is unique.
  Name fresh(std::string_view base) {
    return {base.data(), static_cast<std::uint32_t>(base.size()), ++last_number_};
  }
  static Name as_name(std::string_view text) {
    return {text.data(), static_cast<std::uint32_t>(text.size()), 0};
  }

  void append(const Name& name) {
    out_ += std::string_view(name.base, name.length);
    if (name.number == 0) return;
    out_ += '.';
    out_.append_count(name.number);
  }
  void append(const Names& names) {
    for (std::size_t i = 0; i < names.size(); i++) {
      if (i > 0) out_ += ", ";
      append(names[i]);
    }
  }

  /// The start of a line, up to the shape.
  void begin(const Name& name, bool root) {
    out_ += root ? "  ROOT " : "  ";
    append(name);
    out_ += " = ";
  }

  /// If the result is a single value of this function, the line that computes it is the root.
  void find_root() {
    if (role_ == HloRole::kBody || function_.outputs().size() != 1) return;
    const Tensor& result = function_.outputs()[0];
    root_ = {result.node(), result.result()};
  }
  bool is_root(const Node* node, std::uint32_t result = 0) const {
    return root_ == Element{node, result};
  }

  void take_arrays() {
    const std::vector<Tensor>& parameters = function_.parameters();
    for (std::size_t i = 0; i < parameters.size(); i++) {
      const Node* node = parameters[i].node();
      const Name name = as_name(names_.add(node->attrs<ir::ParameterAttributes>().name));
      begin(name, is_root(node));
      append_type(node->type());
      out_ += " parameter(";
      append_number(out_, i);
      out_ += ')';
      if (sharding_) append_shardings(std::span(&sharding_->arguments[i], 1));
      out_ += '\n';
      values_.set(node, name);
      root_written_ |= is_root(node);
    }
  }

  void take_tuple() {
    const std::vector<Tensor>& parameters = function_.parameters();
    for (std::size_t i = 0; i < parameters.size(); i++) {
      elements_.emplace(parameters[i].node(), static_cast<std::uint32_t>(i));
    }
    tuple_ = fresh(role_ == HloRole::kBranch ? "arguments" : "carry");
    begin(tuple_, false);
    out_ += '(';
    append_hlo_types(out_, parameters);
    out_ += ") parameter(0)\n";
  }

  /// The name of a value. An element of a tuple gets its own line before its first use.
  Name value(const Tensor& tensor) {
    const Node* node = tensor.node();
    if (const Name name = values_.get(node)) return name;
    if (const auto tuple = tuples_.find(node); tuple != tuples_.end()) {
      const auto [element, is_new] = tuple_elements_.try_emplace({node, tensor.result()});
      if (is_new) {
        element->second = fresh(element_base(*node, tensor.result()));
        take_element(element->second, tuple->second, tensor, tensor.result());
      }
      return element->second;
    }
    const auto index = elements_.find(node);
    if (index == elements_.end()) {
      throw InternalError("a value is used in a computation that does not have it",
                          node->location());
    }
    const Name name = as_name(names_.add(node->attrs<ir::ParameterAttributes>().name));
    take_element(name, tuple_, tensor, index->second);
    values_.set(node, name);
    return name;
  }
  Names values(std::span<const Tensor> tensors) {
    Names names;
    for (const Tensor& tensor : tensors) names.push_back(value(tensor));
    return names;
  }

  void take_element(const Name& name, const Name& tuple, const Tensor& element,
                    std::uint32_t index) {
    const bool root = is_root(element.node(), element.result());
    root_written_ |= root;
    begin(name, root);
    append_type(element.type());
    out_ += " get-tuple-element(";
    append(tuple);
    out_ += "), index=";
    append_number(out_, index);
    out_ += '\n';
  }

  /// Carries have the names that the body uses.
  std::string_view element_base(const Node& node, std::uint32_t result) {
    if (node.op->construct.flow != Flow::kRepeat) return node.op->text.hlo;
    const Node* parameter = node.regions[1].parameters()[result].node();
    return names_.keep(identifier(parameter->attrs<ir::ParameterAttributes>().name));
  }

  void print_node(const Node& node) {
    if (ir::is_constant(&node)) {
      values_.set(&node, print_constant(node.attrs<ir::ConstantAttributes>().value, &node));
      root_written_ |= is_root(&node);
      return;
    }
    switch (node.op->construct.flow) {
      case Flow::kNone:
      case Flow::kCall:
      case Flow::kCount:  // expanded before
        return print_op(node);
      case Flow::kRepeat:
        return print_while(node);
      case Flow::kSelect:
        return print_conditional(node);
    }
  }

  /// `node` is the constant itself; null for parts of it.
  Name print_constant(const Literal& value, const Node* node) {
    const std::size_t bytes = static_cast<std::size_t>(value.type().bytes());
    const std::size_t width = static_cast<std::size_t>(byte_width(value.dtype()));
    if (value.elements() >= kBroadcastElements &&
        std::memcmp(value.bytes(), value.bytes() + width, bytes - width) == 0) {
      Literal scalar = Literal::uninitialized({value.dtype(), {}});
      std::memcpy(scalar.mutable_bytes(), value.bytes(), width);
      const Names operand{print_constant(scalar, nullptr)};
      return print_constant_line("broadcast", operand, ", dimensions={}", value.type(), node);
    }
    if (has_complex_nan(value)) {
      const Names parts{print_constant(parts_of(value, 0), nullptr),
                        print_constant(parts_of(value, 1), nullptr)};
      return print_constant_line("complex", parts, "", value.type(), node);
    }
    const Name name = fresh("constant");
    begin(name, node && is_root(node));
    append_type(value.type());
    out_ += " constant(";
    append_elements(out_, value);
    out_ += ")\n";
    return name;
  }
  Name print_constant_line(std::string_view opcode, const Names& operands,
                           std::string_view attributes, const TensorType& type, const Node* node) {
    const Name name = fresh(opcode);
    begin(name, node && is_root(node));
    append_type(type);
    ((out_ += ' ') += opcode) += '(';
    append(operands);
    (out_ += ')') += attributes;
    out_ += '\n';
    return name;
  }

  /// Begins the line of a node, and stores the name of its result or tuple of results.
  Name begin_op(const Node& node, std::string_view base, bool is_tuple) {
    const Name name = fresh(base);
    const bool root = !is_tuple && is_root(&node);
    root_written_ |= root;
    if (is_tuple)
      tuples_.emplace(&node, name);
    else
      values_.set(&node, name);
    begin(name, root);
    return name;
  }

  void print_op(const Node& node) {
    const bool is_tuple = node.types.size() != 1;
    const Names operands = is_tuple && node.op->text.hlo_tuple
                               ? Names{print_tuple(node.operands, false)}
                               : values(node.operands);
    begin_op(node, node.op->text.hlo, is_tuple);
    append_types_of(node.types, is_tuple);
    ((out_ += ' ') += node.op->text.hlo) += '(';
    append(operands);
    out_ += ')';
    if (node.op->text.attributes) write_hlo_attributes(node, out_);
    print_callees(node);
    end(node);
  }

  /// `, to_apply=name`: the record names the attributes.
  void print_callees(const Node& node) {
    std::string_view attributes = node.op->text.hlo_regions;
    for (std::size_t i = 0; i < node.regions.size(); i++) {
      const std::size_t comma = std::min(attributes.find(','), attributes.size());
      ((out_ += ", ") += attributes.substr(0, comma)) += '=';
      out_ += callee(node, i);
      attributes.remove_prefix(std::min(comma + 1, attributes.size()));
    }
  }

  void print_while(const Node& node) {
    const Name state = print_tuple(node.operands, false);
    const ir::RegionLayout layout = *ir::region_layout(&node);
    begin_op(node, user_base(layout.name, "while"), true);
    (out_ += '(', append_hlo_types(out_, node.operands), out_ += ") while(");
    append(state);
    ((out_ += "), condition=") += callee(node, 0)) += ", body=";
    out_ += callee(node, 1);
    if (layout.trip_count) {
      out_ += ", backend_config={\"known_trip_count\":{\"n\":\"";
      append_number(out_, *layout.trip_count);
      out_ += "\"}}";
    }
    end(node);
  }

  void print_conditional(const Node& node) {
    const Name selector = value(node.operand(0));
    const Name arguments = print_tuple(std::span(node.operands).subspan(1), false);
    const bool is_tuple = node.types.size() != 1;
    begin_op(node, user_base(ir::region_layout(&node)->name, "conditional"), is_tuple);
    append_types_of(node.types, is_tuple);
    out_ += " conditional(";
    append(selector);
    for (std::size_t i = 0; i < node.regions.size(); i++) {
      out_ += ", ";
      append(arguments);
    }
    if (node.operand_type(0).dtype == DType::kPred) {
      ((out_ += "), true_computation=") += callee(node, 0)) += ", false_computation=";
      out_ += callee(node, 1);
    } else {
      out_ += "), branch_computations={";
      for (std::size_t i = 0; i < node.regions.size(); i++) {
        if (i > 0) out_ += ", ";
        out_ += callee(node, i);
      }
      out_ += '}';
    }
    end(node);
  }

  Name print_tuple(std::span<const Tensor> elements, bool root) {
    const Names operands = values(elements);
    const Name name = fresh("tuple");
    begin(name, root);
    out_ += '(';
    append_hlo_types(out_, elements);
    out_ += ") tuple(";
    append(operands);
    out_ += ')';
    if (root && sharding_ && !elements.empty()) append_shardings(sharding_->results);
    out_ += '\n';
    return name;
  }

  /// `, sharding={replicated}`; of several results `, sharding={{replicated}, {replicated}}`.
  void append_shardings(std::span<const ir::Sharding> shardings) {
    out_ += ", sharding=";
    if (shardings.size() != 1) out_ += '{';
    for (std::size_t i = 0; i < shardings.size(); i++) {
      if (i > 0) out_ += ", ";
      ir::append_gspmd(out_, shardings[i]);
    }
    if (shardings.size() != 1) out_ += '}';
  }

  void append_types_of(const ir::ResultTypes& types, bool is_tuple) {
    if (is_tuple) out_ += '(';
    for (std::size_t i = 0; i < types.size(); i++) {
      if (i > 0) out_ += ", ";
      append_type(types[i]);
    }
    if (is_tuple) out_ += ')';
  }

  std::string_view user_base(std::string_view name, std::string_view otherwise) {
    return name.empty() ? otherwise : names_.keep(whole_identifier(name));
  }

  const std::string& callee(const Node& node, std::size_t region) const {
    const auto found = callees_.find({node.regions[region].identity(), hlo_role(node, region)});
    if (found == callees_.end())
      throw InternalError("a region has no computation", node.location());
    return found->second;
  }

  void end(const Node& node) {
    if (metadata_) {
      ((out_ += ", metadata={op_name=\"") += name_) += '/';
      append_escaped(out_, node.op->name);
      out_ += '"';
      if (node.line != 0) {
        out_ += " source_file=\"";
        append_escaped(out_, node.file);
        out_ += "\" source_line=";
        append_number(out_, node.line);
      }
      out_ += '}';
    }
    out_ += '\n';
  }

  void finish() {
    const std::vector<Tensor>& results = function_.outputs();
    if (role_ == HloRole::kBody) {
      std::vector<Tensor> next = results;  // the invariants come after the carry
      const std::vector<Tensor>& parameters = function_.parameters();
      next.insert(next.end(), parameters.begin() + static_cast<std::ptrdiff_t>(results.size()),
                  parameters.end());
      print_tuple(next, true);
    } else if (results.size() != 1) {
      print_tuple(results, true);
    } else if (!root_written_) {
      value(results[0]);
    }
  }

  void append_type(const TensorType& type) { out_ += type_text_.of(type); }

  TextBuffer out_;
  ir::TypeText type_text_{ir::append_type};
  const Function& function_;
  const HloRole role_;
  const std::string_view name_;
  const ComputationNames& callees_;
  const bool metadata_;
  const ir::ProgramSharding* sharding_;  // of the entry, where it has one

  NameTable names_;
  std::uint32_t last_number_ = 0;
  ir::NodeTable<Name> values_;                         // arrays
  absl::flat_hash_map<const Node*, Name> tuples_;      // of ops of several results
  absl::flat_hash_map<Element, Name> tuple_elements_;  // those with a line so far
  absl::flat_hash_map<const Node*, std::uint32_t>
      elements_;  // parameters that are elements of `tuple_`
  Name tuple_;
  Element root_{nullptr, 0};
  bool root_written_ = false;
};

}  // namespace

HloRole hlo_role(const Node& holder, std::size_t index) {
  switch (holder.op->construct.flow) {
    case Flow::kRepeat:
      return index == 0 ? HloRole::kCondition : HloRole::kBody;
    case Flow::kSelect:
      return HloRole::kBranch;
    case Flow::kNone:
    case Flow::kCall:
    case Flow::kCount:
      break;
  }
  return HloRole::kCombiner;
}

void append_hlo_types(std::string& out, std::span<const Tensor> tensors) {
  for (std::size_t i = 0; i < tensors.size(); i++) {
    if (i > 0) out += ", ";
    ir::append_type(out, tensors[i].type());
  }
}

void append_hlo_shape(std::string& out, std::span<const Tensor> tensors) {
  if (tensors.size() != 1) out += '(';
  append_hlo_types(out, tensors);
  if (tensors.size() != 1) out += ')';
}

void append_hlo_computation(std::string& out, const Function& function, HloRole role,
                            std::string_view name, const ComputationNames& callees, bool metadata,
                            const ir::ProgramSharding* sharding) {
  HloComputation(out, function, role, name, callees, metadata, sharding).print();
}

}  // namespace rondo::text
