// A program from HLO.
#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "control_flow/function_call.h"
#include "fmt/format.h"
#include "ir/read_construct.h"
#include "rondo/detail/trace.h"
#include "rondo/ops.h"
#include "rondo/text.h"
#include "text/callees.h"
#include "text/hlo/program.h"
#include "text/mlir/cursor.h"
#include "text/processes.h"
#include "text/read_operation.h"

namespace rondo {

namespace text {

namespace {

using detail::Leaves;
using detail::RegionCallable;
using hlo::Computation;
using hlo::Instruction;
using hlo::ValueType;

/// An array, or a tuple of such values.
struct HloValue {
  bool is_tuple = false;
  Tensor array = {};
  std::vector<HloValue> elements;

  void append_arrays(std::vector<Tensor>& arrays) const {
    if (!is_tuple) arrays.push_back(array);
    for (const HloValue& element : elements) element.append_arrays(arrays);
  }
};

/// A value like `type` of the next arrays, which are passed.
HloValue value_like(const ValueType& type, std::span<const Tensor>& arrays) {
  HloValue value{type.is_tuple, {}, {}};
  if (!type.is_tuple) {
    value.array = arrays.front();
    arrays = arrays.subspan(1);
  }
  for (const ValueType& element : type.elements)
    value.elements.push_back(value_like(element, arrays));
  return value;
}

std::size_t count_arrays(const ValueType& type) {
  std::size_t count = type.is_tuple ? 0 : 1;
  for (const ValueType& element : type.elements) count += count_arrays(element);
  return count;
}

Leaves numbered(std::vector<Tensor> values) {
  Leaves leaves;
  for (std::size_t i = 0; i < values.size(); i++) leaves.paths.push_back(std::to_string(i));
  leaves.values = std::move(values);
  return leaves;
}

class HloReader {
 public:
  HloReader(std::string_view text, std::string_view file)
      : text_(text), module_(hlo::parse_module(text)), lines_(text, file) {
    processes_.replicas = std::clamp<std::int64_t>(module_.replicas, 1, kMostProcesses);
    processes_.partitions = std::clamp<std::int64_t>(module_.partitions, 1, kMostProcesses);
    for (const Computation& computation : module_.computations)
      by_name_.emplace(computation.name, &computation);
    for (const Computation& computation : module_.computations) {
      for (const Instruction& instruction : computation.instructions) {
        const auto found = is_call(instruction) && !instruction.called.empty()
                               ? by_name_.find(instruction.called[0])
                               : by_name_.end();
        if (found != by_name_.end()) callees_.add_call(found->second);
      }
    }
  }

  Function main(const std::string& entry) {
    const Computation* computation = &module_.computations[module_.entry];
    if (!entry.empty()) {
      const auto found = by_name_.find(entry);
      if (found == by_name_.end()) mlir::fail(text_, 0, no_entry("computation", entry, names()));
      computation = found->second;
    }
    return traced(*computation, entry.empty() ? "main" : entry, {});
  }

 private:
  static bool is_call(const Instruction& instruction) {
    return instruction.operation.name == "call" || instruction.operation.name == "fusion";
  }

  /// In the file that the text was made from, if it says so; else in the text.
  SourceLocation place_of(const mlir::Operation& operation) const {
    const mlir::FilePlace place = hlo::source_of(text_, operation.location, module_.frames);
    return place.line == 0 ? lines_.at(operation.at) : location_in(place.file, place.line);
  }

  std::vector<std::string_view> names() const {
    std::vector<std::string_view> names;
    for (const Computation& computation : module_.computations) names.push_back(computation.name);
    return names;
  }
  [[noreturn]] void fail(const Instruction& instruction, const std::string& message) const {
    mlir::fail(text_, instruction.operation.at,
               fmt::format("{}: {}", instruction.operation.name, message));
  }

  /// The parameters of a computation, by number.
  std::vector<const Instruction*> parameters_of(const Computation& computation) const {
    std::vector<const Instruction*> parameters;
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.operation.name != "parameter") continue;
      const auto number = static_cast<std::size_t>(instruction.number);
      if (instruction.number < 0 || number >= computation.instructions.size())
        fail(instruction,
             fmt::format("there is no parameter {}\n  Number them from 0, without gaps.",
                         instruction.number));
      if (!instruction.has_type)
        fail(instruction,
             "its type is missing\n  Write it before the opcode: `x = f32[2] parameter(0)`.");
      if (number >= parameters.size()) parameters.resize(number + 1);
      if (parameters[number])
        fail(instruction,
             fmt::format("there are two of number {}\n  Number them from 0, each once.", number));
      parameters[number] = &instruction;
    }
    for (std::size_t i = 0; i < parameters.size(); i++) {
      if (!parameters[i])
        mlir::fail(text_, computation.at,
                   fmt::format("parameter {} is missing\n  Number them from 0, without gaps.", i));
    }
    return parameters;
  }

  /// A computation by itself.
  Function traced(const Computation& computation, std::string name, SourceLocation at) {
    std::vector<TensorType> types;
    std::vector<std::string> names;
    const std::vector<const Instruction*> parameters = parameters_of(computation);
    for (const Instruction* parameter : parameters) {
      const mlir::Types& arrays = parameter->operation.types;
      for (std::size_t i = 0; i < arrays.size(); i++) {
        types.push_back(arrays[i]);
        names.push_back(arrays.size() == 1 && !parameter->type.is_tuple
                            ? std::string(parameter->name)
                            : fmt::format("{}.{}", parameter->name, i));
      }
    }
    return detail::trace(
        std::move(name),
        [&](std::span<const Tensor> arrays) {
          std::vector<HloValue> arguments;
          for (const Instruction* parameter : parameters)
            arguments.push_back(value_like(parameter->type, arrays));
          std::vector<Tensor> results;
          build_computation(computation, arguments).append_arrays(results);
          return numbered(std::move(results));
        },
        types, std::move(names), at);
  }

  /// Of an operation: one for all that have the same.
  Function region_of(const Computation& computation, std::string_view name, SourceLocation at) {
    const auto found = regions_.find({&computation, name});
    if (found != regions_.end()) return found->second;
    Function made = traced(computation, std::string(name), at);
    regions_.emplace(std::pair(&computation, name), made);
    return made;
  }

  HloValue build_computation(const Computation& computation, std::span<const HloValue> arguments) {
    if (++calls_ > kMostCalls)
      mlir::fail(text_, computation.at,
                 "computations call each other without end, or more than 200 deep\n  A computation "
                 "may not call itself: use `while`.");
    absl::flat_hash_map<std::string_view, HloValue> values(computation.instructions.size());
    const Instruction* root = &computation.instructions.back();
    for (const Instruction& instruction : computation.instructions) {
      absl::InlinedVector<HloValue, 2> operands;
      for (const mlir::Use& use : instruction.operation.operands) {
        const auto found = values.find(use.name);
        if (found == values.end())
          mlir::fail(
              text_, use.at,
              fmt::format(
                  "{} is not defined before this\n  Define it above, in the same computation.",
                  use.name));
        operands.push_back(found->second);
      }
      const bool fresh =
          values.emplace(instruction.name, build(instruction, operands, arguments)).second;
      if (!fresh)
        fail(instruction,
             fmt::format("{} is defined twice\n  Give it another name.", instruction.name));
      if (instruction.is_root) root = &instruction;
    }
    calls_--;
    return values.at(root->name);
  }

  HloValue build(const Instruction& instruction, std::span<const HloValue> operands,
                 std::span<const HloValue> arguments) {
    const mlir::Operation& operation = instruction.operation;
    try {
      const SourceLocation place = place_of(operation);
      const ir::LocationScope location(place);
      if (operation.name == "parameter") {
        if (static_cast<std::size_t>(instruction.number) >= arguments.size())
          fail(instruction,
               fmt::format("there is no argument {}\n  Give the call one for each parameter.",
                           instruction.number));
        return arguments[static_cast<std::size_t>(instruction.number)];
      }
      if (operation.name == "tuple") return {true, {}, {operands.begin(), operands.end()}};
      if (operation.name == "get-tuple-element") return element(instruction, operands);
      if (operation.name == "while") return loop(instruction, operands);
      if (operation.name == "conditional") return conditional(instruction, operands);
      if (operation.name == "copy" && operands.size() == 1) return operands[0];
      if (is_call(instruction)) return call(instruction, operands);
      std::vector<Tensor> arrays;
      arrays.reserve(operands.size());
      for (const HloValue& operand : operands) operand.append_arrays(arrays);
      return value_of(instruction, build_arrays(instruction, arrays, place));
    } catch (const TraceError& error) {
      mlir::fail(text_, operation.at, error.what());
    }
  }

  /// The results as a value of the instruction's type; without one an array, or a tuple of arrays.
  HloValue value_of(const Instruction& instruction, std::span<const Tensor> results) const {
    check_results(text_, instruction.operation, results);
    if (!instruction.has_type && results.size() == 1) return {false, results[0], {}};
    if (!instruction.has_type) {
      HloValue tuple{true, {}, {}};
      for (const Tensor& result : results) tuple.elements.push_back({false, result, {}});
      return tuple;
    }
    if (results.size() != count_arrays(instruction.type))
      fail(instruction, fmt::format("it has {} results\n  Write a type for each before the opcode.",
                                    results.size()));
    return value_like(instruction.type, results);
  }

  HloValue call(const Instruction& instruction, std::span<const HloValue> operands) {
    const Computation& called = computation_of(instruction, 0);
    check_arguments(instruction, called, operands);
    if (calls_ >= kMostCalls)
      fail(instruction,
           "computations call each other without end, or more than 200 deep\n  A computation may "
           "not call itself: use `while`.");
    if (!callees_.has_several(&called)) return build_computation(called, operands);
    if (processes_.count() == 1 && instruction.has_type) {
      const std::size_t calls = calls_++;
      const SourceLocation at = place_of(instruction.operation);
      const Function* const found =
          callees_.find(&called, [&] { return traced(called, std::string(called.name), at); });
      calls_ = calls;
      if (found) {
        std::vector<Tensor> arrays;
        for (const HloValue& operand : operands) operand.append_arrays(arrays);
        return value_of(instruction, control_flow::call_function(*found, arrays, at));
      }
    }
    callees_.copy(called.name, called.instructions.size());
    return build_computation(called, operands);
  }

  std::vector<Tensor> build_arrays(const Instruction& instruction, std::span<const Tensor> arrays,
                                   SourceLocation at) {
    const mlir::Operation& operation = instruction.operation;
    if (operation.name == "constant") {
      if (!instruction.has_type || instruction.type.is_tuple)
        fail(instruction, "constants of tuples are not supported\n  Write a `tuple` of constants.");
      return {Tensor(hlo::parse_literal(text_, instruction.value_at, instruction.value,
                                        instruction.type.array),
                     at)};
    }
    if (operation.name == "bitcast" && arrays.size() == 1 && operation.types.size() == 1 &&
        arrays[0].dtype() == operation.types[0].dtype)
      return {reshape({arrays[0], at}, operation.types[0].shape.vector())};
    const ReadFunction function = read_function(TextFormat::kHlo, operation);
    const ir::OpDef* const op = function ? nullptr : record_of(TextFormat::kHlo, operation.name);
    if (!op && !function)
      fail(instruction,
           "this operation is not supported\n  docs/formats.md says what is read; write the value "
           "in other operations.");
    std::vector<Function> regions;
    for (std::size_t i = 0; i < instruction.called.size(); i++)
      regions.push_back(region_of(computation_of(instruction, i), operation.name, at));
    const ReadOperation read{TextFormat::kHlo, text_, operation, arrays, regions, at, &processes_};
    return function ? function(read) : make_operation(*op, read);
  }

  /// The computation of an attribute: by its name, or written there.
  const Computation& computation_of(const Instruction& instruction, std::size_t i) const {
    const std::vector<std::string_view>& called = instruction.called;
    if (i >= called.size())
      fail(instruction,
           "the computation that it calls is missing\n  Name it by an attribute: `to_apply=f`.");
    if (called[i].empty()) {
      const auto end = called.begin() + static_cast<std::ptrdiff_t>(i);
      return instruction.inside[static_cast<std::size_t>(std::count(called.begin(), end, ""))];
    }
    const auto found = by_name_.find(instruction.called[i]);
    if (found == by_name_.end())
      fail(instruction, fmt::format("there is no computation {}\n  Define it in the module.",
                                    instruction.called[i]));
    return *found->second;
  }

  void check_arguments(const Instruction& instruction, const Computation& called,
                       std::span<const HloValue> arguments) const {
    const std::vector<const Instruction*> parameters = parameters_of(called);
    std::vector<Tensor> arrays;
    for (const HloValue& argument : arguments) argument.append_arrays(arrays);
    std::vector<TensorType> types;
    for (const Instruction* parameter : parameters)
      types.insert(types.end(), parameter->operation.types.begin(),
                   parameter->operation.types.end());
    bool fits = parameters.size() == arguments.size() && types.size() == arrays.size();
    for (std::size_t i = 0; fits && i < types.size(); i++) fits = arrays[i].type() == types[i];
    if (!fits)
      fail(instruction, fmt::format("the parameters of {} have other types than what it gets\n  "
                                    "Give it a value of each type, in order.",
                                    called.name));
  }

  HloValue element(const Instruction& instruction, std::span<const HloValue> operands) const {
    const mlir::Attribute* const index = instruction.operation.find("index");
    if (operands.size() != 1 || !operands[0].is_tuple || !index ||
        index->kind != mlir::Attribute::Kind::kInteger || index->integer < 0 ||
        static_cast<std::size_t>(index->integer) >= operands[0].elements.size())
      fail(instruction,
           "it needs a tuple, and `index` of one of its elements\n  Count them from 0.");
    return operands[0].elements[static_cast<std::size_t>(index->integer)];
  }

  HloValue loop(const Instruction& instruction, std::span<const HloValue> operands) {
    if (operands.size() != 1 || !instruction.has_type)
      fail(instruction, "it needs one operand and a type\n  Give it the tuple that it carries.");
    const Computation& condition = computation_of(instruction, 0);
    const Computation& body = computation_of(instruction, 1);
    check_arguments(instruction, condition, operands);
    check_arguments(instruction, body, operands);
    const auto region = [&](const Computation& computation) -> RegionCallable {
      return [&](std::span<const Tensor> arrays) {
        const HloValue carry = value_like(instruction.type, arrays);
        std::vector<Tensor> results;
        build_computation(computation, {&carry, 1}).append_arrays(results);
        return numbered(std::move(results));
      };
    };
    const RegionCallable regions[] = {region(condition), region(body)};
    ir::ReadConstruct read{{}, {}, regions, place_of(instruction.operation)};
    operands[0].append_arrays(read.operands);
    if (read.operands.size() != count_arrays(instruction.type))
      fail(instruction, "its type is not that of its operand\n  A loop gives what it carries.");
    read.names = numbered(read.operands).paths;
    const std::vector<Tensor> results =
        record_of(TextFormat::kHlo, instruction.operation.name)->text.read(read);
    std::span<const Tensor> next = results;
    return value_like(instruction.type, next);
  }

  HloValue conditional(const Instruction& instruction, std::span<const HloValue> operands) {
    const std::size_t branches = instruction.called.size();
    if (operands.size() != branches + 1 || operands[0].is_tuple || !instruction.has_type)
      fail(instruction,
           "it needs a selector, an operand for each branch, and a type\n  Give them in this "
           "order.");
    std::vector<RegionCallable> regions;
    for (std::size_t i = 0; i < branches; i++) {
      const Computation& computation = computation_of(instruction, i);
      check_arguments(instruction, computation, operands.subspan(i + 1, 1));
      regions.emplace_back(
          [this, &computation, operand = operands[i + 1]](std::span<const Tensor>) {
            std::vector<Tensor> results;
            build_computation(computation, {&operand, 1}).append_arrays(results);
            return numbered(std::move(results));
          });
    }
    const std::vector<Tensor> results =
        record_of(TextFormat::kHlo, instruction.operation.name)
            ->text.read({{operands[0].array}, {}, regions, place_of(instruction.operation)});
    if (results.size() != count_arrays(instruction.type))
      fail(instruction, fmt::format("it has {} results\n  Write a type for each before the opcode.",
                                    results.size()));
    std::span<const Tensor> next = results;
    return value_like(instruction.type, next);
  }

  std::string_view text_;
  const hlo::Module module_;
  const TextLines lines_;
  absl::flat_hash_map<std::string_view, const Computation*> by_name_;
  absl::flat_hash_map<std::pair<const Computation*, std::string_view>, Function> regions_;
  std::size_t calls_ = 0;  // that are being read, within each other
  Callees callees_;
  Processes processes_;  // that run the program
};

}  // namespace

}  // namespace text

Function parse_hlo_text(std::string_view text, const ParseOptions& options) {
  return text::HloReader(text, options.file.empty() ? "HLO text" : options.file)
      .main(options.entry);
}

Function parse_hlo_text(std::string_view text) { return parse_hlo_text(text, {}); }

}  // namespace rondo
