// A program from StableHLO.
#include "text/stablehlo_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "control_flow/function_call.h"
#include "fmt/format.h"
#include "ir/read_construct.h"
#include "ops/slice.h"
#include "ops/support.h"
#include "rondo/detail/trace.h"
#include "rondo/ops.h"
#include "rondo/text.h"
#include "rondo/vmap.h"
#include "text/bytecode/artifact.h"
#include "text/callees.h"
#include "text/check_operations.h"
#include "text/dynamic_shapes.h"
#include "text/mlir/cursor.h"
#include "text/mlir/operations.h"
#include "text/processes.h"
#include "text/quantized.h"
#include "text/read_operation.h"

namespace rondo {

namespace text {

namespace {

using detail::Leaves;
using detail::RegionCallable;
using mlir::Block;
using mlir::Operation;

constexpr std::string_view kStablehloText = "StableHLO text";

class StablehloReader {
 public:
  StablehloReader(std::string_view text, std::string_view file, const mlir::Module& module,
                  const mlir::Locations& locations)
      : text_(text), module_(module), locations_(locations), lines_(text, file) {
    for (const Operation& function : module.functions) {
      const mlir::Attribute* const name = function.find("sym_name");
      if (function.name != "func.func" || !name || function.regions.size() != 1)
        fail(function,
             "expected a function with a name and one region\n  Write it like `func.func @main(%x: "
             "tensor<f32>) -> tensor<f32> {`.");
      by_name_.emplace(name->text, &function);
    }
    count_calls();
    const auto count = [&](std::string_view name) {
      for (const mlir::Entry& entry : module.attributes) {
        if (entry.name == name && entry.value.kind == mlir::Attribute::Kind::kInteger)
          return std::clamp<std::int64_t>(entry.value.integer, 1, kMostProcesses);
      }
      return std::int64_t{1};
    };
    all_.replicas = count("mhlo.num_replicas");
    all_.partitions = count("mhlo.num_partitions");
  }

  Function main(const std::string& entry) {
    const auto found = by_name_.find(entry.empty() ? "main" : entry);
    if (found == by_name_.end())
      mlir::fail(text_, 0, no_entry("function", entry.empty() ? "@main" : '@' + entry, names()));
    return program(*found->second, [&](std::span<const Tensor> arguments) {
      return build_function(*found->second, arguments);
    });
  }

  /// Of this module, in order: those that hold checks, or @main without any, or else all.
  std::vector<CheckedFunction> checked_functions() {
    const auto has_checks = [](const Operation& function) {
      const mlir::Operations& operations = function.regions[0].operations;
      return std::any_of(operations.begin(), operations.end(), is_check);
    };
    const bool any = std::any_of(module_.functions.begin(), module_.functions.end(), has_checks);
    const auto main = by_name_.find("main");
    std::vector<CheckedFunction> checked;
    for (const Operation& function : module_.functions) {
      const Block& body = function.regions[0];
      if (any ? !has_checks(function) : main != by_name_.end() && main->second != &function)
        continue;
      CheckedFunction& made = checked.emplace_back();
      made.name = function.find("sym_name")->text;
      made.line = mlir::place_of(text_, function.at).line;
      made.takes_arguments = !body.parameters.empty();
      if (!made.takes_arguments) read_checks(function, made);
    }
    return checked;
  }

 private:
  /// What an operation of some name is read as.
  struct Meaning {
    enum class Kind : std::uint8_t {
      kReturn,
      kConstant,
      kCheck,
      kCall,
      kTuple,
      kElement,
      kParallel,
      kFunction,
      kOp,
      kNothing
    };
    Kind kind = Kind::kNothing;
    bool may_be_dynamic = false;
    ReadFunction function = nullptr;
    const ir::OpDef* op = nullptr;
  };
  struct Value {
    std::vector<Tensor> tensors;
    bool is_tuple = false;  // of these elements, else of that many results
    bool is_defined = false;
  };
  /// The values of a function, by id.
  struct Scope {
    std::vector<Value> values;
    /// In order, each with what had its id outside of the region, which gets it back.
    std::vector<std::pair<mlir::ValueId, Value>> defined;
  };

  /// Throws ParseError if their sizes are not known.
  void add_parameters(const Operation& operation, const Block& block,
                      std::vector<TensorType>& types, std::vector<std::string>& names) const {
    for (const mlir::Parameter& parameter : block.parameters) {
      if (parameter.details && !parameter.details->unknown.empty()) {
        fail(operation,
             fmt::format("the sizes of its parameter %{} are not known\n  Give the program "
                         "arguments of fixed shapes.",
                         parameter.name));
      }
      const std::string_view name = locations_.name(parameter.location);
      types.push_back(parameter.type);
      names.emplace_back(name.empty() ? parameter.name : name);
    }
  }

  std::vector<std::string_view> names() const {
    std::vector<std::string_view> names;
    for (const Operation& function : module_.functions)
      names.push_back(function.find("sym_name")->text);
    return names;
  }

  template <class Build>
  Function program(const Operation& function, const Build& build) {
    const Block& body = function.regions[0];
    std::vector<TensorType> types;
    std::vector<std::string> names;
    add_parameters(function, body, types, names);
    try {
      return detail::trace(
          std::string(function.find("sym_name")->text),
          [&](std::span<const Tensor> arguments) { return leaves(build(arguments)); }, types,
          std::move(names), at(function));
    } catch (const TraceError& error) {
      fail(function, error.what());
    }
  }

  void read_checks(const Operation& function, CheckedFunction& made) {
    checks_ = &made.checks;
    try {
      made.program = program(function, [&](std::span<const Tensor> none) {
        compared_.clear();
        build_function(function, none);
        return std::move(compared_);
      });
    } catch (const Error& error) {
      made.error = error.what();
      scope_ = {};
      calls_ = 0;
      processes_ = &all_;
    }
    checks_ = nullptr;
  }

  /// What it says is compared, and stands among the results of the program.
  std::vector<Tensor> check(const Operation& operation, std::span<const Tensor> operands) {
    if (!checks_) return check_result(operation);  // of a program that is only run
    if (processes_ != &all_) fail(operation, "processes that run at once cannot check values");
    ReadCheck read = read_check(text_, operation, operands);
    read.check.line = mlir::place_of(text_, operation.at).line;
    checks_->push_back(read.check);
    compared_.push_back(std::move(read.actual));
    compared_.push_back(std::move(read.expected));
    return check_result(operation);
  }

  [[noreturn]] void fail(const Operation& operation, const std::string& message) const {
    fail_at(operation, fmt::format("{}: {}", operation.name, message));
  }
  [[noreturn]] void fail_at(const Operation& operation, const std::string& message) const {
    const bool says_where = locations_.file(operation.location).line != 0;
    mlir::fail(text_, operation.at,
               says_where ? fmt::format("{}\n  from {}", message, at(operation).str()) : message);
  }
  /// In the file that the text was made from, if it says so; else in the text.
  SourceLocation at(const Operation& operation) const {
    const mlir::FilePlace place = locations_.file(operation.location);
    return place.line == 0 ? lines_.at(operation.at) : location_in(place.file, place.line);
  }
  static Leaves leaves(std::vector<Tensor> values) {
    Leaves leaves;
    for (std::size_t i = 0; i < values.size(); i++) leaves.paths.push_back(std::to_string(i));
    leaves.values = std::move(values);
    return leaves;
  }

  /// Appends the value, or the elements of the tuple.
  void append_value(const Operation& operation, const mlir::Use& use,
                    std::vector<Tensor>& tensors) const {
    const Value& value = scope_.values[use.id];
    if (!value.is_defined)
      mlir::fail(text_, use.at,
                 fmt::format("%{} is not defined before this\n  Define it above; a function sees "
                             "its parameters and its own values.",
                             use.name));
    const std::vector<Tensor>& results = value.tensors;
    if (value.is_tuple) {
      tensors.insert(tensors.end(), results.begin(), results.end());
      return;
    }
    if (use.element >= results.size())
      mlir::fail(text_, use.at,
                 fmt::format("%{} has {} results\n  Count them from 0.", use.name, results.size()));
    if (results.size() > 1 && use.element == 0 && !use.name.empty() &&
        text_.substr(use.at + use.name.size() + 1, 1) != "#")
      fail(operation, fmt::format("%{} has {} results\n  Name one: %{}#0.", use.name,
                                  results.size(), use.name));
    tensors.push_back(results[use.element]);
  }
  void define(mlir::ValueId id, std::vector<Tensor> tensors, bool is_tuple = false) {
    Value& value = scope_.values[id];
    scope_.defined.emplace_back(id, std::move(value));
    value = {std::move(tensors), is_tuple, true};
  }
  void define(const Operation& operation, const Operation::Results& results,
              std::vector<Tensor> tensors, bool is_tuple = false) {
    if (scope_.values[results.id].is_defined)
      fail(operation, fmt::format("%{} is defined twice\n  Give it another name.", results.name));
    define(results.id, std::move(tensors), is_tuple);
  }

  /// In a scope of its own, which sees nothing of the caller's.
  std::vector<Tensor> build_function(const Operation& function, std::span<const Tensor> arguments) {
    Scope outer = std::exchange(scope_, {});
    scope_.values.resize(function.regions[0].ids);
    std::vector<Tensor> results = build_block(function.regions[0], arguments);
    scope_ = std::move(outer);
    if (function.has_operand_types) return results;  // of the generic form: `: () -> ()`
    if (results.size() != function.types.size())
      fail(function,
           fmt::format("it returns {} values, and its type has {}\n  Return one for each type.",
                       results.size(), function.types.size()));
    check_results(text_, function, results);
    return results;
  }

  /// What the last operation, a return, gives.
  std::vector<Tensor> build_block(const Block& block, std::span<const Tensor> arguments) {
    if (block.parameters.size() != arguments.size()) {
      const mlir::Offset place = block.operations.empty() ? 0 : block.operations.front().at;
      mlir::fail(
          text_, place,
          fmt::format("this region has {} parameters, and gets {}\n  Give it one for each operand.",
                      block.parameters.size(), arguments.size()));
    }
    const std::size_t outside = scope_.defined.size();
    for (std::size_t i = 0; i < arguments.size(); i++)
      define(block.parameters[i].id, {arguments[i]});
    std::vector<Tensor> results;
    bool returns = false;
    for (const Operation& operation : block.operations) {
      std::vector<Tensor> operands;
      operands.reserve(operation.operands.size());
      for (const mlir::Use& use : operation.operands) append_value(operation, use, operands);
      const Meaning meaning = meaning_of(operation);
      if (meaning.kind == Meaning::Kind::kReturn) {
        results = std::move(operands);
        returns = true;
        break;
      }
      define_results(operation, build(meaning, operation, operands));
    }
    if (!returns)
      mlir::fail(text_, block.operations.empty() ? 0 : block.operations.back().at,
                 "this is the last operation of a region, which must end with a return\n  End it "
                 "with `stablehlo.return`, a function with `return`.");
    while (scope_.defined.size() > outside) {
      auto& [id, before] = scope_.defined.back();
      scope_.values[id] = std::move(before);
      scope_.defined.pop_back();
    }
    return results;
  }

  void define_results(const Operation& operation, std::vector<Tensor> values) {
    if (operation.details && operation.details->is_tuple) {
      if (operation.results.size() > 1 || values.size() != operation.types.size())
        fail(operation, "tuples among several results are not supported");
      if (!operation.results.empty())
        define(operation, operation.results[0], std::move(values), true);
      return;
    }
    if (operation.results.size() == 1) {
      if (operation.results[0].count != values.size())
        fail(operation, fmt::format("it has {} results, not {}\n  Name as many.", values.size(),
                                    operation.results[0].count));
      define(operation, operation.results[0], std::move(values));
      return;
    }
    if (operation.results.size() > values.size())
      fail(operation, fmt::format("it has {} results\n  Name as many.", values.size()));
    for (std::size_t i = 0; i < operation.results.size(); i++)
      define(operation, operation.results[i], {values[i]});
  }

  std::vector<Tensor> build(const Meaning& meaning, const Operation& operation,
                            std::span<const Tensor> operands) {
    std::vector<Tensor> results;
    try {
      const SourceLocation place = at(operation);
      const ir::LocationScope location(place);
      results = build_fixed(meaning, operation, operands, place);
    } catch (const TraceError& error) {
      fail_at(operation, error.what());
    }
    check_results(text_, operation, results);
    return results;
  }

  static Meaning meaning_by_name(const Operation& operation) {
    using Kind = Meaning::Kind;
    struct Named {
      std::string_view name;
      Kind kind;
    };
    static constexpr Named kNamed[] = {{"stablehlo.return", Kind::kReturn},
                                       {"func.return", Kind::kReturn},
                                       {"return", Kind::kReturn},
                                       {"stablehlo.constant", Kind::kConstant},
                                       {"func.call", Kind::kCall},
                                       {"call", Kind::kCall},
                                       {"stablehlo.composite", Kind::kCall},
                                       {"stablehlo.tuple", Kind::kTuple},
                                       {"stablehlo.get_tuple_element", Kind::kElement},
                                       {"interpreter.run_parallel", Kind::kParallel}};
    for (const Named& named : kNamed) {
      if (named.name == operation.name) return {named.kind};
    }
    if (is_check(operation)) return {Kind::kCheck};
    const bool may_be_dynamic = has_dynamic_form(operation.name);
    if (const ReadFunction function = read_function(TextFormat::kStablehlo, operation))
      return {Kind::kFunction, may_be_dynamic, function};
    const ir::OpDef* const op = record_of(TextFormat::kStablehlo, operation.name);
    return {op ? Kind::kOp : Kind::kNothing, may_be_dynamic, nullptr, op};
  }
  /// That of a custom call depends on its target, those of others are looked up once.
  Meaning meaning_of(const Operation& operation) {
    if (!called_target(operation).empty()) return meaning_by_name(operation);
    const auto [known, is_new] = meanings_.try_emplace(operation.name);
    if (is_new) known->second = meaning_by_name(operation);
    return known->second;
  }

  /// With sizes and types that ops have.
  std::vector<Tensor> build_fixed(const Meaning& meaning, const Operation& operation,
                                  std::span<const Tensor> operands, SourceLocation place) {
    if (meaning.may_be_dynamic) {
      const FixedOperation fixed = with_fixed_sizes(text_, operation, operands);
      return build_fixed(meaning_of(fixed.operation), fixed.operation, fixed.operands, place);
    }
    if (const auto real = with_real_types(text_, operation, operands, place))
      return quantized_results(operation,
                               build_any(meaning, real->operation, real->operands, place), place);
    return build_any(meaning, operation, operands, place);
  }

  std::vector<Tensor> build_any(const Meaning& meaning, const Operation& operation,
                                std::span<const Tensor> operands, SourceLocation place) {
    using Kind = Meaning::Kind;
    switch (meaning.kind) {
      case Kind::kConstant:
        return {constant(operation, place)};
      case Kind::kCheck:
        return check(operation, operands);
      case Kind::kCall:
        return call(operation, operands);
      case Kind::kTuple:
        return {operands.begin(), operands.end()};
      case Kind::kElement:
        return element(operation, operands);
      case Kind::kParallel:
        return run_parallel(operation, operands);
      case Kind::kFunction:
      case Kind::kOp:
        break;
      case Kind::kReturn:
      case Kind::kNothing:
        fail(operation,
             "this operation is not supported\n  docs/formats.md says what is read; write the "
             "value in other operations.");
    }
    if (meaning.op && meaning.op->text.read) return construct(*meaning.op, operation, operands);
    const std::vector<Function> regions = closed_regions(operation);
    const ReadOperation read{
        TextFormat::kStablehlo, text_, operation, operands, regions, place, processes_, &known_};
    return meaning.function ? meaning.function(read) : make_operation(*meaning.op, read);
  }

  Tensor constant(const Operation& operation, SourceLocation place) const {
    const mlir::Attribute* const value = operation.find("value");
    if (!value || value->kind != mlir::Attribute::Kind::kElements)
      fail(operation, "the elements are missing\n  Write them as `dense<...>`.");
    return tensor_of(*value, place);
  }

  /// The elements of an element of a tuple.
  std::vector<Tensor> element(const Operation& operation, std::span<const Tensor> operands) const {
    const mlir::Attribute* const index = operation.find("index");
    const mlir::TypeDetailsPointer& type = operation.operand_details;
    if (!index || index->kind != mlir::Attribute::Kind::kInteger || !type || !type->is_tuple ||
        index->integer < 0 || static_cast<std::size_t>(index->integer) >= type->tuple.size() ||
        operation.operand_types.size() != operands.size())
      fail(operation,
           "it needs a tuple, and the index of one of its elements\n  Count them from 0.");
    std::size_t first = 0;
    for (std::int64_t i = 0; i < index->integer; i++)
      first += type->tuple[static_cast<std::size_t>(i)];
    const auto found =
        operands.subspan(first, type->tuple[static_cast<std::size_t>(index->integer)]);
    return {found.begin(), found.end()};
  }

  const Operation& function_of(const Operation& operation, const mlir::Attribute& name) const {
    const auto found = by_name_.find(name.text);
    if (found == by_name_.end())
      fail(operation,
           fmt::format("there is no function @{}\n  Define it in the module.", name.text));
    return *found->second;
  }

  /// Functions of several processes at once, replicas with their partitions, on the operands of the
  /// first process, then those of the second, and so on.
  std::vector<Tensor> run_parallel(const Operation& operation, std::span<const Tensor> operands) {
    using Kind = mlir::Attribute::Kind;
    const mlir::Attribute* const rows = operation.find("programs");
    if (!rows || rows->kind != Kind::kList || rows->list.empty())
      fail(operation, "it needs `programs`, a list of functions for each replica");
    Processes processes;
    processes.replicas = static_cast<std::int64_t>(rows->list.size());
    processes.partitions = static_cast<std::int64_t>(rows->list[0].list.size());
    std::vector<const Operation*> programs;
    for (const mlir::Attribute& row : rows->list) {
      if (row.list.size() != rows->list[0].list.size())
        fail(operation, "each replica needs as many partitions");
      for (const mlir::Attribute& name : row.list)
        programs.push_back(&function_of(operation, name));
    }
    if (programs.empty() || processes.count() > kMostProcesses)
      fail(operation, fmt::format("it can have 1 to {} processes", kMostProcesses));
    const mlir::Attribute* const infeed = operation.find("infeed");
    processes.in_turn = infeed || programs.size() == 1 ||
                        std::any_of(programs.begin(), programs.end(),
                                    [&](const Operation* p) { return p != programs[0]; });
    if (infeed) {
      for (const mlir::Attribute& name : infeed->list)
        processes.infeed.push_back(build_function(function_of(operation, name), {}));
    }
    if (++calls_ > kMostCalls)
      fail(operation,
           "functions call each other without end, or more than 200 deep\n  A function may not "
           "call itself: use `stablehlo.while`.");
    Processes* const outer = std::exchange(processes_, &processes);
    std::vector<Tensor> results;
    if (processes.in_turn) {
      for (const Operation* program : programs) {
        const std::size_t count = program->regions[0].parameters.size();
        if (count > operands.size())
          fail(operation, "it has too few operands\n  Give those of each program in turn.");
        const std::vector<Tensor> more = build_function(*program, operands.first(count));
        results.insert(results.end(), more.begin(), more.end());
        operands = operands.subspan(count);
        processes.only++;
      }
      if (!operands.empty())
        fail(operation, "it has too many operands\n  Give those of each program in turn.");
    } else {
      results = run_lanes(operation, *programs[0], operands, programs.size());
    }
    processes_ = outer;
    calls_--;
    return results;
  }

  /// One program on all processes.
  std::vector<Tensor> run_lanes(const Operation& operation, const Operation& program,
                                std::span<const Tensor> operands, std::size_t processes) {
    const std::size_t count = program.regions[0].parameters.size();
    if (operands.size() != count * processes)
      fail(operation, fmt::format("{} processes with {} operands each have {}", processes, count,
                                  count * processes));
    std::vector<Tensor> lanes;
    for (std::size_t i = 0; i < count; i++) {
      std::vector<Tensor> of_each;
      for (std::size_t p = 0; p < processes; p++) of_each.push_back(operands[p * count + i]);
      lanes.push_back(stack(of_each, 0));
    }
    const auto each = [&](const std::vector<Tensor>& arguments) {
      return build_function(program, arguments);
    };
    const std::vector<Tensor> all =
        vmap(each, {.axis_size = processes, .axis_name = std::string(kProcessAxis)},
             at(operation))(lanes);
    std::vector<Tensor> results;
    for (std::size_t p = 0; p < processes; p++) {
      for (const Tensor& result : all)
        results.push_back(ops::row_of(result, static_cast<std::int64_t>(p), at(operation)));
    }
    return results;
  }

  /// The name of the function that an operation calls, as a symbol; null if it calls none.
  static const mlir::Attribute* callee_of(const Operation& operation) {
    if (operation.name == "func.call" || operation.name == "call") return operation.find("callee");
    if (operation.name == "stablehlo.composite") return operation.find("decomposition");
    return nullptr;
  }

  void count_calls() {
    std::vector<const Block*> blocks;
    for (const Operation& function : module_.functions) blocks.push_back(&function.regions[0]);
    while (!blocks.empty()) {
      const Block& block = *blocks.back();
      blocks.pop_back();
      for (const Operation& operation : block.operations) {
        for (const Block& inner : operation.regions) blocks.push_back(&inner);
        const mlir::Attribute* const name = callee_of(operation);
        const auto found = name ? by_name_.find(name->text) : by_name_.end();
        if (found != by_name_.end()) callees_.add_call(found->second);
      }
    }
  }

  /// Whether a function may be read without its arguments, for several calls. What it checks, and
  /// what it says of the processes that run it, belongs to one call.
  bool is_callee(const Operation& function) const {
    const auto has_fixed_type = [](const mlir::Parameter& parameter) { return !parameter.details; };
    const std::vector<mlir::Parameter>& parameters = function.regions[0].parameters;
    return callees_.has_several(&function) && !checks_ && processes_ == &all_ &&
           all_.count() == 1 && !function.details &&
           std::all_of(parameters.begin(), parameters.end(), has_fixed_type);
  }

  Function read_callee(const Operation& function) {
    return program(function, [&](std::span<const Tensor> arguments) {
      return build_function(function, arguments);
    });
  }

  std::vector<Tensor> call(const Operation& operation, std::span<const Tensor> operands) {
    const mlir::Attribute* const callee = callee_of(operation);
    if (!callee)
      fail(operation,
           "the name of the function that it calls is missing\n  Write it like `call @f(%x)`.");
    const Operation& function = function_of(operation, *callee);
    const std::size_t parameters = function.regions[0].parameters.size();
    if (parameters != operands.size())
      fail(operation, fmt::format("@{} has {} parameters, and gets {}\n  Give it one for each.",
                                  callee->text, parameters, operands.size()));
    if (calls_ >= kMostCalls)
      fail(operation,
           "functions call each other without end, or more than 200 deep\n  A function may not "
           "call itself: use `stablehlo.while`.");
    if (is_callee(function)) {
      Scope outer = std::exchange(scope_, {});
      const std::size_t calls = calls_++;
      const Function* const found = callees_.find(&function, [&] { return read_callee(function); });
      scope_ = std::move(outer);
      calls_ = calls;
      if (found) return control_flow::call_function(*found, operands, at(operation));
    }
    if (callees_.has_several(&function))
      callees_.copy(callee->text, function.regions[0].operations.size());
    calls_++;
    std::vector<Tensor> results = build_function(function, operands);
    calls_--;
    return results;
  }

  std::vector<Tensor> construct(const ir::OpDef& op, const Operation& operation,
                                std::span<const Tensor> operands) {
    std::vector<RegionCallable> regions;
    for (const Block& block : operation.regions) {
      regions.emplace_back([this, &block](std::span<const Tensor> arguments) {
        return leaves(build_block(block, arguments));
      });
    }
    std::vector<std::string> names;
    if (!operation.regions.empty()) {
      for (const mlir::Parameter& parameter : operation.regions[0].parameters)
        names.emplace_back(parameter.name);
    }
    return op.text.read(
        {{operands.begin(), operands.end()}, std::move(names), regions, at(operation)});
  }

  /// Regions that use nothing from outside but constants.
  std::vector<Function> closed_regions(const Operation& operation) {
    std::vector<Function> regions;
    for (const Block& block : operation.regions) {
      std::vector<TensorType> types;
      std::vector<std::string> names;
      add_parameters(operation, block, types, names);
      regions.push_back(detail::trace(
          std::string(operation.name.substr(operation.name.find('.') + 1)),
          [&](std::span<const Tensor> arguments) { return leaves(build_block(block, arguments)); },
          types, std::move(names), at(operation)));
    }
    return regions;
  }

  std::string_view text_;
  const mlir::Module& module_;
  const mlir::Locations& locations_;
  absl::flat_hash_map<std::string_view, const Operation*> by_name_;
  const TextLines lines_;
  Scope scope_;
  absl::flat_hash_map<std::string_view, Meaning> meanings_;  // of names
  KnownAttributes known_;
  std::size_t calls_ = 0;  // that are being read, within each other
  Callees callees_;
  Processes all_;  // that run the program
  Processes* processes_ = &all_;
  std::vector<Check>* checks_ = nullptr;  // of the program that is built
  std::vector<Tensor> compared_;
};

/// The parts of a text between lines `// -----`, each at its place: the lines before it are empty.
std::vector<std::string> separate_programs(std::string_view text) {
  constexpr std::string_view kSeparator = "\n// -----";
  std::vector<std::string> programs;
  for (std::size_t begin = 0, end = 0; end < text.size(); begin = end) {
    end = std::min(text.find(kSeparator, begin + 1), text.size());
    std::string& program = programs.emplace_back(
        static_cast<std::size_t>(
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n')),
        '\n');
    program += text.substr(begin, end - begin);
  }
  return programs;
}

}  // namespace

}  // namespace text

std::vector<text::CheckedFunction> text::parse_checks(std::string_view text) {
  std::vector<CheckedFunction> checked;
  const auto add = [&](std::string_view program, const mlir::Modules& parsed) {
    for (const mlir::Module& module : parsed.modules) {
      std::vector<CheckedFunction> more =
          StablehloReader(program, kStablehloText, module, parsed.locations).checked_functions();
      std::move(more.begin(), more.end(), std::back_inserter(checked));
    }
  };
  if (bytecode::is_artifact(text)) {
    const bytecode::Artifact artifact = bytecode::read_artifact(text);
    add(artifact.listing, artifact.modules);
    return checked;
  }
  for (const std::string& program : separate_programs(text))
    add(program, mlir::parse_modules(program));
  return checked;
}

Function text::program_of(std::string_view text, const mlir::Modules& parsed,
                          const ParseOptions& options) {
  const std::size_t modules = parsed.modules.size();
  if (modules != 1)
    mlir::fail(
        text, 0,
        fmt::format("the text has {} modules; a program has one\n  Split the text at its modules.",
                    modules));
  const std::string_view file = options.file.empty() ? kStablehloText : options.file;
  return StablehloReader(text, file, parsed.modules[0], parsed.locations).main(options.entry);
}

Function parse_stablehlo_text(std::string_view text, const ParseOptions& options) {
  return text::program_of(text, text::mlir::parse_modules(text), options);
}

Function parse_stablehlo_text(std::string_view text) { return parse_stablehlo_text(text, {}); }

}  // namespace rondo
