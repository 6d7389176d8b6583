// Reads the IR's own text, a line at a time. Regions nest on a stack of the reader's own.
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "rondo/text.h"
#include "text/ir/line.h"
#include "transforms/registry.h"

namespace rondo {

namespace text::own {

namespace {

const ir::OpDef* op_of(std::string_view name) {
  static const auto& ops = *new auto([] {
    absl::flat_hash_map<std::string_view, const ir::OpDef*> named;
    for (const ir::OpDef* op : transforms::all_ops()) named.emplace(op->name, op);
    return named;
  }());
  const auto found = ops.find(name);
  return found == ops.end() ? nullptr : found->second;
}

/// A node whose regions are being read.
struct OpenNode {
  mlir::Offset at = 0;
  std::string_view name;  // `12`
  const ir::OpDef* op = nullptr;
  ir::Operands operands;
  ir::Attributes attributes;
  ir::ResultTypes types;
  SourceLocation place;
  std::vector<Function> regions;
};

struct OpenFunction {
  Function::Data data;
  std::vector<TensorType> result_types;  // that the outermost one declares
  std::vector<Tensor> nodes;             // keeps those of the body
  absl::flat_hash_map<std::string_view, Tensor> values;
  std::optional<OpenNode> last;
  mlir::Offset at = 0;
  bool returned = false;
};

/// A function before the program, and its place.
struct Callee {
  Function function;
  mlir::Offset at = 0;
  bool called = false;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Function read() {
    for (mlir::Offset begin = 0; begin <= text_.size();) {
      Line line(text_, begin);
      begin = line.end() + 1;
      if (!line.at_end()) read_line(line);
    }
    if (!open_.empty()) fail(text_.size(), "a function or region does not end\n  Add its `}`.");
    if (main_.empty())
      fail(text_.size(), "there is no function\n  Begin with `func main(%x: f32[]) -> (f32[]) {`.");
    const Callee* useless = nullptr;  // the first one
    for (const auto& [name, callee] : callees_) {
      if (!callee.called && (!useless || callee.at < useless->at)) useless = &callee;
    }
    if (useless)
      fail(useless->at, fmt::format("nothing calls {}\n  Remove it: the last function is the "
                                    "program, and the others have calls.",
                                    useless->function.name()));
    return std::move(main_);
  }

 private:
  [[noreturn]] void fail(mlir::Offset at, const std::string& message) const {
    mlir::fail(text_, at, message);
  }

  void read_line(Line& line) {
    if (open_.empty()) {
      const mlir::Offset at = line.at();
      if (!line.accept_word("func"))
        line.fail("expected `func`\n  A program begins like `func main(%x: f32[]) -> (f32[]) {`.");
      add_callee();
      open(line, true);
      open_.back().at = at;
    } else if (line.opens_region()) {
      if (!open_.back().last) line.fail("a region without a node\n  Write it after its node.");
      open(line, false);
    } else if (line.peek() == '}') {
      close(line);
    } else if (open_.back().returned) {
      line.fail("expected `}`\n  Nothing follows the `return` of a region.");
    } else if (line.peek() == '%') {
      finish_last();
      read_node(line);
    } else if (line.accept_word("return")) {
      finish_last();
      if (!line.at_end()) {
        do {
          open_.back().data.results.push_back(value(line));
        } while (line.accept(","));
      }
      line.place();
      open_.back().returned = true;
    } else {
      line.fail("expected a node\n  Write it like `%0: f32[] = add %x, %y`.");
    }
  }

  /// The function that was read last is not the program, so others call it.
  void add_callee() {
    if (main_.empty()) return;
    const std::string name = main_.name();
    if (!callees_.emplace(name, Callee{std::move(main_), main_at_}).second)
      fail(main_at_, fmt::format("{} is defined twice\n  Give it another name.", name));
    main_ = Function();
  }

  /// `@norm`
  Function callee(Line& line) {
    const mlir::Offset at = line.at();
    line.expect("@");
    const std::string_view name = line.name();
    const auto found = callees_.find(std::string(name));
    if (found == callees_.end())
      fail(at, fmt::format("there is no function {} here\n  Define it above.", name));
    found->second.called = true;
    return found->second.function;
  }

  /// `func main(%x: f32[]) -> (f32[]) {`, `body (%x: f32[]) {`
  void open(Line& line, bool outermost) {
    OpenFunction function;
    function.data.name = line.label();
    line.expect("(");
    if (!line.accept(")")) {
      do {
        read_parameter(line, function);
      } while (line.accept(","));
      line.expect(")");
    }
    if (outermost) read_result_types(line, function);
    line.expect("{");
    line.place();
    open_.push_back(std::move(function));
  }

  void read_parameter(Line& line, OpenFunction& function) const {
    const mlir::Offset at = line.at();
    line.expect("%");
    const std::string_view name = line.name();
    if (name.empty()) line.fail("expected the name of a parameter\n  Write it like `%x: f32[]`.");
    line.expect(":");
    const auto index = static_cast<std::int64_t>(function.data.params.size());
    function.data.params.push_back(
        ir::make_parameter(line.type(), std::string(name), index, nullptr, {}));
    define(function, at, name, function.data.params.back());
  }

  static void read_result_types(Line& line, OpenFunction& function) {
    line.expect("->");
    line.expect("(");
    bool named = false;
    if (!line.accept(")")) {
      do {
        Line ahead = line;
        const std::string_view name = ahead.name();
        const bool has_name = ahead.accept(":");
        if (has_name) line = ahead;
        named |= has_name;
        function.data.result_names.emplace_back(has_name ? name : "");
        function.result_types.push_back(line.type());
      } while (line.accept(","));
      line.expect(")");
    }
    if (!named) function.data.result_names.clear();
  }

  /// `%12: f32[], s32[] = while %0, %1 {carries=2}`
  void read_node(Line& line) {
    OpenNode node;
    node.at = line.at();
    line.expect("%");
    node.name = line.name();
    if (line.accept(":")) {
      do {
        node.types.push_back(line.type());
      } while (line.accept(","));
    }
    line.expect("=");
    const mlir::Offset at = line.at();
    const std::string_view name = line.word();
    node.op = op_of(name);
    if (!node.op || node.op->kind == ir::OpKind::kParameter)
      fail(at, fmt::format("there is no op `{}`\n  docs/ops.md lists the ops.", name));
    if (node.op->kind == ir::OpKind::kConstant) {
      if (node.types.size() != 1) fail(at, "a constant has one type\n  Write it before the `=`.");
      Literal literal = line.elements(node.types[0]);
      define_results(node, ir::make_constant(std::move(literal), line.place()));
      return;
    }
    if (node.op->construct.flow == ir::Flow::kCall) node.regions.push_back(callee(line));
    if (!line.at_end() && line.peek() != '{') {
      do {
        node.operands.push_back(value(line));
      } while (line.accept(","));
    }
    const ir::AttributeText* const attributes = node.op->text.attributes;
    const mlir::Offset attributes_at = line.at();
    if (line.accept("{")) {
      if (!attributes)
        fail(attributes_at, fmt::format("{} takes no attributes\n  Remove them.", name));
      node.attributes = ir::read_own_attributes(*attributes, line);
    } else if (attributes) {
      Line none(kNoAttributes, 0);
      try {
        node.attributes = ir::read_own_attributes(*attributes, none);
      } catch (const ParseError&) {
        line.fail(fmt::format("{} needs attributes\n  Write them like {{axis=0}}.", name));
      }
    }
    node.place = line.place();
    open_.back().last = std::move(node);
  }

  Tensor value(Line& line) const {
    const mlir::Offset at = line.at();
    if (!line.accept("%")) {
      line.fail(
          "expected a value, `%x`\n  Give each constant a line of its own, as "
          "TextOptions{.full = true} prints them.");
    }
    const std::string_view name = line.name();
    const auto found = open_.back().values.find(name);
    if (found == open_.back().values.end()) {
      fail(at, fmt::format("there is no value %{} here\n  Define it above; a region has its "
                           "parameters and its own nodes.",
                           name));
    }
    const ir::Node* const node = found->second.node();
    std::int64_t result = 0;
    if (line.accept("#")) result = line.integer();
    if (result < 0 || static_cast<std::size_t>(result) >= node->types.size()) {
      fail(at, fmt::format("%{} has {} results\n  Count them from 0.", name, node->types.size()));
    }
    return Tensor::of(node, static_cast<std::uint32_t>(result));
  }

  /// The last node has all its regions.
  void finish_last() {
    OpenFunction& function = open_.back();
    if (!function.last) return;
    OpenNode node = std::move(*function.last);
    function.last.reset();
    if (node.op->arity >= 0 && static_cast<std::size_t>(node.op->arity) != node.operands.size()) {
      fail(node.at, fmt::format("{}: the number of its operands is {}, not {}\n  Give as many.",
                                node.op->name, node.op->arity, node.operands.size()));
    }
    try {
      const ir::ResultTypes& said = node.types;
      Tensor made = ir::make(*node.op, std::move(node.operands), std::move(node.attributes),
                             node.place, std::move(node.regions));
      const auto& types = made.node()->types;
      bool same = types.size() == said.size();
      for (std::size_t i = 0; same && i < said.size(); i++) same = types[i] == said[i];
      if (!same) {
        std::string list;
        for (const TensorType& type : types) list += (list.empty() ? "" : ", ") + type.str();
        fail(node.at, fmt::format("{} gives {}\n  Write these types before the `=`.", node.op->name,
                                  list.empty() ? "no result" : list));
      }
      define_results(node, std::move(made));
    } catch (const ParseError&) {
      throw;
    } catch (const Error& error) {
      // Without the place of a node that has none.
      std::string message = error.what();
      constexpr std::string_view kNoPlace = "\n  at ?";
      if (const std::size_t none = message.find(kNoPlace); none != message.npos)
        message.erase(none, kNoPlace.size());
      fail(node.at, message);
    }
  }

  void define_results(const OpenNode& node, Tensor first) {
    OpenFunction& function = open_.back();
    function.nodes.push_back(first);
    function.data.body.push_back(first.node());
    define(function, node.at, node.name, std::move(first));
  }

  void define(OpenFunction& function, mlir::Offset at, std::string_view name, Tensor value) const {
    if (!function.values.emplace(name, std::move(value)).second)
      fail(at, fmt::format("%{} is defined twice\n  Give it another name.", name));
  }

  void close(Line& line) {
    line.expect("}");
    line.place();
    OpenFunction& function = open_.back();
    if (!function.returned)
      line.fail("the region returns nothing\n  End it with `return` and its results.");
    Function closed = checked(line, function);
    const mlir::Offset at = function.at;
    open_.pop_back();
    if (!open_.empty()) {
      open_.back().last->regions.push_back(std::move(closed));
      return;
    }
    main_ = std::move(closed);
    main_at_ = at;
  }

  Function checked(Line& line, OpenFunction& function) const {
    if (open_.size() == 1) {
      bool same = function.result_types.size() == function.data.results.size();
      for (std::size_t i = 0; same && i < function.result_types.size(); i++)
        same = function.result_types[i] == function.data.results[i].type();
      if (!same) {
        line.fail(
            "the results have other types than the first line says\n  Write theirs after the "
            "`->`.");
      }
    }
    return FunctionAccess::make(std::move(function.data));
  }

  static constexpr std::string_view kNoAttributes = "}";

  const std::string_view text_;
  const ir::BuildScope building_;
  std::vector<OpenFunction> open_;
  absl::flat_hash_map<std::string, Callee> callees_;
  Function main_;  // the last function so far
  mlir::Offset main_at_ = 0;
};

}  // namespace

}  // namespace text::own

Function parse_text(std::string_view text) { return text::own::Reader(text).read(); }

}  // namespace rondo
