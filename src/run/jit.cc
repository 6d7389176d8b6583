#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "base/bounded_cache.h"
#include "fmt/format.h"
#include "ir/difference.h"
#include "ir/known_value.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ir/region_facts.h"
#include "ir/results.h"
#include "ir/run_limits.h"
#include "ops/support.h"
#include "rondo/detail/reference_count.h"
#include "rondo/execute.h"
#include "rondo/run_scope.h"
#include "rondo/transforms.h"

namespace rondo::detail {

/// Identifies a program of a jitted function: the structure of its arguments, and the types of
/// their leaves.
struct ProgramKey {
  TreeStructure structure;
  std::vector<TensorType> types;
  bool operator==(const ProgramKey&) const = default;

  std::size_t hash() const {
    std::size_t state = structure.hash();
    for (const TensorType& type : types)
      state = absl::HashOf(state, type.dtype,
                           absl::MakeConstSpan(type.shape.begin(), type.shape.size()));
    return state;
  }
  /// Counts the memory that it holds. The shapes are those of the program's parameters.
  void count_held(HeldBytes& held) const { held.elements(types); }
};

namespace {

ProgramKey key_of(const JitCache::Call& call) {
  ProgramKey key{call.structure, {}};
  key.types.reserve(call.arguments.size());
  for (const Tensor& argument : call.arguments)
    key.types.push_back(ir::checked(argument, "jit", call.at).type());
  return key;
}

std::vector<Literal> values_of(std::span<const Tensor> arguments, SourceLocation at) {
  std::vector<Literal> values;
  values.reserve(arguments.size());
  for (const Tensor& argument : arguments) {
    const Literal* known = ir::known_value(argument);
    if (!known) return ir::evaluate(arguments, at, "jit");
    values.push_back(*known);
  }
  return values;
}

/// The tensors with values: those without are evaluated together.
std::vector<Tensor> evaluated(std::vector<Tensor> tensors, SourceLocation at) {
  std::vector<Tensor> missing;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < tensors.size(); i++) {
    if (ir::is_elsewhere(tensors[i]) || ir::known_value(tensors[i])) continue;
    missing.push_back(tensors[i]);
    places.push_back(i);
  }
  if (missing.empty()) return tensors;
  if (pjrt::DeviceScope::current()) {
    ir::keep_values(missing, at, "jit");
    const auto stays = [](const Tensor& tensor) { return ir::is_elsewhere(tensor); };
    if (std::all_of(missing.begin(), missing.end(), stays)) return tensors;
  }
  std::vector<Literal> values = ir::evaluate(missing, at, "jit");
  for (std::size_t i = 0; i < values.size(); i++)
    tensors[places[i]] = ir::make_constant(std::move(values[i]));
  return tensors;
}

}  // namespace

struct JitCache::Impl {
  struct Entry {
    std::mutex mutex;  // held while the first caller traces
    bool ready = false;
    Executable executable;
    bool observes = true;
    std::vector<TensorType> result_types;
    std::shared_ptr<const void> prototype;
    // The program as it was traced, while calls are to be compared with it.
    std::optional<Function> compared = std::nullopt;
    std::atomic<bool> is_compared = false;  // the same, readable without the mutex
  };
  Impl(JitOptions given, CaptureChecks by_default)
      : options(with_device(std::move(given))), checks(checks_of(options, by_default)) {}
  static JitOptions with_device(JitOptions given) {
    if (given.device) given.compile.device = given.device;
    if (given.mesh) given.compile.mesh = given.mesh;
    return given;
  }

  static CaptureChecks checks_of(const JitOptions& options, CaptureChecks by_default) {
    static const std::string_view said = [] {
      const char* text = std::getenv("RONDO_CHECK_CAPTURES");
      return text ? std::string_view(text) : std::string_view();
    }();
    const auto always = [](bool check) {
      return check ? CaptureChecks::kEachCall : CaptureChecks::kNever;
    };
    if (options.check_captures) return always(*options.check_captures);
    if (said == "1" || said == "0") return always(said == "1");
    return by_default;
  }

  const JitOptions options;
  const CaptureChecks checks;
  using Cache = BoundedCache<ProgramKey, Entry>;
  Cache entries;
  const std::uint64_t number = next_number.fetch_add(1, std::memory_order_relaxed);
  static inline std::atomic<std::uint64_t> next_number{1};

  /// The program of the last call. Only the pointer is compared, to tell that the program has not
  /// changed, so a repeated call takes no lock. It is not dereferenced.
  mutable std::atomic<const Cache::Slot*> last_slot{nullptr};
  mutable std::mutex last_mutex;
  mutable std::weak_ptr<Cache::Slot> last_called;
  void note_call(const Cache::Slot* slot, const std::weak_ptr<Cache::Slot>& program) const {
    std::lock_guard lock(last_mutex);
    last_slot.store(slot, std::memory_order_relaxed);
    last_called = program;
  }

  /// The programs that this thread ran last, of some jitted functions. Keeps none of them alive.
  struct LastRun {
    std::uint64_t jitted = 0;  // the number of the function
    const TreeType* trees = nullptr;
    std::weak_ptr<Cache::Slot> program;
    Cache::Slot* slot = nullptr;  // the same
    bool calls_back = true;       // a run may call functions of the user
    std::optional<ir::Results> results = std::nullopt;
  };
  /// Null at the end of a thread, when this table is destroyed: calls may still follow.
  LastRun* last_run() const {
    // Threshold: Last calls that a thread remembers: memory against a look-up when functions are
    // called in alternation. Not measured.
    constexpr std::size_t kKept = 16;
    static constinit thread_local bool is_forgotten = false;
    struct LastRuns {
      LastRun of_number[kKept];
      ~LastRuns() { is_forgotten = true; }
    };
    if (is_forgotten) return nullptr;
    thread_local LastRuns last;
    return &last.of_number[number % kKept];
  }
};

namespace {

const Literal* literal_here(const Tensor& tensor) {
  if (const ir::KnownValue* value = tensor.value()) return &value->literal();
  if (ir::is_elsewhere(tensor)) return nullptr;  // a value on a device stays there
  return ir::known_value(tensor);
}

/// The address of an argument's elements; null if it is not known, or if the type differs.
const std::byte* elements_of(const JitCache::View& view, const TensorType& type) {
  if (view.tensor) {
    const Literal* const literal = literal_here(*view.tensor);
    return literal && literal->type() == type ? literal->bytes() : nullptr;
  }
  const bool has_type =
      view.dtype == type.dtype && (view.shape ? *view.shape == type.shape : type.shape.empty());
  return has_type ? view.bytes : nullptr;
}

}  // namespace

bool JitCache::run_again(const Again& call) const {
  Impl::LastRun* const known = impl_->last_run();
  if (!known || known->jitted != impl_->number || known->trees != call.trees) return false;
  Impl::LastRun& last = *known;
  // Keeping the program alive takes a locked instruction. It is needed only if another thread, or a
  // function that the run calls, could release it meanwhile.
  if (last.program.expired()) return false;
  std::shared_ptr<Impl::Cache::Slot> held;
  if (last.calls_back || !is_single_threaded() || scoped_run_options()) {
    held = last.program.lock();
    if (!held) return false;
  }
  Impl::Cache::Slot* const program = last.slot;
  if (ir::tracing() || ir::eager_active()) return false;
  const std::vector<TensorType>& types = program->key.types;
  const Impl::Entry& entry = program->value;
  if (entry.is_compared.load(std::memory_order_relaxed)) return false;
  if (call.arguments.size() != types.size() || call.results.size() != entry.result_types.size() ||
      !entry.executable.runs_on_memory()) {
    return false;
  }
  const TensorType* type = types.data();
  const std::byte** from = call.from;
  for (const View& argument : call.arguments) {
    *from = elements_of(argument, *type++);
    if (!*from++) return false;
  }
  // The run writes into values that are not shared yet.
  if (!last.results) last.results.emplace(entry.result_types);
  last.results->take(call.results, call.to);
  if (impl_->last_slot.load(std::memory_order_relaxed) != program)
    impl_->note_call(program, last.program);
  entry.executable.run_on_memory(call.from, call.to, impl_->options.run);
  program->note_use();
  return true;
}

JitCache::JitCache(JitOptions options, CaptureChecks checks)
    : impl_(std::make_unique<Impl>(std::move(options), checks)) {}
JitCache::~JitCache() = default;

namespace {

Function traced(const JitCache::Call& call, const ProgramKey& key) {
  return detail::trace("main", call.function, key.types, call.names(), call.at);
}

/// Throws TraceError if tracing the function gives another program now.
void check_same_program(const Function& before, const Function& now, SourceLocation call) {
  const auto found = ir::difference(before, now);
  if (!found) return;
  throw TraceError(
      fmt::format("jit: the function gives another program than when it was traced first: {}\n"
                  "  at {}\n  in the call at {}\n  Pass what changes as an argument: a program "
                  "keeps the C++ values and tensors from outside that it was traced with.",
                  found->text, found->at.str(), call.str()),
      found->at);
}

}  // namespace

JitCache::Run JitCache::run(const Call& call) {
  ProgramKey wanted = key_of(call);
  HeldBytes held;  // by the slot beside the executable
  Impl::Cache::count_slot(held);
  wanted.count_held(held);
  const auto slot = impl_->entries.slot(std::move(wanted), held.total());
  const ProgramKey& key = slot->key;
  Impl::Entry& entry = slot->value;
  {
    std::lock_guard lock(entry.mutex);
    if (!entry.ready) {  // stays so if tracing throws: the next call tries again
      const Function function = traced(call, key);
      entry.executable = compile(function, impl_->options.compile);
      entry.result_types = function.results();
      entry.observes = ir::observes(function);
      entry.prototype = call.prototype();
      entry.ready = true;
      if (impl_->checks != CaptureChecks::kNever) {
        entry.compared = function;
        entry.is_compared = true;
      }
      held.elements(entry.result_types);
      impl_->entries.set_bytes(slot, held.total() + entry.executable.bytes());
    } else if (entry.compared) {
      check_same_program(*entry.compared, traced(call, key), call.at);
      if (impl_->checks == CaptureChecks::kSecondCall) {
        entry.compared.reset();
        entry.is_compared = false;
      }
    }
  }
  impl_->note_call(slot.get(), slot);
  Run run{{}, entry.prototype};
  std::optional<RunOptions> both;
  if (call.run) both = merged(impl_->options.run, *call.run);
  const RunOptions& options = both ? *both : impl_->options.run;
  if (const pjrt::Device& device = entry.executable.device()) {
    auto arguments = ir::arrays_on(device, evaluated(std::move(call.arguments), call.at));
    for (auto& result : entry.executable.run_on_device(std::move(arguments), options))
      run.results.push_back(ir::make_device_value(std::move(result), call.at));
    return run;
  }
  if (const Mesh* mesh = entry.executable.mesh()) {
    auto arguments = ir::arrays_on(*mesh, entry.executable.argument_specs(),
                                   evaluated(std::move(call.arguments), call.at));
    for (auto& result : entry.executable.run_on_mesh(std::move(arguments), options))
      run.results.push_back(ir::make_mesh_value(std::move(result), call.at));
    return run;
  }
  for (Literal& result : entry.executable.run(values_of(call.arguments, call.at), options))
    run.results.push_back(ir::make_known(std::move(result)));
  Impl::LastRun* const last = call.trees && !call.run ? impl_->last_run() : nullptr;
  if (last) {
    const bool calls_back = entry.observes || !ir::is_plain(impl_->options.run);
    *last = {impl_->number, call.trees, slot, slot.get(), calls_back};
  }
  return run;
}

Executable JitCache::last_program(const char* asked, SourceLocation at) const {
  std::shared_ptr<Impl::Cache::Slot> slot;
  {
    std::lock_guard lock(impl_->last_mutex);
    slot = impl_->last_called.lock();
  }
  if (slot) {
    std::lock_guard lock(slot->value.mutex);
    return slot->value.executable;
  }
  throw ExecutionError(
      fmt::format(
          "jit: {}() tells of the program of the last call, and there is none: the function "
          "was not called yet, or its program has been released\n  at {}\n  Call the "
          "function first, outside of a trace.",
          asked, at.str()),
      at);
}

bool runs_inline(std::span<const Tensor> arguments) {
  return ir::tracing() || ir::eager_active() || ir::depends_on_trace(arguments);
}

Compiled::Compiled(const Function& function, TreeStructure structure,
                   std::vector<std::string> names)
    : executable_(compile(function)), structure_(std::move(structure)), names_(std::move(names)) {}

std::vector<Literal> Compiled::run(const TreeStructure& structure,
                                   std::span<const Tensor> arguments, const RunOptions& options,
                                   SourceLocation at) const {
  if (structure != structure_) {
    throw ExecutionError(
        fmt::format("the arguments have another structure than the specs of compile_as: {}\n  at "
                    "{}\n  Give trees of the same types and sizes, or compile for these.",
                    structure_difference(structure_, structure, "arg"), at.str()),
        at);
  }
  const std::vector<TensorType> types = executable_.function().params();
  std::vector<Tensor> taken;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    ir::checked(arguments[i], names_[i].c_str(), at);
    taken.push_back(ops::adopt_dtype(arguments[i], types[i].dtype, at));
  }
  return executable_.run(values_of(taken, at), options);
}

}  // namespace rondo::detail
