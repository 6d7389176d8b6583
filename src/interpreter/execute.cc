#include "rondo/execute.h"

#include <mutex>

#include "fmt/format.h"
#include "interpreter/machine.h"
#include "interpreter/program.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "passes/expand.h"
#include "passes/optimize.h"

namespace rondo {

struct Executable::Impl {
  Function function;
  std::shared_ptr<const interpreter::Bundle> bundle;
  std::vector<TensorType> param_types;
  std::vector<LoopResiduals> memory_plan;
  mutable std::mutex stats_mutex;
  mutable RunStats last_stats;
};

Executable compile(const Function& function, const CompileOptions& options) {
  auto impl = std::make_shared<Executable::Impl>();
  impl->function = options.optimize ? passes::optimize(function) : function;
  impl->bundle =
      interpreter::build_bundle(passes::expand(impl->function, passes::Target::kInterpreter));
  impl->param_types = function.params();
  for (const interpreter::LoopInfo& loop : impl->bundle->loops) {
    if (const ir::Residuals* residuals = ir::region_layout(loop.node)->residuals)
      impl->memory_plan.push_back({loop.name.empty() ? "while" : loop.name, residuals->policy,
                                   residuals->arrays, residuals->bytes});
  }
  Executable executable;
  executable.impl_ = std::move(impl);
  return executable;
}

namespace {

void check_arguments(const Function& function, std::span<const TensorType> types,
                     std::span<const Literal> arguments) {
  if (arguments.size() != types.size()) {
    std::string wanted;
    for (const TensorType& type : types) wanted += (wanted.empty() ? "" : ", ") + type.str();
    const std::vector<std::string> names = function.param_names();
    const std::string remedy =
        arguments.size() < names.size()
            ? fmt::format("'{}' is the first without one", names[arguments.size()])
        : names.empty() ? "it takes none"
                        : fmt::format("'{}' is the last that takes one", names.back());
    throw ExecutionError(
        fmt::format("run of '{}': the number of arguments is {}, the program takes {} ({})\n  Give "
                    "one literal for each parameter, in order: {}.",
                    function.name(), arguments.size(), types.size(), wanted, remedy));
  }
  for (std::size_t i = 0; i < types.size(); i++) {
    if (arguments[i].elements() > 0 && !arguments[i].bytes()) {
      throw ExecutionError(
          fmt::format("run of '{}': argument {} ('{}') was moved from\n  Copy the "
                      "literal, or make it again.",
                      function.name(), i, function.param_names()[i]));
    }
    if (arguments[i].type() == types[i]) continue;
    throw ExecutionError(fmt::format(
        "run of '{}': argument {} ('{}') is {}, the program takes {}\n  Convert the literal, or "
        "trace the "
        "program for this type.",
        function.name(), i, function.param_names()[i], arguments[i].type().str(), types[i].str()));
  }
}

}  // namespace

std::vector<Literal> Executable::run(std::span<const Literal> arguments,
                                     const RunOptions& options) const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  check_arguments(impl_->function, impl_->param_types, arguments);
  if (options.threads && *options.threads < 1) {
    throw ExecutionError(
        fmt::format("run of '{}': RunOptions::threads is {}\n  Give 1 or more, or "
                    "leave it out.",
                    impl_->function.name(), *options.threads));
  }
  interpreter::Machine machine(*impl_->bundle, options);
  auto keep_stats = [&] {
    RunStats stats = machine.stats();
    if (options.stats) *options.stats = stats;
    std::lock_guard lock(impl_->stats_mutex);
    impl_->last_stats = std::move(stats);
  };
  try {
    std::vector<Literal> results = machine.run(arguments);
    keep_stats();
    return results;
  } catch (...) {
    keep_stats();
    throw;
  }
}

RunStats Executable::stats() const {
  if (!impl_) return {};
  std::lock_guard lock(impl_->stats_mutex);
  return impl_->last_stats;
}

std::vector<LoopResiduals> Executable::memory_plan() const {
  return impl_ ? impl_->memory_plan : std::vector<LoopResiduals>();
}

std::int64_t Executable::bytes() const {
  if (!impl_) return 0;
  std::int64_t bytes = ir::footprint(impl_->function);
  for (const auto& program : impl_->bundle->programs) {
    if (!program->function.same_as(impl_->function)) bytes += ir::footprint(program->function);
    bytes += static_cast<std::int64_t>(program->code.size() * sizeof(interpreter::Instruction) +
                                       program->references.size() * sizeof(interpreter::Reference));
  }
  return bytes;
}

const Function& Executable::function() const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  return impl_->function;
}

EagerScope::EagerScope() : entered_(!ir::tracing()) {
  if (entered_) ir::enter_eager();
}
EagerScope::~EagerScope() {
  if (entered_) ir::leave_eager();
}

}  // namespace rondo
