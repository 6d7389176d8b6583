// Evaluation of lazy tensors: their graph becomes a Function whose parameters are the known values.
// Executables are cached by its structure, so an ordinary C++ loop that builds the same graph each
// time compiles once.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "base/bounded_cache.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "ir/structure.h"
#include "rondo/execute.h"
#include "rondo/run_scope.h"
#include "run/last_uses.h"
#include "run/lazy_plan.h"

namespace rondo {
namespace ir {

namespace {

/// Besides the requested ones, an evaluation keeps values up to this number of bytes, or up to this
/// multiple of the bytes of its inputs and requested results, whichever is more (docs/lazy.md).
constexpr std::int64_t kKeptBytes = std::int64_t{64} << 20;
constexpr std::int64_t kKeptShare = 4;

bool is_known(const Tensor& tensor) {
  const Node* node = tensor.node();
  return is_lazy(node) ? node->cell->evaluated() : is_constant(node);
}

/// The type of the actual value: a tape has more rows than its node declares.
const TensorType& leaf_type(const Tensor& leaf) {
  return is_elsewhere(leaf) ? leaf.type() : known_value(leaf)->type();
}

std::int64_t bytes_of(const Node* node) {
  std::int64_t bytes = 0;
  for (const TensorType& type : node->types) {
    if (__builtin_add_overflow(bytes, type.bytes(), &bytes)) return INT64_MAX;
  }
  return bytes;
}

/// Chooses the lazy tensors whose values are kept: the requested ones, and those with other
/// handles, from the program or from a node that is not evaluated here.
class KeptValues {
 public:
  KeptValues(std::span<const Tensor> asked, const LazyProgram& program) {
    for (const LazyProgram::Step& step : program.steps) {
      if (step.again) continue;
      for (const Tensor& operand : step.node.node()->operands) uses_[operand.node()]++;
    }
    std::int64_t taken = 0;
    const auto take = [&](std::int64_t bytes) {
      if (__builtin_add_overflow(taken, bytes, &taken)) taken = INT64_MAX / kKeptShare;
    };
    for (const Tensor& value : program.values) take(leaf_type(value).bytes());
    absl::flat_hash_set<const Node*> wanted;
    for (const Tensor& tensor : asked) {
      if (is_known(tensor) || !wanted.insert(tensor.node()).second) continue;
      take(bytes_of(tensor.node()));
      if (is_lazy(tensor.node())) results_.push_back(Tensor::of(tensor.node()));
    }
    left_ = std::max(kKeptBytes, taken > INT64_MAX / kKeptShare ? INT64_MAX : taken * kKeptShare);
    // Users first: if they are not kept, they may be computed again, and need their operands then.
    for (auto step = program.steps.rbegin(); step != program.steps.rend(); ++step) {
      if (step->lazy && !wanted.contains(step->lazy)) consider(*step);
    }
  }

  std::vector<Tensor> take() { return std::move(results_); }
  /// Whether the budget sufficed for all that are held.
  bool all_fit() const { return all_fit_; }

 private:
  void consider(const LazyProgram::Step& step) {
    const auto handles = step.lazy->references.load(std::memory_order_relaxed);
    if (handles <= uses_[step.lazy]) return;
    const std::int64_t bytes = bytes_of(step.lazy);
    if (bytes <= left_ || step.node.node()->op->observer) {  // it reports only once
      left_ -= std::min(bytes, left_);
      results_.push_back(Tensor::of(step.lazy));
    } else {
      all_fit_ = false;
      for (const Tensor& operand : step.node.node()->operands) uses_[operand.node()]--;
    }
  }

  absl::flat_hash_map<const Node*, std::uint32_t> uses_;  // by nodes that the evaluation releases
  std::vector<Tensor> results_;
  std::int64_t left_ = 0;  // bytes
  bool all_fit_ = true;
};

/// A graph to be evaluated.
struct LazyGraph {
  LazyProgram program;
  std::vector<TensorType> types;  // of the input values
  std::vector<Tensor> kept;       // lazy tensors that are given their values
  bool all_fit;                   // no others are held
  std::vector<Tensor> outputs;    // all results of these; then the other requested ones

  explicit LazyGraph(std::span<const Tensor> asked)
      : program(LazyProgram::from(asked, true, [](const Tensor&) {
          throw InternalError("a lazy evaluation came to a parameter");
        })) {
    KeptValues values(asked, program);
    all_fit = values.all_fit();
    kept = values.take();
    for (const Tensor& value : program.values) types.push_back(leaf_type(value));
    for (const Tensor& tensor : kept) {
      for (const Tensor& result : results_of(tensor.node())) outputs.push_back(result);
    }
    for (const Tensor& tensor : asked) {
      if (!is_lazy(tensor.node()) && !is_constant(tensor.node())) outputs.push_back(tensor);
    }
  }

  Function function() const {
    auto token = std::make_shared<RegionToken>();
    token->what = "a lazy evaluation";
    token->open = false;
    std::vector<Tensor> params;
    for (std::size_t i = 0; i < types.size(); i++) {
      params.push_back(make_parameter(types[i], fmt::format("in{}", i),
                                      static_cast<std::int64_t>(i), token,
                                      program.values[i].node()->location()));
    }
    const std::vector<Tensor> ends = params;
    return program.close("lazy", std::move(params), ends, outputs);
  }
};

struct LazyExecutable {
  std::mutex mutex;  // held while the first caller compiles
  bool ready = false;
  Executable executable;
  std::optional<LazyPlan> plan;
};
struct LazyKey {
  Structure structure;
  pjrt::Device device;
  bool operator==(const LazyKey&) const = default;
  std::size_t hash() const { return structure.hash() + pjrt::DeviceHash()(device); }
};
using LazyCache = BoundedCache<LazyKey, LazyExecutable>;

LazyCache& lazy_cache() {
  // Never destroyed: tensors of static storage may be evaluated late.
  static auto* cache = new LazyCache;
  return *cache;
}

using LazySlot = std::shared_ptr<LazyCache::Slot>;

/// The programs that this thread ran last, by the op and the line that created the requested
/// tensor: a loop may request several tensors in turn. Keeps none of them alive.
class LastSlots {
 public:
  /// Null if none is known.
  static LazySlot find(const Tensor& asked) {
    if (are_gone_) return nullptr;
    const Key key = key_of(asked);
    for (const Entry& entry : last().entries_) {
      if (entry.key == key) return entry.slot.lock();
    }
    return nullptr;
  }
  static void set(const Tensor& asked, const LazySlot& slot) {
    if (are_gone_) return;
    LastSlots& slots = last();
    const Key key = key_of(asked);
    auto place = std::find_if(slots.entries_.begin(), slots.entries_.end(),
                              [&](const Entry& entry) { return entry.key == key; });
    if (place == slots.entries_.end()) {
      place = slots.entries_.begin() + static_cast<std::ptrdiff_t>(slots.oldest_);
      slots.oldest_ = (slots.oldest_ + 1) % slots.entries_.size();
    }
    *place = {key, slot};
  }
  ~LastSlots() { are_gone_ = true; }

 private:
  struct Key {
    const OpDef* op = nullptr;
    std::uint32_t line = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::weak_ptr<LazyCache::Slot> slot;
  };

  LastSlots() = default;
  static LastSlots& last() {
    thread_local LastSlots slots;
    return slots;
  }
  static Key key_of(const Tensor& asked) { return {&asked.node()->cell->op(), asked.node()->line}; }

  /// At the end of the thread, tensors of static storage may still be evaluated.
  static inline constinit thread_local bool are_gone_ = false;
  // All are searched: in a hash table, programs of one loop could collide.
  std::array<Entry, 16> entries_;
  std::size_t oldest_ = 0;
};

bool can_be_again(std::span<const Tensor> asked) {
  return !asked.empty() && !asked[0].value() && !asked[0].empty() && is_lazy(asked[0].node()) &&
         !rondo::detail::scoped_run_options() && !pjrt::DeviceScope::current();
}

LazySlot slot_of(const LazyGraph& graph, std::span<const Tensor> asked) {
  LazyKey key{structure_of(graph.program, graph.types, graph.outputs),
              pjrt::DeviceScope::current()};
  HeldBytes held;  // by the slot beside the executable
  LazyCache::count_slot(held);
  key.structure.count_held(held);
  LazySlot slot = lazy_cache().slot(std::move(key), held.total());
  LazyExecutable& found = slot->value;
  std::lock_guard lock(found.mutex);
  if (!found.ready) {  // stays so if it cannot be compiled: the next evaluation reports why again
    found.executable = compile(graph.function(), {.device = pjrt::DeviceScope::current()});
    if (graph.all_fit)
      found.plan = LazyPlan::of(graph.program, graph.types, asked, graph.kept, found.executable);
    found.ready = true;
    if (found.plan) found.plan->count_held(held);
    lazy_cache().set_bytes(slot, held.total() + found.executable.bytes());
  }
  if (found.plan && can_be_again(asked)) LastSlots::set(asked[0], slot);
  return slot;
}

/// Gives the lazy tensors their values, the first results in order, and returns the other results.
std::vector<Literal> keep(std::span<const Tensor> kept, std::vector<Literal> results) {
  auto next = std::make_move_iterator(results.begin());
  for (const Tensor& tensor : kept) {
    const auto end = next + static_cast<std::ptrdiff_t>(tensor.node()->types.size());
    auto values = std::make_unique<LazyValues>();
    values->list.assign(next, end);
    tensor.node()->cell->set_values(std::move(values));
    next = end;
  }
  return {next, std::make_move_iterator(results.end())};
}

/// Computes tensors without values. Returns the values of those that do not store them, in order.
std::vector<Literal> compute(std::span<const Tensor> tensors) {
  const LazyGraph graph(tensors);
  if (graph.outputs.empty()) return {};  // other threads were faster
  const LazySlot slot = slot_of(graph, tensors);
  const Executable& executable = slot->value.executable;
  if (const pjrt::Device& device = executable.device()) {
    LastUses last(graph.program, graph.kept);
    const auto arguments = arrays_on(device, graph.program.values);
    std::vector<Literal> literals;
    for (const pjrt::DeviceArray& result :
         last.keep(detail::run_on_device(executable, arguments, last.handles(), {})))
      literals.push_back(result.to_literal());
    return literals;
  }
  std::vector<Literal> arguments;
  for (const Tensor& value : graph.program.values) arguments.push_back(*known_value(value));
  return keep(graph.kept, executable.run(arguments));
}

/// Who wants to read a value; all others trace, and use tensors of outside.
bool reads_values(std::string_view user) {
  return user == "eval" || user == "to_eigen" || user == "a conversion to an array";
}

[[noreturn]] void refuse_parameter(const Node* parameter, const std::string& user,
                                   SourceLocation at) {
  const auto& attributes = parameter->attrs<ParameterAttributes>();
  const RegionToken& home = *attributes.region;
  if (!home.open.load(std::memory_order_acquire)) {
    throw TraceError(fmt::format("a tensor escaped: it depends on '{}' of {}{}, which is "
                                 "finished, and is used by {}\n  at {}\n  Return it from "
                                 "there as a result and use what the call returns.",
                                 attributes.name, home.what, in_brackets(home.at), user, at.str()),
                     at);
  }
  if (!reads_values(user)) {  // a trace computes the outer tensors that it uses
    throw TraceError(fmt::format("mixed traces: {} uses a tensor that depends on '{}' of {}{}, "
                                 "which is being traced around it\n  at {}\n  Pass the tensor in "
                                 "as an argument.",
                                 user, attributes.name, home.what, in_brackets(home.at), at.str()),
                     at);
  }
  throw TraceError(fmt::format("{} inside a trace: the tensor depends on '{}' of {}{}, which "
                               "has no value while it is traced\n  at {}\n  Choose with "
                               "rondo::where or rondo::cond, watch with rondo::tap or "
                               "rondo::print, or evaluate what the traced function returns.",
                               user, attributes.name, home.what, in_brackets(home.at), at.str()),
                   at);
}

/// Computes and stores lazy tensors as this thread did before, if their graph is like one of those
/// that it evaluated last. Otherwise returns false and does nothing.
bool evaluate_again(std::span<const Tensor> tensors) {
  if (!can_be_again(tensors)) return false;
  const LazySlot slot = LastSlots::find(tensors[0]);
  if (!slot || !slot->value.plan->run(tensors)) return false;
  slot->note_use();
  return true;
}

std::vector<Literal> compute_unknown(std::span<const Tensor> tensors, SourceLocation at,
                                     const std::string& user) {
  for (const Tensor& tensor : tensors) {
    if (checked(tensor, user.c_str(), at).node()->traced)
      refuse_parameter(parameter_behind(tensor.node()), user, at);
  }
  if (std::all_of(tensors.begin(), tensors.end(), is_known) || evaluate_again(tensors)) return {};
  return compute(tensors);
}

}  // namespace
}  // namespace ir

std::vector<Literal> detail::evaluate(std::span<const Tensor> tensors, SourceLocation at,
                                      const std::string& user) {
  std::vector<Literal> computed = ir::compute_unknown(tensors, at, user);
  std::vector<Literal> values;
  auto next = computed.begin();
  for (const Tensor& tensor : tensors) {
    if (const Literal* known = ir::known_value(tensor))
      values.push_back(*known);
    else
      values.push_back(std::move(*next++));
  }
  return values;
}

void detail::keep_values(std::span<const Tensor> tensors, SourceLocation at,
                         const std::string& user) {
  ir::compute_unknown(tensors, at, user);
}

Literal Tensor::eval(SourceLocation at) const {
  ir::checked(*this, "eval", at);
  if (const Literal* known = ir::known_value(*this)) return *known;
  if (ir::evaluate_again({this, 1})) return *ir::known_value(*this);
  return detail::evaluate({this, 1}, at)[0];
}

Literal Tensor::value_for(const char* user, SourceLocation at) const {
  return detail::evaluate({this, 1}, at, user)[0];
}

}  // namespace rondo
