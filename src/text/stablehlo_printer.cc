// A program as a StableHLO module.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "base/array_text.h"
#include "base/escape.h"
#include "base/number_text.h"
#include "base/text_buffer.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ir/node_table.h"
#include "ir/region_walk.h"
#include "ir/sharding.h"
#include "ir/type_text.h"
#include "passes/clamp_indices.h"
#include "passes/expand.h"
#include "passes/growing_tapes.h"
#include "passes/optimize.h"
#include "rondo/text.h"
#include "text/names.h"
#include "text/write_attributes.h"

namespace rondo {

namespace text {

namespace {

using ir::Flow;
using ir::Node;

// Larger arrays are written as their bytes.
constexpr std::int64_t kMostListedElements = 128;
// Deeper regions are not indented further, so the text of deeply nested loops grows linearly.
constexpr std::size_t kDeepestMlirIndent = 100;
constexpr std::size_t kMlirLineBytes = 64;

void append_mlir_dtype(std::string& out, DType dtype) {
  switch (dtype) {
    case DType::kPred:
      out += "i1";
      return;
    case DType::kC64:
      out += "complex<f32>";
      return;
    case DType::kC128:
      out += "complex<f64>";
      return;
    default:
      break;
  }
  if (is_signed_integer(dtype) || is_unsigned_integer(dtype)) {
    out += is_signed_integer(dtype) ? "i" : "ui";
    out += dtype_name(dtype).substr(1);
  } else if (is_small(dtype)) {  // f8E4M3FN
    out += 'f';
    for (const char c : dtype_name(dtype).substr(1))
      out += c >= 'a' ? static_cast<char>(c - 32) : c;
  } else {
    out += dtype_name(dtype);
  }
}

void append_mlir_type(std::string& out, const TensorType& type) {
  out += "tensor<";
  for (const std::int64_t size : type.shape) {
    append_number(out, size);
    out += 'x';
  }
  append_mlir_dtype(out, type.dtype);
  out += '>';
}

/// `dense<[1.0, 2.0]>`
void append_dense(std::string& out, const Literal& value) {
  const std::size_t bytes = static_cast<std::size_t>(value.type().bytes());
  const std::size_t width = static_cast<std::size_t>(byte_width(value.dtype()));
  const ArrayStyle style{.open = '[', .close = ']', .numbers = NumberStyle::kMlir};
  out += "dense<";
  if (value.elements() > 0 &&
      std::memcmp(value.bytes(), value.bytes() + width, bytes - width) == 0) {
    Literal scalar = Literal::uninitialized({value.dtype(), {}});
    std::memcpy(scalar.mutable_bytes(), value.bytes(), width);
    append_elements(out, scalar, style);
  } else if (value.elements() > kMostListedElements) {
    std::string_view stored(reinterpret_cast<const char*>(value.bytes()), bytes);
    std::string narrow;
    if (is_small(value.dtype())) {  // without the bits that they do not have
      narrow = stored;
      const unsigned mask = (1u << bit_width(value.dtype())) - 1;
      for (char& byte : narrow) byte = static_cast<char>(static_cast<unsigned char>(byte) & mask);
      stored = narrow;
    }
    out += "\"0x";
    append_hex_digits(out, stored);
    out += '"';
  } else if (value.elements() > 0) {
    append_elements(out, value, style);
  }
  out += '>';
}

/// The module's attributes for the number of devices.
void append_partitions(std::string& out, const ir::ProgramSharding& sharding) {
  out += " attributes {mhlo.num_partitions = ";
  append_number(out, sharding.devices());
  out += " : i32, mhlo.num_replicas = 1 : i32}";
}

void append_mesh(std::string& out, const ir::ProgramSharding& sharding) {
  out += "  sdy.mesh @mesh = <";
  ir::append_shardy_mesh(out, sharding.mesh);
  out += ">\n";
}

class StablehloPrinter {
 public:
  StablehloPrinter(std::string& out, const StablehloOptions& options,
                   const std::optional<ir::ProgramSharding>& sharding)
      : out_(out),
        locations_(options.locations),
        partitioner_(options.partitioner),
        sharding_(sharding),
        donated_(options.donate.begin(), options.donate.end()) {
    functions_.add_whole("main");
  }

  /// A function that was called and is not printed yet; null if there is none.
  const Function* next_callee() {
    return printed_ < called_.size() ? &called_[printed_++] : nullptr;
  }

  void open(const Function& function, const Node* holder, std::size_t index) {
    Scope scope(function);
    const std::vector<Tensor>& parameters = function.parameters();
    if (!holder) {
      open_function(function, scope);
    } else if (holder->op->construct.flow != Flow::kNone) {
      const std::vector<Value>& arguments = arguments_.back();
      for (std::size_t i = 0; i < parameters.size(); i++)
        scope.set(parameters[i].node(), arguments[i]);
      if (holder->op->construct.flow == Flow::kRepeat)
        out_ += index == 0 ? "cond {\n" : " do {\n";
      else
        out_ += index == 0 ? "{\n" : ", {\n";
    } else {
      open_block(function, index, scope);
    }
    scopes_.push_back(std::move(scope));
    indent_ += 2;
  }

  void node(const Node& node) {
    if (has_short_form(node)) return print_short(node);
    const std::uint32_t number = next_number_++;
    const Values operands = values(node.operands);
    start_line();
    const Value result(number);
    scopes_.back().set(&node, result);
    append(result);
    if (node.types.size() > 1) {
      out_ += ':';
      out_.append_count(node.types.size());
    }
    out_ += " = ";
    if (ir::is_constant(&node)) {
      out_ += "stablehlo.constant ";
      append_dense(out_, node.attrs<ir::ConstantAttributes>().value);
      out_ += " : ";
      append_type(node.type());
      return end_line(node);
    }
    switch (node.op->construct.flow) {
      case Flow::kNone:
      case Flow::kCount:  // expanded before
        return print_op(node, operands);
      case Flow::kRepeat:
        return begin_while(node, operands);
      case Flow::kSelect:
        return begin_conditional(node, operands);
      case Flow::kCall:
        return print_call(node, operands);
    }
  }

  void after(const Node& node) {
    if (node.op->construct.flow != Flow::kNone) arguments_.pop_back();
    if (node.op->construct.flow != Flow::kRepeat) {
      out_ += ") : (";
      // The arguments of a conditional are captured.
      if (node.op->construct.flow == Flow::kSelect)
        append_type(node.operand_type(0));
      else
        append_types(node.operands);
      out_ += ") -> ";
      append_result_types(node.types);
    }
    end_line(node);
  }

  void close(const Function& function, const Node* holder, std::size_t) {
    const std::vector<Tensor>& results = function.outputs();
    start_line();
    out_ += holder ? "stablehlo.return" : "return";
    if (!results.empty()) {
      out_ += ' ';
      append(values(results));
      out_ += " : ";
      append_types(results);
    }
    out_ += '\n';
    indent_ -= 2;
    start_line();
    out_ += holder ? "}" : "}\n";
    scopes_.pop_back();
  }

 private:
  /// `%name`, or `%12`, or with an element `%12#1`. Short ones are copied at a fixed size, so the
  /// copy does not wait for the length.
  class Value {
   public:
    static constexpr std::uint32_t kShort = 16;

    Value() = default;
    /// Of a text that outlives it.
    explicit Value(std::string_view text) : size_(static_cast<std::uint32_t>(text.size())) {
      const char* const place = text.data();
      if (size_ <= kShort)
        std::memcpy(&text_, place, size_);
      else
        std::memcpy(&text_, &place, sizeof(place));
    }
    explicit Value(std::uint32_t number) {
      // Built in a word if it fits: bytes that are written one by one and then read as a word stall
      // the load.
      if (number < ShortCount::kEnd / 10) {
        const ShortCount count = ShortCount::of(number);
        text_[0] = count.letters << 8 | '%';
        size_ = 1 + count.size;
      } else {
        char text[kShort] = {'%'};
        size_ =
            static_cast<std::uint32_t>(std::to_chars(text + 1, text + kShort, number).ptr - text);
        std::memcpy(&text_, text, kShort);
      }
    }
    explicit operator bool() const { return size_ != 0; }
    std::uint32_t size() const { return size_; }
    /// One of the results of a node with several.
    Value element(std::uint32_t number) const {
      Value element = *this;
      element.element_plus_one_ = number + 1;
      return element;
    }

    /// Writes at most size() + kMoreBytes bytes.
    static constexpr std::size_t kMoreBytes = kShort + 1 + TextCursor::kCountBytes;
    void append_to(TextCursor& out) const {
      append_whole_to(out);
      if (element_plus_one_ == 0) return;
      out += '#';
      out.append_count(element_plus_one_ - 1);
    }
    /// Without an element.
    void append_whole_to(TextCursor& out) const {
      if (size_ <= kShort)
        out.append_first(text_, size_);
      else
        out += long_text();
    }

   private:
    std::string_view long_text() const {
      const char* place;
      std::memcpy(&place, &text_, sizeof(place));
      return {place, size_};
    }

    std::array<std::uint64_t, 2> text_ = {};  // of longer ones a pointer
    std::uint32_t size_ = 0;
    std::uint32_t element_plus_one_ = 0;
  };
  using Values = absl::InlinedVector<Value, 4>;
  // A node may occur in several functions, and a function in several places, so names belong to an
  // occurrence.
  using Scope = ir::NodeTable<Value>;

  std::size_t indent() const { return std::min(indent_, kDeepestMlirIndent); }
  void start_line() { out_.append_spaces(indent()); }
  void end_line(const Node& node) {
    if (locations_ && node.line != 0) {
      out_ += " loc(\"";
      append_escaped(out_, node.file);
      out_ += "\":";
      append_number(out_, node.line);
      out_ += ":1)";
    }
    out_ += '\n';
  }

  static const Value& value_of(const Node* node, const Scope& scope) {
    const Value* const value = scope.find(node);
    if (!value || !*value)
      throw InternalError("a value is used in a region that does not have it", node->location());
    return *value;
  }
  Value value(const Tensor& tensor) const {
    const Value& value = value_of(tensor.node(), scopes_.back());
    return tensor.node()->types.size() > 1 ? value.element(tensor.result()) : value;
  }
  template <class Tensors>
  Values values(const Tensors& tensors) const {
    Values values;
    for (const Tensor& tensor : tensors) values.push_back(value(tensor));
    return values;
  }

  /// Gives `write` a cursor with space for this many bytes.
  template <class Write>
  void write_at_once(std::size_t bytes, Write write) {
    if (bytes <= TextBuffer::kMostRoom) {
      TextCursor cursor = out_.room(bytes);
      write(cursor);
      out_.wrote(cursor);
    } else {
      std::string text(bytes, '\0');
      TextCursor cursor(text.data());
      write(cursor);
      out_ += std::string_view(text.data(), static_cast<std::size_t>(cursor.at() - text.data()));
    }
  }
  void append(const Value& value) {
    write_at_once(value.size() + Value::kMoreBytes, [&](TextCursor& out) { value.append_to(out); });
  }
  void append(const Values& values) {
    for (std::size_t i = 0; i < values.size(); i++) {
      if (i > 0) out_ += ", ";
      append(values[i]);
    }
  }

  Value named(const Tensor& parameter) {
    std::string text = "%";
    text += names_.add(parameter.node()->attrs<ir::ParameterAttributes>().name);
    longest_value_ = std::max(longest_value_, text.size() + Value::kMoreBytes + 2);
    return Value(names_.keep(std::move(text)));
  }
  /// `%slab: tensor<f32>, ...`, and binds the parameters to these names.
  void append_parameter(const Tensor& parameter, Scope& scope) {
    const Value value = named(parameter);
    append(value);
    out_ += ": ";
    append_type(parameter.type());
    scope.set(parameter.node(), value);
  }

  /// Of the program, or of a function that is called.
  void open_function(const Function& function, Scope& scope) {
    const auto callee = callees_.find(function.identity());
    const bool shards = sharding_ && callee == callees_.end();
    start_line();
    if (callee == callees_.end())
      out_ += "func.func public @main(";
    else
      ((out_ += "func.func private @") += callee->second) += '(';
    for (std::size_t i = 0; i < function.parameters().size(); i++) {
      if (i > 0) out_ += ", ";
      append_parameter(function.parameters()[i], scope);
      std::string_view before = " {";
      if (callee == callees_.end() && donated_.contains(static_cast<std::int64_t>(i)))
        (out_ += std::exchange(before, ", ")) += "jax.buffer_donor = true";
      if (shards) append_sharding(before, sharding_->arguments[i]);
      if (before == ", ") out_ += '}';
    }
    out_ += ") -> (";
    for (std::size_t i = 0; i < function.outputs().size(); i++) {
      if (i > 0) out_ += ", ";
      append_type(function.outputs()[i].type());
      std::string_view before = " {";
      if (shards) append_sharding(before, sharding_->results[i]);
      if (before == ", ") out_ += '}';
    }
    out_ += ") {\n";
  }

  /// `sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>` of an argument or a result.
  void append_sharding(std::string_view& before, const ir::Sharding& sharding) {
    out_ += std::exchange(before, ", ");
    if (partitioner_ == Partitioner::kShardy) {
      out_ += "sdy.sharding = #sdy.sharding<@mesh, ";
      ir::append_shardy(out_, sharding);
      out_ += '>';
    } else {
      out_ += "mhlo.sharding = \"";
      ir::append_gspmd(out_, sharding);
      out_ += '"';
    }
  }

  /// A region with its own arguments: a reducer, a comparator.
  void open_block(const Function& function, std::size_t index, Scope& scope) {
    out_ += index == 0 ? "{\n" : ", {\n";
    if (function.parameters().empty()) return;
    start_line();
    out_ += "^bb0(";
    for (std::size_t i = 0; i < function.parameters().size(); i++) {
      if (i > 0) out_ += ", ";
      append_parameter(function.parameters()[i], scope);
    }
    out_ += "):\n";
  }

  /// Both regions give the carry the same names, and use the invariants from outside.
  void begin_while(const Node& node, const Values& operands) {
    std::vector<Value> arguments;
    const std::vector<Tensor>& parameters = node.regions[1].parameters();
    const std::size_t carries = node.types.size();
    for (std::size_t i = 0; i < carries; i++) arguments.push_back(named(parameters[i]));
    out_ += "stablehlo.while(";
    for (std::size_t i = 0; i < carries; i++) {
      if (i > 0) out_ += ", ";
      append(arguments[i]);
      out_ += " = ";
      append(operands[i]);
    }
    out_ += ") : ";
    append_types(node.types);
    out_ += '\n';
    start_line();
    arguments.insert(arguments.end(), operands.begin() + static_cast<std::ptrdiff_t>(carries),
                     operands.end());
    arguments_.push_back(std::move(arguments));
  }

  void begin_conditional(const Node& node, const Values& operands) {
    out_ +=
        node.operand_type(0).dtype == DType::kPred ? "\"stablehlo.if\"(" : "\"stablehlo.case\"(";
    append(operands[0]);
    out_ += ") (";
    arguments_.emplace_back(operands.begin() + 1, operands.end());
  }

  /// From its first call on it is to be printed.
  std::string_view name_of(const Function& callee) {
    const auto [found, fresh] = callees_.try_emplace(callee.identity());
    if (fresh) {
      found->second = functions_.add_whole(callee.name().empty() ? "function" : callee.name());
      called_.push_back(callee);
    }
    return found->second;
  }

  /// `func.call @norm(%0) : (tensor<3xf32>) -> tensor<f32>`
  void print_call(const Node& node, const Values& operands) {
    ((out_ += node.op->text.stablehlo) += " @") += name_of(node.regions[0]);
    out_ += '(';
    append(operands);
    out_ += ") : (";
    append_types(node.operands);
    out_ += ") -> ";
    append_result_types(node.types);
    end_line(node);
  }

  /// `sdy.sharding_constraint %x <@mesh, [{"data"}, {}]> : tensor<8x4xf32>`, which GSPMD has as a
  /// custom call.
  void print_constraint(const Node& node, const Values& operands) {
    const ir::Sharding& sharding = node.op->text.sharding(node);
    const bool shardy = partitioner_ == Partitioner::kShardy;
    out_ += shardy ? node.op->text.stablehlo : "stablehlo.custom_call";
    out_ += shardy ? " " : " @Sharding(";
    append(operands);
    if (shardy) {
      out_ += " <@mesh, ";
      ir::append_shardy(out_, sharding);
      out_ += "> : ";
    } else {
      out_ += ") {backend_config = \"";
      ir::append_gspmd_unconstrained(out_, sharding);
      out_ += "\", mhlo.sharding = \"";
      ir::append_gspmd(out_, sharding);
      out_ += "\"} : (";
      append_type(node.operand_type(0));
      out_ += ") -> ";
    }
    append_type(node.type());
    end_line(node);
  }

  /// The form of most ops: `%2 = stablehlo.add %0, %1 : tensor<f32>`.
  static bool has_short_form(const Node& node) {
    constexpr std::string_view kPrefix = "stablehlo.";
    const ir::OpDef& op = *node.op;
    const bool has_attributes = op.text.attributes && op.text.attributes->in_stablehlo;
    return op.structure.elementwise && !has_attributes && !op.text.sharding &&
           node.regions.empty() && node.types.size() == 1 &&
           op.text.stablehlo.size() > kPrefix.size() &&
           std::memcmp(op.text.stablehlo.data(), kPrefix.data(), kPrefix.size()) == 0;
  }
  /// The types after its colon: one type, or `(tensor<i1>, tensor<f32>) -> tensor<f32>`.
  std::string_view short_types(const Node& node) {
    const TensorType& type = node.type();
    // All types of select and clamp may be equal, but the short form of select always has two.
    bool one_type = node.op->text.stablehlo != "stablehlo.select";
    for (const Tensor& operand : node.operands) one_type = one_type && ir::type_of(operand) == type;
    if (one_type) return type_text_.of(type);
    short_types_ = "(";
    for (const Tensor& operand : node.operands) {
      if (short_types_.size() > 1) short_types_ += ", ";
      short_types_ += type_text_.of(ir::type_of(operand));
    }
    short_types_ += ") -> ";
    short_types_ += type_text_.of(type);
    return short_types_;
  }
  void print_short(const Node& node) {
    const std::string_view op = node.op->text.stablehlo, types = short_types(node);
    const std::size_t spaces = indent();
    Scope& scope = scopes_.back();
    const Value result(next_number_++);
    constexpr std::size_t kRestBytes = 64;
    write_at_once(
        kRestBytes + spaces + op.size() + types.size() + node.operands.size() * longest_value_,
        [&](TextCursor& out) {
          TextCursor line = out;
          line.append_spaces(spaces);
          result.append_whole_to(line);
          line += " = ";
          line += op;
          line += ' ';
          for (const Tensor& operand : node.operands) {
            const Node* const source = operand.node();
            const Value& value = value_of(source, scope);
            // A branch's parameter is the value that it captures, which may be one of several
            // results.
            if (source->types.size() == 1)
              value.append_to(line);
            else
              value.element(operand.result()).append_to(line);
            line += ", ";
          }
          line = TextCursor(line.at() - 2);
          line += " : ";
          line += types;
          if (!locations_) line += '\n';
          out = line;
        });
    scope.set(&node, result);
    if (locations_) end_line(node);
  }

  void print_op(const Node& node, const Values& operands) {
    const ir::OpDef& op = *node.op;
    if (op.text.sharding) return print_constraint(node, operands);
    ((out_ += '"') += op.text.stablehlo) += "\"(";
    append(operands);
    out_ += ')';
    if (op.text.attributes && op.text.attributes->in_stablehlo) {
      out_ += " <{";
      write_stablehlo_attributes(node, out_);
      out_ += "}>";
    }
    if (!node.regions.empty()) {
      out_ += " (";
      return;  // after() continues it
    }
    out_ += " : (";
    append_types(node.operands);
    out_ += ") -> ";
    append_result_types(node.types);
    end_line(node);
  }

  void append_type(const TensorType& type) { out_ += type_text_.of(type); }
  /// The types of tensors, or types, separated by commas.
  template <class Range>
  void append_types(const Range& range) {
    bool first = true;
    for (const auto& each : range) {
      if (!std::exchange(first, false)) out_ += ", ";
      if constexpr (requires { each.type(); })
        append_type(each.type());
      else
        append_type(each);
    }
  }
  /// The result types of an op: a single type without parentheses.
  template <class Range>
  void append_result_types(const Range& range) {
    if (range.size() != 1) out_ += '(';
    append_types(range);
    if (range.size() != 1) out_ += ')';
  }

  TextBuffer out_;
  ir::TypeText type_text_{append_mlir_type};
  std::string short_types_;
  const bool locations_;
  const Partitioner partitioner_;
  const std::optional<ir::ProgramSharding>& sharding_;
  const absl::flat_hash_set<std::int64_t> donated_;  // parameters of the program
  NameTable functions_;
  absl::flat_hash_map<const void*, std::string_view> callees_;  // their names
  std::deque<Function> called_;                                 // in the order of their first calls
  std::size_t printed_ = 0;                                     // of these
  NameTable names_;  // of the whole function: a region may not reuse a name from outside
  std::size_t longest_value_ = std::size_t{2} * Value::kShort + Value::kMoreBytes;  // in bytes
  std::vector<Scope> scopes_;
  std::vector<std::vector<Value>> arguments_;  // of the while and conditional nodes that are open
  std::size_t indent_ = 2;
  std::uint32_t next_number_ = 0;
};

}  // namespace

}  // namespace text

std::string to_stablehlo_text(const Function& function, const StablehloOptions& options) {
  for (const std::int64_t parameter : options.donate) {
    if (parameter >= 0 && static_cast<std::size_t>(parameter) < function.params().size()) continue;
    throw TraceError(
        fmt::format(
            "to_stablehlo_text of '{}': StablehloOptions::donate has {}; the program has {} "
            "parameters\n  Give numbers of parameters (leaves of the arguments), from 0.",
            function.name(), parameter, function.params().size()),
        {});
  }
  const Function plain = passes::without_growing_tapes(function);
  Function entry = passes::expand(options.optimize ? passes::optimize(plain) : plain,
                                  passes::Target::kStablehlo);
  std::string out = "module @";
  out += text::whole_identifier(entry.name().empty() ? "main" : entry.name());
  const std::optional<ir::ProgramSharding> sharding = ir::program_sharding(entry, options.mesh);
  if (sharding)
    entry = passes::expand(passes::clamp_indices(entry), passes::Target::kStablehloOnMesh);
  if (sharding) text::append_partitions(out, *sharding);
  out += " {\n";
  if (sharding && options.partitioner == Partitioner::kShardy) text::append_mesh(out, *sharding);
  out.reserve((entry.body().size() + 2) * text::kMlirLineBytes);
  {
    text::StablehloPrinter printer(out, options, sharding);
    ir::walk_nested(entry, printer);
    while (const Function* const callee = printer.next_callee()) ir::walk_nested(*callee, printer);
  }
  out += "}\n";
  return out;
}

std::string to_stablehlo_text(const Tensor& lazy, const StablehloOptions& options) {
  return to_stablehlo_text(Function::make("main", {}, {lazy}), options);
}

}  // namespace rondo
