// A program from StableHLO.
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "ir/read_construct.h"
#include "ops/support.h"
#include "rondo/detail/trace.h"
#include "rondo/ops.h"
#include "rondo/text.h"
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
  explicit StablehloReader(std::string_view text)
      : text_(text), functions_(mlir::parse_functions(text)), lines_(text, "StableHLO text") {
    for (const Operation& function : functions_) {
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
    const Block& body = found->second->regions[0];
    std::vector<TensorType> types;
    std::vector<std::string> names;
    for (const mlir::Parameter& parameter : body.parameters) {
      types.push_back(parameter.type);
      names.emplace_back(parameter.name);
    }
    try {
      return detail::trace(
          "main",
          [&](std::span<const Tensor> arguments) {
            return leaves(build_function(body, arguments));
          },
          types, std::move(names), at(*found->second));
    } catch (const TraceError& error) {
      fail(*found->second, error.what());
    }
  }

 private:
  using Scope = absl::flat_hash_map<std::string_view, std::vector<Tensor>>;

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
    const Tensor elements(value->elements, at(operation));
    return value->elements.type() == value->type ? elements
                                                 : broadcast_to(elements, value->type.shape);
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
  const std::vector<Operation> functions_;
  absl::flat_hash_map<std::string_view, const Operation*> by_name_;
  const TextLines lines_;
  std::vector<Scope> scopes_;
  std::size_t calls_ = 0;
};

}  // namespace

}  // namespace text

Function parse_stablehlo_text(std::string_view text) { return text::StablehloReader(text).main(); }

}  // namespace rondo
