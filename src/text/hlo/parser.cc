// The syntax of HLO.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "fmt/format.h"
#include "text/hlo/program.h"
#include "text/mlir/cursor.h"
#include "text/mlir/values.h"

namespace rondo::text::hlo {

namespace {

using mlir::Attribute;
using mlir::attribute_of;
using mlir::Cursor;
using Kind = Attribute::Kind;

/// Types, and computations, within each other; more is an error.
constexpr int kMostNested = 100;

/// Attributes that say nothing about results: where an instruction comes from, how it is laid out,
/// split or scheduled.
constexpr std::string_view kIgnored[] = {"backend_config",
                                         "control-predecessors",
                                         "execution_thread",
                                         "frontend_attributes",
                                         "operand_layout_constraints",
                                         "output_to_operand_aliasing",
                                         "origin",
                                         "result_accuracy",
                                         "sharding",
                                         "statistics"};
/// Attributes that name computations, in the order of the op's regions.
constexpr std::string_view kComputations[] = {
    "to_apply", "condition",         "body",
    "select",   "scatter",           "true_computation",
    "calls",    "false_computation", "branch_computations"};

template <std::size_t n>
bool is_among(const std::string_view (&list)[n], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '-';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  Module module() {
    Module module;
    if (cursor_.accept_word("HloModule")) {
      name();
      while (cursor_.accept(",")) {
        if (cursor_.accept("replica_count="))
          module.replicas = cursor_.integer();
        else if (cursor_.accept("num_partitions="))
          module.partitions = cursor_.integer();
        else
          skip_attribute();
      }
    }
    while (!cursor_.at_end()) {
      if (parse_frame_table(cursor_, module.frames)) continue;
      const bool entry = cursor_.accept_word("ENTRY");
      Computation computation;
      computation.at = cursor_.at();
      computation.name = name();
      if (cursor_.peek() == '(') {
        cursor_.bracketed('(');
        cursor_.expect("->");
        parse_type();
      }
      parse_body(computation);
      if (cursor_.accept(",")) skip_attribute();
      if (entry) module.entry = module.computations.size();
      module.computations.push_back(std::move(computation));
      has_entry_ |= entry;
    }
    if (module.computations.empty()) cursor_.fail("expected a computation");
    if (!has_entry_) module.entry = module.computations.size() - 1;
    return module;
  }

 private:
  /// A name, with or without `%`.
  std::string_view name() {
    cursor_.accept("%");
    const mlir::Offset at = cursor_.at();
    std::string_view rest = cursor_.text().substr(at);
    std::size_t size = 0;
    while (size < rest.size() && is_name_letter(rest[size])) size++;
    if (size == 0) cursor_.fail("expected a name");
    cursor_.go_to(at + size);
    return rest.substr(0, size);
  }

  void skip_attribute() {
    name();
    if (cursor_.accept("=")) skip_value();
  }
  void skip_value() {
    const char next = cursor_.peek();
    if (next == '"')
      cursor_.quoted();
    else if (next == '{' || next == '[')
      cursor_.bracketed(next);
    else
      raw_word();
    // `[2,4]<=[4,2]T(1,0)` and the like.
    while (cursor_.accept("<=")) {
      cursor_.bracketed('[');
      if (cursor_.accept("T")) cursor_.bracketed('(');
    }
  }

  /// `f32[2,3]{1,0}`, `(f32[], s32[2])`.
  ValueType parse_type(int nested = 0) {
    if (nested > kMostNested) cursor_.fail(fmt::format("nested deeper than {}", kMostNested));
    ValueType type;
    const mlir::Offset at = cursor_.at();
    if (cursor_.accept("(")) {
      type.is_tuple = true;
      while (!cursor_.accept(")")) {
        if (!type.elements.empty()) cursor_.expect(",");
        type.elements.push_back(parse_type(nested + 1));
      }
      return type;
    }
    if (const TensorType* const known = types_.accept(cursor_)) {
      type.array = *known;
    } else {
      type.array = parse_array_type();
      types_.add(cursor_.text().substr(at, cursor_.after() - at), type.array);
    }
    if (cursor_.peek() == '{') {  // the layout
      const char first = first_in_braces();
      if ((first >= '0' && first <= '9') || first == ':') cursor_.bracketed('{');
    }
    return type;
  }
  /// `f32[2,3]`
  TensorType parse_array_type() {
    const mlir::Offset at = cursor_.at();
    const std::string_view dtype = cursor_.word();
    std::vector<std::int64_t> dims;
    cursor_.expect("[");
    while (!cursor_.accept("]")) {
      if (!dims.empty()) cursor_.expect(",");
      if (cursor_.peek() == '<' || cursor_.peek() == '?')
        cursor_.fail("sizes that are not known are not supported");
      dims.push_back(cursor_.integer());
    }
    for (std::size_t i = 0; i < kDTypeCount; i++) {
      if (dtype_name(static_cast<DType>(i)) != dtype) continue;
      try {
        return {static_cast<DType>(i), Shape(dims)};
      } catch (const Error& error) {
        mlir::fail(cursor_.text(), at, error.what());
      }
    }
    mlir::fail(cursor_.text(), at, fmt::format("the element type {} is not supported", dtype));
  }
  char first_in_braces() const {
    Cursor ahead = cursor_;
    ahead.expect("{");
    return ahead.peek();
  }
  /// Whether a type follows, and not an opcode with operands.
  bool sees_type() const {
    Cursor ahead = cursor_;
    if (ahead.peek() == '(') return true;
    return !ahead.word().empty() && ahead.text().substr(ahead.at(), 1) == "[";
  }

  void parse_body(Computation& computation) {
    if (++nested_ > kMostNested) cursor_.fail(fmt::format("nested deeper than {}", kMostNested));
    cursor_.expect("{");
    while (!cursor_.accept("}")) {
      if (cursor_.at_end()) cursor_.fail("expected `}`");
      parse_instruction(computation.instructions.emplace_back());
    }
    if (computation.instructions.empty())
      mlir::fail(cursor_.text(), computation.at, "the computation is empty");
    nested_--;
  }

  void parse_instruction(Instruction& instruction) {
    instruction.is_root = cursor_.accept_word("ROOT");
    mlir::Operation& operation = instruction.operation;
    operation.at = cursor_.at();
    instruction.name = name();
    cursor_.expect("=");
    if (sees_type()) {
      instruction.type = parse_type();
      instruction.has_type = true;
      append_arrays(instruction.type, operation.types);
    }
    operation.name = name();
    if (operation.name == "constant") {
      instruction.value_at = cursor_.at() + 1;
      instruction.value = cursor_.bracketed('(');
    } else if (operation.name == "parameter") {
      cursor_.expect("(");
      instruction.number = cursor_.integer();
      cursor_.expect(")");
    } else {
      parse_operands(operation);
    }
    while (cursor_.accept(",")) parse_attribute(instruction);
  }

  static void append_arrays(const ValueType& type, mlir::Types& arrays) {
    if (!type.is_tuple) arrays.push_back(type.array);
    for (const ValueType& element : type.elements) append_arrays(element, arrays);
  }

  void parse_operands(mlir::Operation& operation) {
    cursor_.expect("(");
    while (!cursor_.accept(")")) {
      if (!operation.operands.empty()) cursor_.expect(",");
      if (cursor_.peek() != '%' && sees_type()) parse_type();
      mlir::Use use{.name = {}, .at = cursor_.at()};
      use.name = name();
      if (cursor_.peek() == '(') cursor_.fail("instructions within operands are not supported");
      operation.operands.push_back(use);
    }
  }

  void parse_attribute(Instruction& instruction) {
    const mlir::Offset at = cursor_.at();
    const std::string_view key = name();
    cursor_.expect("=");
    const auto add = [&](std::string_view entry, Attribute value) {
      instruction.operation.attributes.own().push_back({entry, std::move(value)});
    };
    if (is_among(kComputations, key)) {
      parse_computations(instruction, key == "branch_computations");
    } else if (key == "backend_config" && instruction.operation.name == "custom-call" &&
               cursor_.peek() == '"') {
      add(key, parse_value());
    } else if (key == "backend_config" && instruction.operation.name == "custom-call" &&
               instruction.operation.find("api_version")) {  // of MLIR: {uplo = 76 : ui8}
      add(key, mlir::parse_attribute(cursor_, {}));
    } else if (key == "metadata") {
      instruction.operation.location = cursor_.at();
      skip_value();
    } else if (is_among(kIgnored, key)) {
      skip_value();
    } else if (key == "window") {
      cursor_.expect("{");
      while (!cursor_.accept("}")) {
        const std::string_view field = name();
        cursor_.expect("=");
        add(field, parse_value());
      }
    } else if (key == "slice") {
      parse_ranges(instruction.operation);
    } else {
      Attribute value = parse_value();
      value.at = at;
      add(key, std::move(value));
    }
  }

  /// A name, or instructions in braces; of branches a list of these.
  void parse_computations(Instruction& instruction, bool are_branches) {
    if (!are_branches || !cursor_.accept("{")) {
      parse_called(instruction);
      return;
    }
    while (!cursor_.accept("}")) {
      if (!instruction.called.empty()) cursor_.expect(",");
      parse_called(instruction);
    }
  }
  void parse_called(Instruction& instruction) {
    if (cursor_.peek() != '{') {
      instruction.called.push_back(name());
      return;
    }
    Computation inside;
    inside.at = cursor_.at();
    parse_body(inside);
    instruction.called.emplace_back();
    instruction.inside.push_back(std::move(inside));
  }

  /// `{[0:4:2], [1:3]}` as the attributes of a slice.
  void parse_ranges(mlir::Operation& operation) {
    Attribute starts = attribute_of(Kind::kList, cursor_.at()), limits = starts, strides = starts;
    const auto number = [&](std::int64_t value) {
      Attribute attribute = attribute_of(Kind::kInteger, cursor_.at());
      attribute.integer = value;
      return attribute;
    };
    for (Attribute* const each : {&starts, &limits, &strides})
      each->list.reserve(mlir::kUsualElements);
    cursor_.expect("{");
    while (!cursor_.accept("}")) {
      if (!starts.list.empty()) cursor_.expect(",");
      cursor_.expect("[");
      starts.list.push_back(number(cursor_.integer()));
      cursor_.expect(":");
      limits.list.push_back(number(cursor_.integer()));
      strides.list.push_back(number(cursor_.accept(":") ? cursor_.integer() : 1));
      cursor_.expect("]");
    }
    std::vector<mlir::Entry>& entries = operation.attributes.own();
    entries.reserve(3);
    entries.push_back({"start_indices", std::move(starts)});
    entries.push_back({"limit_indices", std::move(limits)});
    entries.push_back({"strides", std::move(strides)});
  }

  /// Up to a comma, a space or a bracket.
  std::string_view raw_word() {
    const mlir::Offset at = cursor_.at();
    const std::string_view rest = cursor_.text().substr(at);
    const std::size_t size = std::min(rest.find_first_of(", \n\t\r(){}[]\"="), rest.size());
    if (size == 0) cursor_.fail("expected a value");
    cursor_.go_to(at + size);
    return rest.substr(0, size);
  }

  Attribute parse_value() {
    Attribute value = attribute_of(Kind::kList, cursor_.at());
    if (cursor_.peek() == '"') {
      value.kind = Kind::kString;
      value.text = cursor_.quoted();
      return value;
    }
    if (cursor_.accept("{")) {
      if (++nested_ > kMostNested) cursor_.fail(fmt::format("nested deeper than {}", kMostNested));
      while (!cursor_.accept("}")) {
        if (value.list.empty())
          value.list.reserve(mlir::kUsualElements);
        else
          cursor_.expect(",");
        value.list.push_back(parse_value());
      }
      nested_--;
      return value;
    }
    return value_of(raw_word(), value.at);
  }

  /// `3`, `true`, `LT`, `2x2`, `0_0x1_1`.
  static Attribute value_of(std::string_view word, mlir::Offset at) {
    Attribute value = attribute_of(Kind::kWord, at);
    value.text = word;
    if (word == "true" || word == "false") {
      value.kind = Kind::kBool;
      value.integer = word == "true" ? 1 : 0;
      return value;
    }
    const char* const end = word.data() + word.size();
    if (std::from_chars(word.data(), end, value.integer).ptr == end) {
      value.kind = Kind::kInteger;
      return value;
    }
    if (std::from_chars(word.data(), end, value.number).ptr == end) {
      value.kind = Kind::kFloat;
      return value;
    }
    for (const char separator : {'x', '_'}) {
      if (word.find(separator) == word.npos) continue;
      Attribute list = attribute_of(Kind::kList, at);
      list.list.reserve(mlir::kUsualElements);
      for (std::size_t begin = 0; begin <= word.size();) {
        const std::size_t stop = std::min(word.find(separator, begin), word.size());
        list.list.push_back(value_of(word.substr(begin, stop - begin), at));
        begin = stop + 1;
      }
      const bool numbers =
          std::all_of(list.list.begin(), list.list.end(), [](const Attribute& element) {
            return element.kind == Kind::kInteger || element.kind == Kind::kList;
          });
      if (numbers) return list;
    }
    return value;
  }

  Cursor cursor_;
  mlir::KnownTypes types_;
  bool has_entry_ = false;
  int nested_ = 0;
};

}  // namespace

Module parse_module(std::string_view text) { return Parser(text).module(); }

}  // namespace rondo::text::hlo
