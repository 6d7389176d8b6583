#include "rondo/execute.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "base/memory.h"
#include "executor/backend.h"
#include "executor/for_loops.h"
#include "executor/lowering.h"
#include "fmt/format.h"
#include "interpreter/backend.h"
#include "ir/backend.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ir/region_walk.h"
#include "ir/run_limits.h"
#include "passes/batch_trips.h"
#include "passes/expand.h"
#include "passes/optimize.h"
#include "passes/sum_trips.h"
#include "pjrt/backend.h"
#include "rondo/run_scope.h"
#include "transforms/batching.h"

namespace rondo {

struct Executable::Impl {
  Function function;
  std::shared_ptr<const ir::Prepared> prepared;
  std::string executor;         // its name, and why it is another one than was asked for
  bool runs_on_memory = false;  // plain runs at least
  std::vector<TensorType> param_types;
  MemoryPlan memory_plan;
  std::int64_t bytes = 0;
  Function expanded;
  CompileOptions options;
  const ir::Backend* backend = nullptr;  // that compiled the program; null for devices
  bool batches_trips = false;            // `prepared` computes several trips of a loop at once
  /// For runs between whose trips there is to be a state.
  mutable std::once_flag stepwise_made;
  mutable std::shared_ptr<const ir::Prepared> stepwise;
  /// For runs that only the reference can do.
  mutable std::once_flag reference_made;
  mutable std::shared_ptr<const ir::Prepared> reference;
  mutable std::mutex stats_mutex;
  mutable RunStats last_stats;
};

namespace {

/// kDefault where it names none.
Executor executor_of_environment() {
  const char* text = std::getenv("RONDO_EXECUTOR");
  if (!text || std::string_view(text).empty()) return Executor::kDefault;
  const std::string_view name = text;
  if (name == "reference") return Executor::kReference;
  if (name == "bytecode") return Executor::kBytecode;
  if (name == "compiled") return Executor::kCompiled;
  throw ExecutionError(fmt::format(
      "RONDO_EXECUTOR is '{}'\n  Set it to reference, bytecode or compiled, or leave it out.",
      name));
}

/// The loops that keep something for the reverse pass, in program order.
struct ResidualLoops {
  MemoryPlan found;
  void open(const Function&, const ir::Node*, std::size_t) {}
  void close(const Function&, const ir::Node*, std::size_t) {}
  void after(const ir::Node&) {}
  void node(const ir::Node& node) {
    const auto loop = ir::region_layout(&node);
    if (!loop || !loop->residuals) return;
    found.push_back({loop->name.empty() ? "while" : std::string(loop->name),
                     loop->residuals->policy, loop->residuals->arrays, loop->residuals->bytes});
  }
};

Executor chosen(const CompileOptions& options) {
  static const Executor of_environment = executor_of_environment();
  if (options.executor != Executor::kDefault) return options.executor;
  if (of_environment != Executor::kDefault) return of_environment;
  return options.optimize ? Executor::kCompiled : Executor::kReference;
}

std::shared_ptr<const ir::Prepared> prepare_compiled(const Executable::Impl& impl,
                                                     const Function& function) {
  const std::optional<Function> for_loops = executor::for_loops(function);
  if (for_loops) return impl.backend->prepare(*for_loops, impl.options);
  return impl.backend->prepare(function.same_as(impl.function)
                                   ? impl.expanded
                                   : passes::expand(function, passes::Target::kInterpreter),
                               impl.options);
}

/// What the order of sums may change of a program.
Function with_trips_batched(const Function& function) {
  const auto batching = [](std::int64_t lanes) {
    return std::make_unique<transforms::Batcher>(lanes, "");
  };
  const Function batched = passes::batch_trips(passes::sum_trips(function, batching), batching);
  return batched.same_as(function) ? function : passes::optimize(batched);
}

bool exceeds_limit(const ir::Prepared& prepared, const CompileOptions& options) {
  return options.memory_limit && prepared.arena_bytes() > *options.memory_limit;
}

/// `runs`: which of them take so much, if not all.
void check_memory(const Executable::Impl& impl, const ir::Prepared& prepared,
                  std::string_view runs = "") {
  if (!exceeds_limit(prepared, impl.options)) return;
  throw ExecutionError(fmt::format(
      "'{}' takes {} bytes beside its arguments and results{}; CompileOptions::memory_limit is {}\n"
      "  Raise the limit, or keep less for the reverse pass: memory_plan() says what loops keep, "
      "and checkpoints keep less.",
      impl.function.name(), prepared.arena_bytes(), runs, *impl.options.memory_limit));
}

void prepare(Executable::Impl& impl, const CompileOptions& options) {
  const Executor asked = chosen(options);
  const ir::Backend* backend = &interpreter::reference_backend();
  if (asked != Executor::kReference) {
    const std::string why_not = executor::why_not_lowered(impl.expanded);
    if (why_not.empty())
      backend = asked == Executor::kCompiled ? &executor::compiled_backend()
                                             : &executor::bytecode_backend();
    else
      impl.executor = " (cannot be compiled: " + why_not + ")";
  }
  impl.backend = backend;
  impl.executor = std::string(backend->name()) + impl.executor;
  if (backend == &interpreter::reference_backend()) {
    impl.prepared = backend->prepare(impl.expanded, options);
    return;
  }
  if (options.optimize && options.contract) {
    const Function batched = with_trips_batched(impl.function);
    impl.batches_trips = !batched.same_as(impl.function);
    if (impl.batches_trips) impl.prepared = prepare_compiled(impl, batched);
    if (impl.batches_trips && !exceeds_limit(*impl.prepared, options)) return;
  }
  impl.batches_trips = false;
  impl.prepared = prepare_compiled(impl, impl.function);
}

/// The program for a run with these options.
const ir::Prepared& prepared_for(const Executable::Impl& impl, const RunOptions& options) {
  const bool stepwise = options.deadline || options.max_iterations || options.on_progress ||
                        options.stop_token.stop_possible();
  if (!impl.batches_trips || !stepwise) return *impl.prepared;
  std::call_once(impl.stepwise_made,
                 [&] { impl.stepwise = prepare_compiled(impl, impl.function); });
  check_memory(impl, *impl.stepwise, " in runs with a deadline or another limit, or progress");
  return *impl.stepwise;
}

void prepare_for_device(Executable::Impl& impl, const CompileOptions& options) {
  const bool has_executor = options.executor != Executor::kDefault;
  if (has_executor || (options.device && options.mesh)) {
    throw ExecutionError(fmt::format(
        "compile of '{}': CompileOptions has {} and {}\n  Choose one: the device's plugin runs "
        "the program by itself.",
        impl.function.name(), has_executor ? "an executor" : "a mesh",
        options.device ? "a device" : "a mesh"));
  }
  impl.prepared = pjrt::backend().prepare(impl.function, options);
  impl.executor = options.device ? options.device.str() : "mesh " + options.mesh->str();
}

bool finite_is_checked(const RunOptions& options) {
  static const bool always_check = [] {
    const char* text = std::getenv("RONDO_CHECK_FINITE");
    return text && std::string_view(text) == "1";
  }();
  return options.check_finite || always_check;
}

}  // namespace

Executable compile(const Function& function, const CompileOptions& options) {
  auto impl = std::make_shared<Executable::Impl>();
  impl->function = options.optimize ? passes::optimize(function) : function;
  impl->param_types = function.params();
  impl->options = options;
  if (options.device || options.mesh) {
    impl->expanded = impl->function;
    prepare_for_device(*impl, options);
  } else {
    if (!options.donate.empty()) {
      throw ExecutionError(fmt::format(
          "compile of '{}': CompileOptions::donate is for programs on a device\n  Leave it out: "
          "literals that nobody else holds are written over anyway.",
          function.name()));
    }
    impl->expanded = passes::expand(impl->function, passes::Target::kInterpreter);
    prepare(*impl, options);
  }
  check_memory(*impl, *impl->prepared);
  impl->runs_on_memory = impl->prepared->runs_on_memory() && !finite_is_checked({});
  impl->bytes = ir::footprint(impl->function);
  if (!impl->expanded.same_as(impl->function)) impl->bytes += ir::footprint(impl->expanded);
  ResidualLoops loops;
  ir::walk_nested(impl->expanded, loops);
  impl->memory_plan = std::move(loops.found);
  impl->memory_plan.arena_bytes = impl->prepared->arena_bytes();
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

namespace {

void check_threads(const Function& function, const RunOptions& options) {
  if (!options.threads || *options.threads >= 1) return;
  throw ExecutionError(
      fmt::format("run of '{}': RunOptions::threads is {}\n  Give 1 or more, or "
                  "leave it out.",
                  function.name(), *options.threads));
}

}  // namespace

std::vector<Literal> Executable::run(std::span<const Literal> arguments,
                                     const RunOptions& given) const {
  std::optional<RunOptions> both;
  if (const RunOptions* scoped = detail::scoped_run_options())
    both = detail::merged(*scoped, given);
  const RunOptions& options = both ? *both : given;
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  check_arguments(impl_->function, impl_->param_types, arguments);
  check_threads(impl_->function, options);
  const bool check_finite = finite_is_checked(options);
  RunOptions checked;
  if (check_finite) {
    std::call_once(impl_->reference_made, [&] {
      impl_->reference = interpreter::reference_backend().prepare(
          passes::expand(impl_->expanded, passes::Target::kInterpreter), impl_->options);
    });
    checked = options;
    checked.check_finite = true;
  }
  RunStats stats;
  const auto keep_stats = [&] {
    if (options.stats) *options.stats = stats;
    std::lock_guard lock(impl_->stats_mutex);
    impl_->last_stats = std::move(stats);
  };
  try {
    std::vector<Literal> results =
        check_finite ? impl_->reference->run(arguments, checked, stats)
                     : prepared_for(*impl_, options).run(arguments, options, stats);
    keep_stats();
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

/// Of a program that only runs on literals, or is to be looked at as it runs.
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

/// Under options that are merged with those of the scopes already.
void run_on_memory_of(const Executable& executable, const Executable::Impl& impl,
                      const std::byte* const* arguments, std::byte* const* results,
                      const RunOptions& options) {
  check_threads(impl.function, options);
  if (impl.runs_on_memory && !options.stats && !options.check_finite)
    prepared_for(impl, options).run_on_memory(arguments, results, options);
  else
    run_on_copies(executable, impl, arguments, results, options);
}

}  // namespace

void Executable::run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                               const RunOptions& given) const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  const RunOptions* scoped = detail::scoped_run_options();
  if (scoped)
    run_on_memory_of(*this, *impl_, arguments, results, detail::merged(*scoped, given));
  else if (impl_->runs_on_memory && ir::is_plain(given))
    impl_->prepared->run_on_memory(arguments, results, given);
  else
    run_on_memory_of(*this, *impl_, arguments, results, given);
}

bool Executable::runs_on_memory() const noexcept { return impl_ && impl_->runs_on_memory; }

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
  if (const RunOptions* scoped = detail::scoped_run_options())
    both = detail::merged(*scoped, given);
  const RunOptions& options = both ? *both : given;
  const pjrt::Device& device = executable.device();
  const Executable::Impl& impl = *executable.impl_;
  check_place(impl.function, "run_on_device", static_cast<bool>(device), "device");
  if (finite_is_checked(options)) {  // which only the reference can do
    std::vector<Literal> literals;
    for (const pjrt::DeviceArray& argument : arguments) literals.push_back(argument.to_literal());
    std::vector<pjrt::DeviceArray> results;
    for (const Literal& result : executable.run(literals, given))
      results.emplace_back(result, device);
    return results;
  }
  return impl.prepared->run_on_device(arguments, handles, options);
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
  if (const RunOptions* scoped = detail::scoped_run_options())
    both = detail::merged(*scoped, given);
  const RunOptions& options = both ? *both : given;
  const Mesh* devices = mesh();
  check_place(impl_->function, "run_on_mesh", devices != nullptr, "mesh");
  if (finite_is_checked(options)) {  // which only the reference can do
    std::vector<Literal> literals;
    for (const pjrt::ShardedArray& argument : arguments) literals.push_back(argument.to_literal());
    std::vector<pjrt::ShardedArray> results;
    for (const Literal& result : run(literals, given))
      results.emplace_back(result, *devices, impl_->prepared->result_specs()[results.size()]);
    return results;
  }
  return impl_->prepared->run_on_mesh(arguments, handles, options);
}

const Mesh* Executable::mesh() const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  return impl_->prepared->mesh();
}

std::span<const PartitionSpec> Executable::argument_specs() const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  return impl_->prepared->argument_specs();
}

const pjrt::Device& Executable::device() const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  return impl_->prepared->device();
}

RunStats Executable::stats() const {
  if (!impl_) return {};
  std::lock_guard lock(impl_->stats_mutex);
  return impl_->last_stats;
}

MemoryPlan Executable::memory_plan() const { return impl_ ? impl_->memory_plan : MemoryPlan(); }

std::string Executable::disassembly(std::string_view loop) const {
  return impl_ ? impl_->prepared->disassembly(loop) : std::string();
}

std::int64_t Executable::bytes() const {
  if (!impl_) return 0;
  return impl_->bytes + impl_->prepared->bytes();
}

std::string Executable::program() const {
  if (!impl_) return {};
  return "// " + impl_->executor + "\n" + impl_->prepared->text();
}

const Function& Executable::function() const {
  if (!impl_) throw ExecutionError("this Executable is empty\n  Make one with rondo::compile.");
  return impl_->function;
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
