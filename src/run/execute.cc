#include "rondo/execute.h"

#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/memory.h"
#include "fmt/format.h"
#include "interpreter/backend.h"
#include "ir/backend.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ir/run_limits.h"
#include "passes/expand.h"
#include "rondo/run_scope.h"
#include "run/executable.h"

namespace rondo {

namespace {

void check_made(const Executable::Impl* impl) {
  if (!impl) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
}

/// The options of a run merged with those of the scopes of its thread, if there are any; `both`
/// owns the result.
const RunOptions& with_scopes(const RunOptions& given, std::optional<RunOptions>& both) {
  const RunOptions* scoped = detail::scoped_run_options();
  return scoped ? both.emplace(detail::merged(*scoped, given)) : given;
}

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

void check_options(const Function& function, const RunOptions& options) {
  const auto check = [&](const char* name, const auto& given, int least) {
    if (!given || *given >= least) return;
    throw ExecutionError(
        fmt::format("run of '{}': RunOptions::{} is {}\n  Give {} or more, or leave it out.",
                    function.name(), name, *given, least));
  };
  check("threads", options.threads, 1);
  check("max_iterations", options.max_iterations, 0);
}

}  // namespace

namespace {

/// With the dtypes of `types`, which store the same bytes.
std::vector<Literal> with_types(std::span<const Literal> literals,
                                std::span<const TensorType> types) {
  std::vector<Literal> result;
  for (std::size_t i = 0; i < literals.size(); i++)
    result.push_back(literals[i].reinterpreted(types[i]));
  return result;
}

}  // namespace

std::vector<Literal> Executable::run(std::span<const Literal> arguments,
                                     const RunOptions& given) const {
  std::optional<RunOptions> both;
  const RunOptions& options = with_scopes(given, both);
  check_made(impl_.get());
  check_arguments(impl_->stages.optimized, impl_->param_types, arguments);
  check_options(impl_->stages.optimized, options);
  std::vector<Literal> bytes;
  if (impl_->with_small_types)
    arguments = bytes = with_types(arguments, impl_->stages.optimized.params());
  const bool is_checked = run::is_checked(options);
  RunOptions checked;
  if (is_checked) checked = run::with_checks_of_environment(options);
  RunStats stats;
  const auto keep_stats = [&] {
    if (options.stats) *options.stats = stats;
    std::lock_guard lock(impl_->last.mutex);
    impl_->last.stats = std::move(stats);
  };
  try {
    std::vector<Literal> results =
        is_checked ? run::checked_program(*impl_, checked).run(arguments, checked, stats)
                   : run::prepared_for(*impl_, options).run(arguments, options, stats);
    keep_stats();
    if (impl_->with_small_types) return with_types(results, impl_->with_small_types->results());
    return results;
  } catch (...) {
    keep_stats();
    throw;
  }
}

std::vector<Literal> Executable::run(const std::vector<Literal>& arguments,
                                     const RunOptions& options) const {
  return run(std::span<const Literal>(arguments), options);
}
std::vector<Literal> Executable::run(std::initializer_list<Literal> arguments,
                                     const RunOptions& options) const {
  return run(std::span<const Literal>(arguments.begin(), arguments.size()), options);
}

namespace {

/// For a program that only runs on literals, or is observed as it runs.
void run_on_copies(const Executable& executable, const Executable::Impl& impl,
                   const std::byte* const* arguments, std::byte* const* results,
                   const RunOptions& options) {
  std::vector<Literal> copies;
  copies.reserve(impl.param_types.size());
  for (const TensorType& type : impl.param_types) {
    copies.push_back(Literal::uninitialized(type));
    copy_bytes(copies.back().mutable_bytes(), *arguments++, type.bytes());
  }
  for (const Literal& result : executable.run(copies, options))
    copy_bytes(*results++, result.bytes(), result.type().bytes());
}

/// With options that are merged with those of the scopes already.
void run_on_memory_of(const Executable& executable, const Executable::Impl& impl,
                      const std::byte* const* arguments, std::byte* const* results,
                      const RunOptions& options) {
  check_options(impl.stages.optimized, options);
  if (impl.plain.runs_on_memory && !options.stats && !run::is_checked(options))
    run::prepared_for(impl, options).run_on_memory(arguments, results, options);
  else
    run_on_copies(executable, impl, arguments, results, options);
}

}  // namespace

void Executable::run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                               const RunOptions& given) const {
  check_made(impl_.get());
  const RunOptions* scoped = detail::scoped_run_options();
  if (scoped)
    return run_on_memory_of(*this, *impl_, arguments, results, detail::merged(*scoped, given));
  const bool is_plain = impl_->plain.runs_on_memory && ir::is_plain(given);
  if (is_plain && impl_->plain.prepared->run_alone(arguments, results)) return;
  run_on_memory_of(*this, *impl_, arguments, results, given);
}

bool Executable::runs_on_memory() const noexcept { return impl_ && impl_->plain.runs_on_memory; }

namespace {

void check_place(const Function& function, const char* call, bool has_it, std::string_view option) {
  if (has_it) return;
  throw ExecutionError(fmt::format(
      "{} of '{}', which was compiled for no {}\n  Compile it with {{.{} = ...}}, or use run().",
      call, function.name(), option, option));
}

}  // namespace

std::vector<pjrt::DeviceArray> Executable::run_on_device(
    const std::vector<pjrt::DeviceArray>& arguments, const RunOptions& options) const {
  return detail::run_on_device(*this, arguments, {}, options);
}
std::vector<pjrt::DeviceArray> Executable::run_on_device(
    std::span<const pjrt::DeviceArray> arguments, const RunOptions& options) const {
  return detail::run_on_device(*this, arguments, {}, options);
}
std::vector<pjrt::DeviceArray> Executable::run_on_device(std::vector<pjrt::DeviceArray>&& arguments,
                                                         const RunOptions& options) const {
  const std::vector<pjrt::DeviceArray> taken = std::move(arguments);
  return detail::run_on_device(*this, taken, std::vector<long>(taken.size(), 1), options);
}

std::vector<pjrt::DeviceArray> detail::run_on_device(const Executable& executable,
                                                     std::span<const pjrt::DeviceArray> arguments,
                                                     std::span<const long> handles,
                                                     const RunOptions& given) {
  std::optional<RunOptions> both;
  const RunOptions& options = with_scopes(given, both);
  const pjrt::Device& device = executable.device();
  const Executable::Impl& impl = *executable.impl_;
  check_place(impl.stages.optimized, "run_on_device", static_cast<bool>(device), "device");
  check_options(impl.stages.optimized, options);
  if (run::is_checked(options)) {  // which only the reference supports
    std::vector<Literal> literals;
    for (const pjrt::DeviceArray& argument : arguments) literals.push_back(argument.to_literal());
    std::vector<pjrt::DeviceArray> results;
    for (const Literal& result : executable.run(literals, given))
      results.emplace_back(result, device);
    return results;
  }
  return impl.plain.prepared->run_on_device(arguments, handles, options);
}

std::vector<pjrt::ShardedArray> Executable::run_on_mesh(
    const std::vector<pjrt::ShardedArray>& arguments, const RunOptions& options) const {
  return run_parts(arguments, {}, options);
}
std::vector<pjrt::ShardedArray> Executable::run_on_mesh(std::vector<pjrt::ShardedArray>&& arguments,
                                                        const RunOptions& options) const {
  const std::vector<pjrt::ShardedArray> taken = std::move(arguments);
  return run_parts(taken, std::vector<long>(taken.size(), 1), options);
}

std::vector<pjrt::ShardedArray> Executable::run_parts(std::span<const pjrt::ShardedArray> arguments,
                                                      std::span<const long> handles,
                                                      const RunOptions& given) const {
  std::optional<RunOptions> both;
  const RunOptions& options = with_scopes(given, both);
  const Mesh* devices = mesh();
  check_place(impl_->stages.optimized, "run_on_mesh", devices != nullptr, "mesh");
  check_options(impl_->stages.optimized, options);
  if (run::is_checked(options)) {  // which only the reference supports
    std::vector<Literal> literals;
    for (const pjrt::ShardedArray& argument : arguments) literals.push_back(argument.to_literal());
    std::vector<pjrt::ShardedArray> results;
    for (const Literal& result : run(literals, given))
      results.emplace_back(result, *devices, impl_->plain.prepared->result_specs()[results.size()]);
    return results;
  }
  return impl_->plain.prepared->run_on_mesh(arguments, handles, options);
}

const Mesh* Executable::mesh() const {
  check_made(impl_.get());
  return impl_->plain.prepared->mesh();
}

std::span<const PartitionSpec> Executable::argument_specs() const {
  check_made(impl_.get());
  return impl_->plain.prepared->argument_specs();
}

const pjrt::Device& Executable::device() const {
  check_made(impl_.get());
  return impl_->plain.prepared->device();
}

RunStats Executable::stats() const {
  if (!impl_) return {};
  std::lock_guard lock(impl_->last.mutex);
  return impl_->last.stats;
}

MemoryPlan Executable::memory_plan() const { return impl_ ? impl_->memory_plan : MemoryPlan(); }

std::string Executable::disassembly(std::string_view loop) const {
  return impl_ ? impl_->plain.prepared->disassembly(loop) : std::string();
}

std::int64_t Executable::bytes() const {
  if (!impl_) return 0;
  HeldBytes held;
  held.shared(impl_);
  for (const Function* function :
       {&impl_->stages.optimized, &impl_->stages.source, &impl_->stages.expanded})
    ir::count_held(held, *function);
  impl_->plain.prepared->count_held(held);
  held.text(impl_->executor);
  held.elements(impl_->param_types);
  if (impl_->with_small_types) ir::count_held(held, *impl_->with_small_types);
  for (const TensorType& type : impl_->param_types) held.shape(type.shape);
  held.elements<LoopResiduals>(impl_->memory_plan);
  for (const LoopResiduals& loop : impl_->memory_plan) held.text(loop.loop);
  held.elements(impl_->options.donate);
  return held.total();
}

std::string Executable::program() const {
  if (!impl_) return {};
  return "// " + impl_->executor + "\n" + impl_->plain.prepared->text();
}

const Function& Executable::function() const {
  check_made(impl_.get());
  return impl_->with_small_types ? *impl_->with_small_types : impl_->stages.optimized;
}

EagerScope::EagerScope() {
  if (ir::tracing()) return;
  scopes_ = ir::eager_scopes();
  scopes_->fetch_add(1, std::memory_order_relaxed);
}
EagerScope::~EagerScope() {
  if (scopes_) scopes_->fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace rondo
