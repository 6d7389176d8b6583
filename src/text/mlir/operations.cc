#include "text/mlir/operations.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "text/mlir/values.h"

namespace rondo::text::mlir {

namespace {

using Kind = Attribute::Kind;

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text), locations_(text) {}

  Modules modules() {
    find_resources();
    find_aliases();
    std::vector<Module> modules;
    Module loose;  // without `module`
    while (!cursor_.at_end()) {
      if (accept_alias()) continue;
      if (cursor_.sees(kResources)) {
        parse_resources(cursor_);
        continue;
      }
      const Offset at = cursor_.at();
      if (cursor_.accept_word("module")) {
        if (cursor_.peek() == '@') cursor_.name_after('@');
        Module module;
        if (cursor_.accept_word("attributes"))
          parse_entries(cursor_, "{", "}", aliases_, module.attributes.own());
        cursor_.expect("{");
        while (!cursor_.accept("}")) add_function(module.functions);
        skip_location(cursor_);
        modules.push_back(std::move(module));
      } else if (cursor_.peek() == '"') {
        Operation module = parse_operation();
        if (module.name == "func.func") {
          loose.functions.push_back(std::move(module));
        } else if (module.name == "builtin.module" && module.regions.size() == 1) {
          modules.push_back(
              {std::move(module.regions[0].operations), std::move(module.attributes)});
        } else {
          fail(cursor_.text(), at, "expected a module or a function");
        }
      } else {
        add_function(loose.functions);
      }
    }
    if (!loose.functions.empty()) modules.push_back(std::move(loose));
    return {std::move(modules), std::move(locations_)};
  }

 private:
  static constexpr std::string_view kResources = "{-#";
  using Ids = absl::flat_hash_map<std::string_view, ValueId>;

  /// They come after their uses.
  void find_resources() {
    const Offset begin = cursor_.text().rfind("\n{-#");
    if (begin == std::string_view::npos) return;
    Cursor resources(cursor_.text(), begin);
    parse_resources(resources);
  }
  /// `{-# dialect_resources: { builtin: { name: "0x...", ... } } #-}`; appended.
  void parse_resources(Cursor& cursor) {
    cursor.expect(kResources);
    while (!cursor.accept("#-}")) {
      const std::string_view section = cursor.word();
      if (section.empty()) cursor.fail("expected `dialect_resources` or `#-}`");
      cursor.expect(":");
      cursor.expect("{");
      while (!cursor.accept("}")) {
        cursor.word();  // of the dialect
        cursor.expect(":");
        cursor.expect("{");
        while (!cursor.accept("}")) {
          const std::string_view name = cursor.peek() == '"' ? cursor.quoted() : cursor.word();
          cursor.expect(":");
          const Offset at = cursor.at();
          if (cursor.peek() == '"')
            aliases_.resources.insert_or_assign(name, Resource{cursor.quoted(), at});
          else
            cursor.word();  // a flag or number of an external resource
          cursor.accept(",");
        }
        cursor.accept(",");
      }
      cursor.accept(",");
    }
  }

  /// `#name = ...` may come after its uses.
  void find_aliases() {
    const std::string_view text = cursor_.text();
    for (Offset at = 0; at < text.size();) {
      if (text[at] == '#') {
        Cursor alias(text, at);
        const std::string_view name = alias.name_after('#');
        if (alias.accept("=")) {
          // Locations refer to each other, and are read when they are needed.
          if (alias.accept_word("loc"))
            locations_.define(name, alias.at());
          else
            aliases_.attributes.emplace(name, parse_attribute(alias, aliases_));
        }
      }
      at = text.find('\n', at);
      if (at == text.npos) break;
      at++;
    }
  }
  bool accept_alias() {
    if (cursor_.peek() != '#') return false;
    cursor_.name_after('#');
    cursor_.expect("=");
    if (cursor_.accept_word("loc"))
      cursor_.bracketed('(');
    else
      parse_attribute(cursor_, aliases_);
    return true;
  }

  void add_function(Operations& functions) {
    const Offset at = cursor_.at();
    if (cursor_.sees("\"")) {
      functions.push_back(parse_operation());
      return;
    }
    const std::string_view word = cursor_.word();
    if (word == "func.func" || word == "func") {
      functions.push_back(parse_function(at));
    } else if (word == "sdy.mesh") {  // names devices, and changes no result
      cursor_.name_after('@');
      cursor_.expect("=");
      cursor_.bracketed('<');
      skip_attributes();
      skip_location(cursor_);
    } else {
      fail(cursor_.text(), at, "expected a function, `func.func @name(...)`");
    }
  }

  /// `private @f(%x: tensor<f32>) -> tensor<f32> { ... }`
  Operation parse_function(Offset at) {
    Ids outer = std::exchange(ids_, {});
    Operation function{.name = "func.func", .at = at};
    for (const std::string_view visibility : {"public", "private", "nested"})
      cursor_.accept_word(visibility);
    Entry name{"sym_name", attribute_of(Kind::kString, cursor_.at())};
    name.value.text = cursor_.name_after('@');
    function.attributes.own().push_back(std::move(name));
    Block block;
    parse_parameters(block);
    if (cursor_.accept("->")) {
      if (cursor_.accept("(")) {
        while (!cursor_.accept(")")) {
          if (!function.types.empty()) cursor_.expect(",");
          parse_type(cursor_, types_, function.types, function.details);
          skip_attributes();
        }
      } else {
        parse_type(cursor_, types_, function.types, function.details);
      }
    }
    if (cursor_.accept_word("attributes")) skip_attributes();
    cursor_.expect("{");
    parse_operations(block);
    block.ids = ids_.size();
    function.location = skip_location(cursor_);
    function.regions.push_back(std::move(block));
    ids_ = std::move(outer);
    return function;
  }

  void skip_attributes() {
    std::vector<Entry> attributes;
    if (cursor_.peek() == '{') parse_entries(cursor_, "{", "}", aliases_, attributes);
  }

  /// `(%a: tensor<f32>, %b: tensor<f32>)`, with attributes and locations; appended.
  void parse_parameters(Block& block) {
    cursor_.expect("(");
    bool first = true;
    while (!cursor_.accept(")")) {
      if (!std::exchange(first, false)) cursor_.expect(",");
      Parameter parameter;
      parameter.name = cursor_.name_after('%');
      parameter.id = id_of(parameter.name);
      cursor_.expect(":");
      Types types;
      parse_type(cursor_, types_, types, parameter.details);
      if (types.size() != 1) cursor_.fail("parameters that are tuples are not supported");
      parameter.type = types[0];
      skip_attributes();
      parameter.location = skip_location(cursor_);
      block.parameters.push_back(std::move(parameter));
    }
  }

  /// The operations up to the closing bracket, which is passed.
  void parse_operations(Block& block) {
    while (!cursor_.accept("}")) {
      if (cursor_.at_end()) cursor_.fail("expected `}`");
      if (cursor_.peek() == '^') cursor_.fail("regions of several blocks are not supported");
      parse_operation(block.operations.emplace_back());
    }
  }

  Block parse_region() {
    if (++nested_ > kMostNestedRegions)
      cursor_.fail(fmt::format("regions are nested deeper than {}", kMostNestedRegions));
    Block block;
    cursor_.expect("{");
    if (cursor_.peek() == '^') {
      cursor_.name_after('^');
      if (cursor_.peek() == '(') parse_parameters(block);
      cursor_.expect(":");
    }
    parse_operations(block);
    nested_--;
    return block;
  }

  /// Functions do not see each other's names, and count them from 0.
  ValueId id_of(std::string_view name) {
    return ids_.try_emplace(name, static_cast<ValueId>(ids_.size())).first->second;
  }

  Use parse_use() {
    Use use{.at = cursor_.at()};
    use.name = cursor_.name_after('%');
    use.id = id_of(use.name);
    if (cursor_.text().substr(cursor_.at(), 1) == "#" && cursor_.accept("#"))
      use.element = static_cast<std::size_t>(cursor_.integer());
    return use;
  }

  Operation parse_operation() {
    Operation operation;
    parse_operation(operation);
    return operation;
  }
  void parse_operation(Operation& operation) {
    while (cursor_.peek() == '%') {
      Operation::Results results{cursor_.name_after('%')};
      results.id = id_of(results.name);
      if (cursor_.accept(":")) results.count = static_cast<std::size_t>(cursor_.integer());
      operation.results.push_back(results);
      if (!cursor_.accept(",")) {
        cursor_.expect("=");
        break;
      }
    }
    operation.at = cursor_.at();
    if (cursor_.peek() == '"') {
      operation.name = cursor_.quoted();
      const bool is_function = operation.name == "func.func";
      Ids outer = is_function ? std::exchange(ids_, {}) : Ids();
      parse_generic(operation);
      if (is_function && !operation.regions.empty()) operation.regions[0].ids = ids_.size();
      if (is_function) ids_ = std::move(outer);
    } else {
      operation.name = cursor_.word();
      if (operation.name.empty()) cursor_.fail("expected an operation");
      parse_short(operation);
    }
    operation.location = skip_location(cursor_);
  }

  /// `{a = 1, b}`, added to the attributes of an operation. Equal texts are read once, which takes
  /// most of the time that operations with attributes take.
  void parse_dictionary(Operation& operation) {
    if (!operation.attributes.empty())
      return parse_entries(cursor_, "{", "}", aliases_, operation.attributes.own());
    const Offset at = cursor_.at();
    Cursor ahead = cursor_;
    const auto [known, is_new] = dictionaries_.try_emplace(ahead.bracketed('{'));
    if (is_new) {
      parse_entries(cursor_, "{", "}", aliases_, known->second.entries.own());
      known->second.at = at;
    }
    cursor_.go_to(ahead.after());
    operation.attributes = known->second.entries.moved(known->second.at, at);
  }

  /// `(%a, %b) <{...}> ({...}, {...}) {...} : (types) -> types`
  void parse_generic(Operation& operation) {
    cursor_.expect("(");
    while (!cursor_.accept(")")) {
      if (!operation.operands.empty()) cursor_.expect(",");
      operation.operands.push_back(parse_use());
    }
    if (cursor_.accept("<")) {
      parse_dictionary(operation);
      cursor_.expect(">");
    }
    if (cursor_.accept("(")) {
      do {
        operation.regions.push_back(parse_region());
      } while (cursor_.accept(","));
      cursor_.expect(")");
    }
    if (cursor_.peek() == '{') parse_dictionary(operation);
    cursor_.expect(":");
    parse_types(operation);
  }

  /// The types after the colon: `(A, B) -> C`, `A, B` or `A -> B`.
  void parse_types(Operation& operation) {
    if (cursor_.accept("(")) {
      operation.has_operand_types = true;
      operation.operand_types = parse_type_list(")", operation.operand_details);
      cursor_.expect("->");
      parse_result_types(operation);
      return;
    }
    operation.types = parse_type_list("", operation.details);
    if (!cursor_.accept("->")) return;
    operation.has_operand_types = true;
    operation.operand_types = std::exchange(operation.types, {});
    operation.operand_details = std::exchange(operation.details, nullptr);
    parse_result_types(operation);
  }
  void parse_result_types(Operation& operation) {
    if (cursor_.accept("("))
      operation.types = parse_type_list(")", operation.details);
    else
      parse_type(cursor_, types_, operation.types, operation.details);
  }
  Types parse_type_list(std::string_view close, TypeDetailsPointer& details) {
    Types types;
    if (!close.empty() && cursor_.accept(close)) return types;
    do {
      parse_type(cursor_, types_, types, details);
    } while (cursor_.accept(","));
    if (!close.empty()) cursor_.expect(close);
    return types;
  }

  /// Operands, words and named attributes in any order, then types and regions.
  void parse_short(Operation& operation) {
    Uses inits;                    // of a reduction
    std::vector<Parameter> names;  // of what a loop carries
    std::string_view applied;
    while (true) {
      const char next = cursor_.peek();
      if (next == '%') {
        operation.operands.push_back(parse_use());
      } else if (next == '(') {
        parse_group(operation, inits, names);
      } else if (next == '@') {
        Entry callee{"callee", attribute_of(Kind::kSymbol, cursor_.at())};
        callee.value.text = cursor_.name_after('@');
        operation.attributes.own().push_back(std::move(callee));
      } else if (next == '"') {
        cursor_.quoted();
      } else if (next == '[') {
        parse_ranges(operation);
      } else if (next == '<') {
        cursor_.bracketed('<');  // of a sharding, which changes no result
      } else if (next == '{') {
        parse_dictionary(operation);
      } else if (next == ',') {
        cursor_.expect(",");
        continue;
      } else if (next == ':') {
        cursor_.expect(":");
        parse_types(operation);
        break;
      } else if (cursor_.sees("dense")) {
        Entry value{.name = "value", .value = parse_attribute(cursor_, aliases_)};
        operation.types = {value.value.type};
        operation.attributes.own().push_back(std::move(value));
        if (cursor_.peek() == '{') parse_dictionary(operation);
        break;
      } else {
        const std::string_view word = cursor_.word();
        if (word.empty()) break;  // an operation without types
        if (word == "applies") {
          applied = cursor_.word();
        } else if (cursor_.accept("=")) {
          add_named(operation, word);
        } else if (word != "across") {
          operation.words.push_back(word);
        }
      }
    }
    operation.operands.insert(operation.operands.end(), inits.begin(), inits.end());
    if (cursor_.accept_word("attributes")) parse_dictionary(operation);
    if (!names.empty()) parse_loop_regions(operation, std::move(names));
    if (cursor_.accept_word("reducer")) parse_reducer(operation);
    if (!applied.empty()) apply(operation, applied);
  }

  /// `(%a, %b)`, `(%x init: %z)`, `(%i = %a, %s = %b)`, `(%a, k = 3)`.
  void parse_group(Operation& operation, Uses& inits, std::vector<Parameter>& names) {
    cursor_.expect("(");
    bool first = true;
    while (!cursor_.accept(")")) {
      if (!std::exchange(first, false)) cursor_.expect(",");
      if (cursor_.peek() != '%') {
        const std::string_view word = cursor_.word();
        cursor_.expect("=");
        add_named(operation, word);
        continue;
      }
      const Use use = parse_use();
      if (cursor_.accept("=")) {
        names.push_back({use.name, use.id});
        operation.operands.push_back(parse_use());
      } else {
        operation.operands.push_back(use);
        if (cursor_.accept("init:")) inits.push_back(parse_use());
      }
    }
  }

  void add_named(Operation& operation, std::string_view name) {
    Attribute value = parse_attribute(cursor_, aliases_);
    if (name == "window" && value.kind == Kind::kDictionary) {
      for (Entry& entry : value.entries) operation.attributes.own().push_back(std::move(entry));
    } else {
      operation.attributes.own().push_back({name, std::move(value)});
    }
  }

  /// `[0:4:2, 1:3]` as the attributes of a slice; `[1]` as the index of an element of a tuple.
  void parse_ranges(Operation& operation) {
    Attribute starts = attribute_of(Kind::kList, cursor_.at()), limits = starts, strides = starts;
    const auto number = [&](std::int64_t value) {
      Attribute attribute = attribute_of(Kind::kInteger, cursor_.at());
      attribute.integer = value;
      return attribute;
    };
    for (Attribute* const each : {&starts, &limits, &strides}) each->list.reserve(kUsualElements);
    cursor_.expect("[");
    while (!cursor_.accept("]")) {
      if (!starts.list.empty()) cursor_.expect(",");
      starts.list.push_back(number(cursor_.integer()));
      if (starts.list.size() == 1 && cursor_.accept("]")) {
        operation.attributes.own().push_back({"index", std::move(starts.list[0])});
        return;
      }
      cursor_.expect(":");
      limits.list.push_back(number(cursor_.integer()));
      strides.list.push_back(number(cursor_.accept(":") ? cursor_.integer() : 1));
    }
    operation.attributes.own().push_back({"start_indices", std::move(starts)});
    operation.attributes.own().push_back({"limit_indices", std::move(limits)});
    operation.attributes.own().push_back({"strides", std::move(strides)});
  }

  /// `cond { ... } do { ... }`: both regions have what the loop carries as parameters.
  void parse_loop_regions(Operation& operation, std::vector<Parameter> names) {
    if (operation.types.size() != names.size())
      fail(cursor_.text(), operation.at,
           fmt::format("{} values and {} types", names.size(), operation.types.size()));
    for (std::size_t i = 0; i < names.size(); i++) names[i].type = operation.types[i];
    for (const std::string_view word : {"cond", "do"}) {
      cursor_.expect(word);
      operation.regions.push_back(parse_region());
      operation.regions.back().parameters = names;
    }
  }

  /// `reducer(%a: A, %b: A) (%c: B, %d: B) { ... }`: the parameters of each array together.
  void parse_reducer(Operation& operation) {
    Block accumulated, elements;
    while (cursor_.peek() == '(') {
      Block pair;
      parse_parameters(pair);
      if (pair.parameters.size() != 2) cursor_.fail("expected two parameters of each array");
      accumulated.parameters.push_back(std::move(pair.parameters[0]));
      elements.parameters.push_back(std::move(pair.parameters[1]));
    }
    Block region = parse_region();
    region.parameters = std::move(accumulated.parameters);
    for (Parameter& parameter : elements.parameters)
      region.parameters.push_back(std::move(parameter));
    operation.regions.push_back(std::move(region));
  }

  /// `applies stablehlo.add`: a region of that operation.
  void apply(Operation& operation, std::string_view applied) {
    if (operation.types.size() != 1) fail(cursor_.text(), operation.at, "expected one result");
    const TensorType scalar{operation.types[0].dtype, {}};
    Block region;
    // Names that no text has.
    const ValueId a = id_of(" a"), b = id_of(" b"), c = id_of(" c");
    region.parameters = {{" a", a, scalar}, {" b", b, scalar}};
    Operation combine{.name = applied, .at = operation.at};
    combine.results = {{" c", c}};
    combine.operands = {{" a", a, 0, operation.at}, {" b", b, 0, operation.at}};
    combine.types = {scalar};
    Operation give{.name = "stablehlo.return", .at = operation.at};
    give.operands = {{" c", c, 0, operation.at}};
    region.operations.push_back(std::move(combine));
    region.operations.push_back(std::move(give));
    operation.regions.push_back(std::move(region));
  }

  Cursor cursor_;
  Aliases aliases_;
  KnownTypes types_;
  Ids ids_;  // of the names in the function that is read
  struct Dictionary {
    EntryList entries;
    Offset at = 0;
  };
  absl::flat_hash_map<std::string_view, Dictionary> dictionaries_;  // by what is in the brackets
  Locations locations_;
  int nested_ = 0;
};

}  // namespace

Modules parse_modules(std::string_view text) { return Parser(text).modules(); }

}  // namespace rondo::text::mlir
