// A program from StableHLO.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "ir/read_construct.h"
#include "ops/support.h"
#include "rondo/detail/trace.h"
#include "rondo/ops.h"
#include "rondo/text.h"
#include "text/bytecode/artifact.h"
#include "text/check_operations.h"
#include "text/mlir/cursor.h"
#include "text/mlir/operations.h"
#include "text/read_operation.h"

namespace rondo {

namespace text {

namespace {

using detail::Leaves;
using detail::RegionCallable;
using mlir::Block;
using mlir::Operation;

class StablehloReader {
 public:
  StablehloReader(std::string_view text, const mlir::Module& module)
      : text_(text), module_(module), lines_(text, "StableHLO text") {
    for (const Operation& function : module.functions) {
      const mlir::Attribute* const name = function.find("sym_name");
      if (function.name != "func.func" || !name || function.regions.size() != 1)
        fail(function, "expected a function with a name and one region");
      by_name_.emplace(name->text, &function);
    }
  }

  Function main() {
    const auto found = by_name_.find("main");
    if (found == by_name_.end())
      mlir::fail(text_, 0, "there is no function @main\n  It is the program that is run.");
    return program(*found->second, [this](const Block& body, std::span<const Tensor> arguments) {
      return build_function(body, arguments);
    });
  }

  /// Of this module, in order.
  std::vector<CheckedFunction> checked_functions() {
    std::vector<CheckedFunction> checked;
    for (const Operation& function : module_.functions) {
      const Block& body = function.regions[0];
      if (std::none_of(body.operations.begin(), body.operations.end(), is_check)) continue;
      CheckedFunction& made = checked.emplace_back();
      made.name = function.find("sym_name")->text;
      made.line = mlir::place_of(text_, function.at).line;
      made.takes_arguments = !body.parameters.empty();
      if (!made.takes_arguments) read_checks(function, made);
    }
    return checked;
  }

 private:
  using Scope = absl::flat_hash_map<std::string_view, std::vector<Tensor>>;

  template <class Build>
  Function program(const Operation& function, const Build& build) {
    const Block& body = function.regions[0];
    std::vector<TensorType> types;
    std::vector<std::string> names;
    for (const mlir::Parameter& parameter : body.parameters) {
      types.push_back(parameter.type);
      names.emplace_back(parameter.name);
    }
    try {
      return detail::trace(
          std::string(function.find("sym_name")->text),
          [&](std::span<const Tensor> arguments) { return leaves(build(body, arguments)); }, types,
          std::move(names), at(function));
    } catch (const TraceError& error) {
      fail(function, error.what());
    }
  }

  void read_checks(const Operation& function, CheckedFunction& made) {
    checks_ = &made.checks;
    try {
      made.program = program(function, [this](const Block& body, std::span<const Tensor> none) {
        compared_.clear();
        build_function(body, none);
        return std::move(compared_);
      });
    } catch (const Error& error) {
      made.error = error.what();
      scopes_.clear();
      calls_ = 0;
    }
    checks_ = nullptr;
  }

  /// What it says is compared, and stands among the results of the program.
  std::vector<Tensor> check(const Operation& operation, std::span<const Tensor> operands) {
    if (!checks_) return check_result(operation);  // of a program that is only run
    ReadCheck read = read_check(text_, operation, operands);
    read.check.line = mlir::place_of(text_, operation.at).line;
    checks_->push_back(read.check);
    compared_.push_back(std::move(read.actual));
    compared_.push_back(std::move(read.expected));
    return check_result(operation);
  }

  [[noreturn]] void fail(const Operation& operation, const std::string& message) const {
    mlir::fail(text_, operation.at, fmt::format("{}: {}", operation.name, message));
  }
  SourceLocation at(const Operation& operation) const { return lines_.at(operation.at); }
  static Leaves leaves(std::vector<Tensor> values) {
    Leaves leaves;
    for (std::size_t i = 0; i < values.size(); i++) leaves.paths.push_back(std::to_string(i));
    leaves.values = std::move(values);
    return leaves;
  }

  const std::vector<Tensor>* find(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return &found->second;
    }
    return nullptr;
  }
  Tensor value(const Operation& operation, const mlir::Use& use) const {
    const std::vector<Tensor>* const values = find(use.name);
    if (!values) mlir::fail(text_, use.at, fmt::format("%{} is not defined before this", use.name));
    if (use.element >= values->size())
      mlir::fail(text_, use.at, fmt::format("%{} has {} results", use.name, values->size()));
    if (values->size() > 1 && use.element == 0 &&
        text_.substr(use.at + use.name.size() + 1, 1) != "#")
      fail(operation,
           fmt::format("%{} has {} results: name one, %{}#0", use.name, values->size(), use.name));
    return (*values)[use.element];
  }
  void define(const Operation& operation, std::string_view name, std::vector<Tensor> values) {
    if (find(name)) fail(operation, fmt::format("%{} is defined twice", name));
    scopes_.back().emplace(name, std::move(values));
  }

  /// In a scope of its own, which sees nothing of the caller's.
  std::vector<Tensor> build_function(const Block& body, std::span<const Tensor> arguments) {
    std::vector<Scope> outer = std::exchange(scopes_, {});
    std::vector<Tensor> results = build_block(body, arguments);
    scopes_ = std::move(outer);
    return results;
  }

  /// What the last operation, a return, gives.
  std::vector<Tensor> build_block(const Block& block, std::span<const Tensor> arguments) {
    if (block.parameters.size() != arguments.size()) {
      const mlir::Offset place = block.operations.empty() ? 0 : block.operations[0].at;
      mlir::fail(text_, place,
                 fmt::format("this region has {} parameters, and gets {}", block.parameters.size(),
                             arguments.size()));
    }
    scopes_.emplace_back();
    for (std::size_t i = 0; i < arguments.size(); i++)
      scopes_.back().emplace(block.parameters[i].name, std::vector<Tensor>{arguments[i]});
    std::vector<Tensor> results;
    for (const Operation& operation : block.operations) {
      std::vector<Tensor> operands;
      for (const mlir::Use& use : operation.operands) operands.push_back(value(operation, use));
      if (operation.name == "stablehlo.return" || operation.name == "func.return" ||
          operation.name == "return") {
        results = std::move(operands);
        break;
      }
      define_results(operation, build(operation, operands));
    }
    scopes_.pop_back();
    return results;
  }

  void define_results(const Operation& operation, std::vector<Tensor> values) {
    if (operation.results.size() == 1) {
      if (operation.results[0].count != values.size())
        fail(operation,
             fmt::format("it has {} results, not {}", values.size(), operation.results[0].count));
      define(operation, operation.results[0].name, std::move(values));
      return;
    }
    if (operation.results.size() > values.size())
      fail(operation, fmt::format("it has {} results", values.size()));
    for (std::size_t i = 0; i < operation.results.size(); i++)
      define(operation, operation.results[i].name, {values[i]});
  }

  std::vector<Tensor> build(const Operation& operation, std::span<const Tensor> operands) {
    std::vector<Tensor> results;
    try {
      const ir::LocationScope location(at(operation));
      results = build_any(operation, operands);
    } catch (const TraceError& error) {
      const std::string_view message = error.what();
      mlir::fail(text_, operation.at, std::string(message));
    }
    check_results(text_, operation, results);
    return results;
  }

  std::vector<Tensor> build_any(const Operation& operation, std::span<const Tensor> operands) {
    if (operation.name == "stablehlo.constant") return {constant(operation)};
    if (is_check(operation)) return check(operation, operands);
    if (operation.name == "func.call" || operation.name == "call")
      return call(operation, operands, "callee");
    if (operation.name == "stablehlo.composite") return call(operation, operands, "decomposition");
    const ReadFunction function = read_function(TextFormat::kStablehlo, operation);
    const ir::OpDef* const op =
        function ? nullptr : record_of(TextFormat::kStablehlo, operation.name);
    if (!op && !function) fail(operation, "this operation is not supported");
    if (op && op->text.read) return construct(*op, operation, operands);
    const std::vector<Function> regions = closed_regions(operation);
    const ReadOperation read{TextFormat::kStablehlo, text_, operation, operands, regions,
                             at(operation)};
    if (function) return function(read);
    return make_operation(*op, read);
  }

  Tensor constant(const Operation& operation) const {
    const mlir::Attribute* const value = operation.find("value");
    if (!value || value->kind != mlir::Attribute::Kind::kElements)
      fail(operation, "the elements are missing, `dense<...>`");
    return tensor_of(*value, at(operation));
  }

  std::vector<Tensor> call(const Operation& operation, std::span<const Tensor> operands,
                           std::string_view attribute) {
    const mlir::Attribute* const callee = operation.find(attribute);
    const auto found = callee ? by_name_.find(callee->text) : by_name_.end();
    if (found == by_name_.end())
      fail(operation, callee ? fmt::format("there is no function @{}", callee->text)
                             : fmt::format("the attribute `{}` is missing", attribute));
    const Block& body = found->second->regions[0];
    if (body.parameters.size() != operands.size())
      fail(operation, fmt::format("@{} has {} parameters, and gets {}", callee->text,
                                  body.parameters.size(), operands.size()));
    if (++calls_ > kMostCalls) fail(operation, "functions call each other without end");
    std::vector<Tensor> results = build_function(body, operands);
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
      for (const mlir::Parameter& parameter : block.parameters) {
        types.push_back(parameter.type);
        names.emplace_back(parameter.name);
      }
      regions.push_back(detail::trace(
          std::string(operation.name.substr(operation.name.find('.') + 1)),
          [&](std::span<const Tensor> arguments) { return leaves(build_block(block, arguments)); },
          types, std::move(names), at(operation)));
    }
    return regions;
  }

  std::string_view text_;
  const mlir::Module& module_;
  absl::flat_hash_map<std::string_view, const Operation*> by_name_;
  const TextLines lines_;
  std::vector<Scope> scopes_;
  std::size_t calls_ = 0;
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
  if (bytecode::is_artifact(text)) return parse_checks(bytecode::artifact_text(text));
  std::vector<CheckedFunction> checked;
  for (const std::string& program : separate_programs(text)) {
    for (const mlir::Module& module : mlir::parse_modules(program)) {
      std::vector<CheckedFunction> more = StablehloReader(program, module).checked_functions();
      std::move(more.begin(), more.end(), std::back_inserter(checked));
    }
  }
  return checked;
}

Function parse_stablehlo_text(std::string_view text) {
  const std::vector<text::mlir::Module> modules = text::mlir::parse_modules(text);
  if (modules.size() != 1)
    text::mlir::fail(text, 0,
                     fmt::format("the text has {} modules; a program has one", modules.size()));
  return text::StablehloReader(text, modules[0]).main();
}

}  // namespace rondo
