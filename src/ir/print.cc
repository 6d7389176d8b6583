// The IR's own text.
#include "ir/print.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/array_text.h"
#include "base/number_text.h"
#include "base/text_buffer.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/node_table.h"
#include "ir/region_walk.h"
#include "ir/type_text.h"
#include "rondo/text.h"

namespace rondo {

namespace ir {

namespace {

// Arrays up to this size are written where they are used; larger ones get their own line.
constexpr std::int64_t kInlineElements = 4;
// Longer arrays are shortened in the middle.
constexpr std::int64_t kShownElements = 64;
// Deeper regions are not indented further, so the text of deeply nested loops grows linearly.
constexpr std::size_t kDeepestIndent = 120;
constexpr std::size_t kLocationColumn = 60;

class IrPrinter {
 public:
  /// Names the callees, which precede the program.
  IrPrinter(std::string& out, const TextOptions& options, const Function& program,
            const std::vector<Function>& callees)
      : out_(out), full_(options.full) {
    absl::flat_hash_set<std::string> taken{shown_name(program)};
    for (const Function& callee : callees) {
      const std::string wanted = printable_name(callee.name(), 0);
      std::string name = wanted;
      for (int n = 1; !taken.insert(name).second; n++) name = wanted + '_' + std::to_string(n);
      callees_.emplace(callee.identity(), std::move(name));
    }
  }

  void open(const Function& function, const Node* holder, std::size_t index) {
    if (holder) {
      start_line(2);
      append_region_label(out_, *holder, index);
    } else {
      out_ += "func ";
      const auto callee = callees_.find(function.identity());
      out_ += callee == callees_.end() ? shown_name(function) : callee->second;
    }
    scopes_.emplace_back(function);
    append_parameters(function, !holder);
    if (!holder) append_result_types(function);
    out_ += " {\n";
    indent_ += holder ? 4 : 2;
  }

  void node(const Node& node) {
    if (is_printed_inline(node)) return;
    const std::size_t line = out_.size();
    start_line(0);
    const std::uint64_t number = next_number_++;
    scopes_.back().numbers.set(&node, number + 1);
    out_ += '%';
    out_.append_count(number);
    for (std::size_t i = 0; i < node.types.size(); i++) {
      out_ += i == 0 ? ": " : ", ";
      append_type(node.types[i]);
    }
    out_ += " = ";
    out_ += node.op->name;
    if (node.op->construct.flow == Flow::kCall)
      (out_ += " @") += callees_.at(node.regions[0].identity());
    if (is_constant(&node)) {
      out_ += ' ';
      append_elements(out_, node.attrs<ConstantAttributes>().value,
                      {.cut_above = full_ ? INT64_MAX : kShownElements});
    } else {
      append_values(node.operands, " ");
      append_own_attributes(out_, node);
    }
    append_location(node, line);
    out_ += '\n';
  }

  void after(const Node&) {}

  void close(const Function& function, const Node* holder, std::size_t) {
    start_line(0);
    out_ += "return";
    append_values(function.outputs(), " ");
    out_ += '\n';
    indent_ -= holder ? 4 : 2;
    if (holder) start_line(2);
    out_ += "}\n";
    scopes_.pop_back();
  }

 private:
  /// The names of the values of one function. Functions are closed, and a node may belong to
  /// several.
  struct Scope {
    explicit Scope(const Function& function) : numbers(function) {}
    NodeTable<std::uint64_t> numbers;  // plus one
    absl::flat_hash_map<const Node*, std::string> parameters;
  };

  static std::string shown_name(const Function& function) {
    return function.name().empty() ? "main" : function.name();
  }

  bool is_printed_inline(const Node& node) const {
    return !full_ && is_constant(&node) && node.type().elements() <= kInlineElements;
  }
  void start_line(std::size_t more) {
    out_.append_spaces(std::min(indent_ + more, kDeepestIndent));
  }

  void append_parameters(const Function& function, bool outermost) {
    absl::flat_hash_set<std::string> taken;
    out_ += outermost ? "(" : " (";
    const std::vector<Tensor>& parameters = function.parameters();
    for (std::size_t i = 0; i < parameters.size(); i++) {
      if (i > 0) out_ += ", ";
      const Node* node = parameters[i].node();
      const std::string wanted = printable_name(node->attrs<ParameterAttributes>().name, i);
      std::string name = wanted;
      // At most two tries, unless the user's own names end like these.
      for (std::size_t n = i; !taken.insert(name).second; n++)
        name = wanted + '_' + std::to_string(n);
      out_ += '%';
      out_ += name;
      out_ += ": ";
      append_type(parameters[i].type());
      scopes_.back().parameters.emplace(node, std::move(name));
    }
    out_ += ')';
  }

  void append_result_types(const Function& function) {
    out_ += " -> (";
    const std::vector<Tensor>& results = function.outputs();
    const std::vector<std::string>& names = function.result_names();
    for (std::size_t i = 0; i < results.size(); i++) {
      if (i > 0) out_ += ", ";
      if (i < names.size() && !names[i].empty()) {
        out_ += printable_name(names[i], i);
        out_ += ": ";
      }
      append_type(results[i].type());
    }
    out_ += ')';
  }

  template <class Tensors>
  void append_values(const Tensors& tensors, std::string_view before) {
    for (const Tensor& tensor : tensors) {
      out_ += std::exchange(before, ", ");
      append_value(tensor);
    }
  }

  void append_value(const Tensor& tensor) {
    const Node* node = tensor.node();
    if (is_printed_inline(*node)) {
      append_elements(out_, node->attrs<ConstantAttributes>().value);
      return;
    }
    out_ += '%';
    const Scope& scope = scopes_.back();
    if (const std::uint64_t number_plus_one = scope.numbers.get(node)) {
      out_.append_count(number_plus_one - 1);
      if (node->types.size() > 1) {
        out_ += '#';
        out_.append_count(tensor.result());
      }
    } else if (const auto name = scope.parameters.find(node); name != scope.parameters.end()) {
      out_ += name->second;
    } else {
      out_ += '?';  // of a program that verify() rejects
    }
  }

  void append_location(const Node& node, std::size_t line) {
    if (node.line == 0) return;
    const std::size_t length = out_.size() - line;
    out_.append_spaces(length + 2 < kLocationColumn ? kLocationColumn - length : 2);
    out_ += "// ";
    const std::string_view file = node.file;
    out_ += file.substr(file.rfind('/') + 1);
    out_ += ':';
    out_.append_count(node.line);
  }

  void append_type(const TensorType& type) { out_ += type_text_.of(type); }

  TextBuffer out_;
  TypeText type_text_{ir::append_type};
  const bool full_;
  absl::flat_hash_map<const void*, std::string> callees_;  // their names
  std::vector<Scope> scopes_;
  std::size_t indent_ = 0;
  std::uint64_t next_number_ = 0;
};

}  // namespace

std::string printable_name(std::string_view name, std::size_t index) {
  if (name.empty()) return "p" + std::to_string(index);
  std::string result(name[0] >= '0' && name[0] <= '9' ? "p" : "");
  for (const char c : name) {
    const bool bad = static_cast<unsigned char>(c) <= ' ' || c == '\x7f' || c == '%' || c == ',' ||
                     c == ':' || c == '(' || c == ')' || c == '#';
    result += bad ? '_' : c;
  }
  return result;
}

void append_type(std::string& out, const TensorType& type) {
  out += dtype_name(type.dtype);
  out += '[';
  for (std::int64_t axis = 0; axis < type.rank(); axis++) {
    if (axis > 0) out += ',';
    append_number(out, static_cast<std::uint64_t>(type.shape[axis]));
  }
  out += ']';
}

void append_region_label(std::string& out, const Node& holder, std::size_t index) {
  const auto layout = region_layout(&holder);
  if (layout && layout->condition) {
    out += layout->is_body(index) ? "body" : "cond";
  } else if (holder.op->construct.flow == Flow::kSelect && holder.operand_type(0) == pred()) {
    out += index == 0 ? "true" : "false";
  } else if (holder.op->construct.flow == Flow::kSelect) {
    out += "branch ";
    append_number(out, index);
  } else {
    const std::string& name = holder.regions[index].name();
    out += name.empty() ? std::string_view("region") : name;
  }
}

}  // namespace ir

std::string to_text(const Function& function, const TextOptions& options) {
  const std::vector<Function> callees = ir::called_functions(function);
  std::string text;
  {
    ir::IrPrinter printer(text, options, function, callees);
    for (const Function& callee : callees) ir::walk_nested(callee, printer);
    ir::walk_nested(function, printer);
  }
  return text;
}

std::string to_text(const Tensor& lazy, const TextOptions& options) {
  return to_text(Function::make("main", {}, {lazy}), options);
}

std::string Function::str() const { return to_text(*this); }

std::ostream& operator<<(std::ostream& out, const Function& function) {
  return out << to_text(function);
}

}  // namespace rondo
