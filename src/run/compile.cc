// Compiles a function: chooses the backend that runs it, and the forms of the program.
#include <cstdlib>
#include <string_view>
#include <utility>

#include "device/client_state.h"
#include "fmt/format.h"
#include "interpreter/backend.h"
#include "ir/backend.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/region_walk.h"
#include "ir/run_limits.h"
#include "passes/batch_trips.h"
#include "passes/contract.h"
#include "passes/expand.h"
#include "passes/growing_tapes.h"
#include "passes/inline_calls.h"
#include "passes/optimize.h"
#include "passes/small_types.h"
#include "passes/sum_trips.h"
#include "run/executable.h"
#include "transforms/batching.h"

namespace rondo {

namespace {

/// kDefault if it names none.
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

/// Whether a variable of the environment names the tool; else it is empty or not there.
bool names_tool(const char* variable, std::string_view tool) {
  const char* text = std::getenv(variable);
  if (!text || std::string_view(text).empty()) return false;
  if (text == tool) return true;
  throw ExecutionError(
      fmt::format("{} is '{}'\n  Set it to {}, or leave it out.", variable, text, tool));
}

CompileOptions with_tools_of_environment(CompileOptions options) {
  static const bool debugger = names_tool("RONDO_DEBUGGER", "gdb");
  static const bool profiler = names_tool("RONDO_PROFILER", "perf");
  options.debugger = options.debugger || debugger;
  options.profiler = options.profiler || profiler;
  return options;
}

/// The loops that save values for the backward pass, in program order.
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

/// The executor that the options or the environment select; else the default, which is the
/// reference in programs linked without the compiler.
const ir::Backend* backend_of(const CompileOptions& options, std::string_view name) {
  static const Executor of_environment = executor_of_environment();
  Executor executor = options.executor;
  if (executor == Executor::kDefault) executor = of_environment;
  const bool is_asked = executor != Executor::kDefault;
  if (!is_asked) executor = options.optimize ? Executor::kCompiled : Executor::kReference;
  if (executor == Executor::kReference) return &interpreter::reference_backend();
  if (const ir::Backend* linked = ir::registered_executor(executor)) return linked;
  if (!is_asked) return &interpreter::reference_backend();
  throw ExecutionError(fmt::format(
      "compile of '{}': the executor that is asked for is not linked\n  Link rondo::compiler or "
      "rondo::rondo beside rondo::core, or ask for Executor::kReference.",
      name));
}

std::shared_ptr<const ir::Prepared> prepare_compiled(const Executable::Impl& impl,
                                                     const Function& function,
                                                     const ir::Form& form) {
  Function expanded;
  if (std::optional<Function> preferred = impl.backend->expanded(function))
    expanded = *std::move(preferred);
  else if (function.same_as(impl.stages.optimized))
    expanded = impl.stages.expanded;
  else
    expanded = passes::expand(function, passes::Target::kInterpreter);
  if (impl.options.contract) expanded = passes::contract(expanded);
  return impl.backend->prepare(expanded, impl.options, form);
}

/// Applies the rewrites that may reassociate sums: to all forms of a program, or to none.
/// `keeps_states`: for runs with limits.
Function with_trips_batched(const Function& function, bool keeps_states = false) {
  const auto batching = [](std::int64_t lanes) {
    return std::make_unique<transforms::Batcher>(lanes, "");
  };
  const Function batched =
      passes::batch_trips(passes::sum_trips(function, batching, keeps_states), batching);
  return batched.same_as(function) ? function : passes::optimize(batched);
}

void check_limit(const Function& function, const CompileOptions& options) {
  if (!options.memory_limit || *options.memory_limit >= 0) return;
  throw ExecutionError(fmt::format(
      "compile of '{}': CompileOptions::memory_limit is {}\n  Give the bytes that a run "
      "may take, 0 or more, or leave it out.",
      function.name(), *options.memory_limit));
}

/// Devices have no growing tapes; and if a program has a memory limit, the size of what it saves is
/// known.
Function for_target(const Function& function, const CompileOptions& options) {
  const bool may_grow = !options.device && !options.mesh && !options.memory_limit;
  return may_grow ? function : passes::without_growing_tapes(function);
}

bool exceeds_limit(const Executable::Impl& impl, const ir::Prepared& prepared) {
  if (!impl.options.memory_limit) return false;
  return impl.memory_plan.result_bytes > *impl.options.memory_limit ||
         prepared.arena_bytes() > *ir::arena_limit(impl.stages.optimized, impl.options);
}

/// `limited`: for runs with limits.
void check_memory(const Executable::Impl& impl, const ir::Prepared& prepared,
                  bool limited = false) {
  if (!exceeds_limit(impl, prepared)) return;
  throw ExecutionError(fmt::format(
      "'{}' takes {} bytes for its results and {} for all else but its arguments{}; "
      "CompileOptions::memory_limit is {}\n"
      "  Raise the limit{}, or keep less for the reverse pass: memory_plan() says what loops keep, "
      "and checkpoints keep less.",
      impl.stages.optimized.name(), impl.memory_plan.result_bytes, prepared.arena_bytes(),
      limited ? " in runs with a deadline or another limit, or progress" : "",
      *impl.options.memory_limit, limited ? ", run it without these options" : ""));
}

std::shared_ptr<const ir::Prepared> prepare_form(const Executable::Impl& impl,
                                                 const ir::Form& form) {
  const Function function = impl.plain.batches_trips
                                ? with_trips_batched(impl.stages.optimized, form.has_limits)
                                : impl.stages.optimized;
  return prepare_compiled(impl, function, form);
}

/// The forms of the program with products of all trips; false if there are none, or if they exceed
/// a `memory_limit` that the program without them keeps.
bool prepare_batched(Executable::Impl& impl) {
  const Function batched = with_trips_batched(impl.stages.optimized);
  if (batched.same_as(impl.stages.optimized)) return false;
  impl.plain.batches_trips = impl.plain.ignores_limits = true;
  impl.plain.prepared = prepare_compiled(impl, batched, {});
  if (!impl.options.memory_limit) return true;
  if (!exceeds_limit(impl, *impl.plain.prepared)) {
    std::shared_ptr<const ir::Prepared> limited = prepare_form(impl, {.has_limits = true});
    if (!exceeds_limit(impl, *limited) ||
        exceeds_limit(impl, *prepare_compiled(impl, impl.stages.optimized, {}))) {
      impl.limited.get([&] { return limited; });
      return true;
    }
  }
  impl.plain.batches_trips = false;
  return false;
}

void prepare(Executable::Impl& impl, const CompileOptions& options) {
  const ir::Backend* backend = backend_of(options, impl.stages.optimized.name());
  if (const std::string why_not = backend->why_not(impl.stages.expanded); !why_not.empty()) {
    impl.executor = " (cannot be compiled: " + why_not + ")";
    backend = &interpreter::reference_backend();
  }
  impl.backend = backend;
  impl.executor = std::string(backend->name()) + impl.executor;
  if (backend == &interpreter::reference_backend()) {
    impl.plain.prepared = backend->prepare(impl.stages.expanded, options, {});
    return;
  }
  if (options.optimize && options.contract && prepare_batched(impl)) return;
  impl.plain.prepared = prepare_compiled(impl, impl.stages.optimized, {});
  impl.plain.ignores_limits = impl.plain.prepared->ignores_limits();
}

void prepare_for_device(Executable::Impl& impl, const CompileOptions& options) {
  const bool has_executor = options.executor != Executor::kDefault;
  if (has_executor || (options.device && options.mesh)) {
    throw ExecutionError(fmt::format(
        "compile of '{}': CompileOptions has {} and {}\n  Choose one: the device's plugin runs "
        "the program by itself.",
        impl.stages.optimized.name(), has_executor ? "an executor" : "a mesh",
        options.device ? "a device" : "a mesh"));
  }
  if (options.mesh && options.mesh->devices().empty()) {
    throw ExecutionError(
        fmt::format("compile of '{}': the mesh {} has no devices\n  Give it some: Mesh(axes, "
                    "client.devices()).",
                    impl.stages.optimized.name(), options.mesh->str()));
  }
  const pjrt::Device& device = options.device ? options.device : options.mesh->devices().front();
  const ir::Backend& backend = pjrt::DeviceAccess::state(device)->backend();
  impl.plain.prepared = backend.prepare(impl.stages.optimized, options, {});
  impl.executor = options.device ? options.device.str() : "mesh " + options.mesh->str();
}

bool is_set(const char* variable) {
  const char* text = std::getenv(variable);
  return text && std::string_view(text) == "1";
}

}  // namespace

const ir::Prepared& run::prepared_for(const Executable::Impl& impl, const RunOptions& options) {
  const ir::Form form{
      .has_limits = impl.plain.ignores_limits && ir::has_limits(options),
      .is_measured = options.profile && !impl.plain.prepared->measures(),
  };
  if (!form.has_limits && !form.is_measured) return *impl.plain.prepared;
  const run::FormOnRequest& on_request = !form.is_measured ? impl.limited
                                         : form.has_limits ? impl.limited_and_measured
                                                           : impl.measured;
  const ir::Prepared& prepared = on_request.get([&] { return prepare_form(impl, form); });
  if (form.has_limits) check_memory(impl, prepared, true);
  return prepared;
}

RunOptions run::with_checks_of_environment(const RunOptions& options) {
  static const bool finite = is_set("RONDO_CHECK_FINITE"), bounds = is_set("RONDO_CHECK_BOUNDS");
  RunOptions checked = options;
  checked.check_finite = checked.check_finite || finite;
  checked.check_bounds = checked.check_bounds || bounds;
  return checked;
}

bool run::is_checked(const RunOptions& options) {
  static const RunOptions always = with_checks_of_environment({});
  return options.check_finite || options.check_bounds || always.check_finite || always.check_bounds;
}

const ir::Prepared& run::checked_program(const Executable::Impl& impl, const RunOptions& options) {
  const auto prepare = [&](const Function& function, passes::Target target) {
    return interpreter::reference_backend().prepare(passes::expand(function, target), impl.options,
                                                    {});
  };
  if (options.check_bounds) {
    // Passes hoist loop-invariant ops out of loops that may make no trip, and compute with indices
    // that are known to them.
    return impl.inspected.get(
        [&] { return prepare(impl.stages.source, passes::Target::kInspected); });
  }
  return impl.reference.get(
      [&] { return prepare(impl.stages.expanded, passes::Target::kInterpreter); });
}

Executable compile(const Function& given, const CompileOptions& chosen) {
  const CompileOptions options = with_tools_of_environment(chosen);
  check_limit(given, options);
  const bool runs_here = !options.device && !options.mesh;
  const Function wanted = for_target(passes::inline_calls(given), options);
  const Function function = runs_here ? passes::on_bytes(wanted) : wanted;
  auto impl = std::make_shared<Executable::Impl>();
  impl->stages.optimized = options.optimize ? passes::optimize(function) : function;
  impl->stages.source = function;
  impl->param_types = given.params();
  if (!function.same_as(wanted))
    impl->with_small_types = options.optimize ? passes::optimize(wanted) : wanted;
  impl->options = options;
  impl->memory_plan.result_bytes = ir::result_bytes(impl->stages.optimized.results());
  if (!runs_here) {
    impl->stages.expanded = impl->stages.optimized;
    prepare_for_device(*impl, options);
  } else {
    if (!options.donate.empty()) {
      throw ExecutionError(fmt::format(
          "compile of '{}': CompileOptions::donate is for programs on a device\n  Leave it out: "
          "literals that have no other owner are overwritten anyway.",
          function.name()));
    }
    impl->stages.expanded = passes::expand(impl->stages.optimized, passes::Target::kInterpreter);
    prepare(*impl, options);
  }
  check_memory(*impl, *impl->plain.prepared);
  impl->plain.runs_on_memory = impl->plain.prepared->runs_on_memory() && !run::is_checked({});
  ResidualLoops loops;
  ir::walk_nested(impl->stages.expanded, loops);
  static_cast<std::vector<LoopResiduals>&>(impl->memory_plan) = std::move(loops.found);
  impl->memory_plan.arena_bytes = impl->plain.prepared->arena_bytes();
  Executable executable;
  executable.impl_ = std::move(impl);
  return executable;
}

}  // namespace rondo
