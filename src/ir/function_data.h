// The contents of a Function, for the folders that create Functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo {

/// Facts about a function, which is immutable: noted once, on any thread.
class FunctionNotes {
 public:
  enum Note : std::uint16_t {
    kSimplified = 1,      // passes::optimize finds nothing more to do in it
    kLookedAt = 2,        // the following ones are known (ir/region_facts.h)
    kObserves = 4,        // it contains a tap, print or progress, at any depth
    kMayNotEnd = 8,       // it contains a loop of unknown length, at any depth
    kOwnForward = 16,     // it contains a rule by which reverse mode runs differently, at any depth
    kSettled = 32,        // passes::simplify_function would return it unchanged
    kTidied = 64,         // passes::optimize_traced finds nothing more to do in it
    kIndices = 128,       // an op takes an index that is an operand, at any depth
    kPermanent = 256,     // the library keeps it: its size counts for none of its users
    kUpdates = 512,       // it contains an update of a part, at any depth of what is inlined
    kMayMakeNone = 1024,  // it contains a loop that may make no trip, at any depth
  };
  FunctionNotes() = default;
  FunctionNotes(const FunctionNotes&) noexcept {}
  FunctionNotes& operator=(const FunctionNotes&) = delete;
  void add(int notes) noexcept {
    notes_.fetch_or(static_cast<std::uint16_t>(notes), std::memory_order_release);
  }
  bool has(Note note) const noexcept { return notes_.load(std::memory_order_acquire) & note; }

 private:
  std::atomic<std::uint16_t> notes_{0};
};

/// What rules have derived from a function, kept with it: a function with many calls is
/// differentiated once for all of them. On any thread.
class DerivedPrograms {
 public:
  DerivedPrograms() = default;
  DerivedPrograms(const DerivedPrograms&) noexcept {}
  DerivedPrograms& operator=(const DerivedPrograms&) = delete;

  /// What `make` returned for this key, now or before. It may derive from other functions.
  template <class T, class Make>
  std::shared_ptr<const T> get(const std::string& key, const Make& make) {
    std::shared_ptr<const void> known = find(key);
    if (!known) known = keep(key, std::make_shared<const T>(make()));
    return std::static_pointer_cast<const T>(known);
  }

 private:
  std::shared_ptr<const void> find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : found->second;
  }
  std::shared_ptr<const void> keep(const std::string& key, std::shared_ptr<const void> made) {
    const std::lock_guard lock(mutex_);
    return known_.emplace(key, std::move(made)).first->second;
  }

  mutable std::mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const void>> known_;
};

struct Function::Data {
  std::string name;
  std::vector<Tensor> params;
  std::vector<const ir::Node*> body;
  std::vector<Tensor> results;
  std::vector<std::string> result_names;
  mutable FunctionNotes notes = {};
  mutable DerivedPrograms derived = {};
};

class FunctionAccess {
 public:
  /// From now on the function owns the nodes of its body, whether its results need them or not.
  /// Until then the caller must keep them alive.
  static Function make(Function::Data data);
  static FunctionNotes& notes(const Function& function) { return function.data_->notes; }
  static DerivedPrograms& derived(const Function& function) { return function.data_->derived; }
  /// Adds what a function holds, without its nodes; false if it was added before.
  static bool count_held(HeldBytes& held, const Function& function);
};

namespace ir {

/// All distinct regions inside a function, innermost first, and then the function itself. Without
/// those for which `skip` holds, and what occurs only in these.
std::vector<Function> regions_inside_out(const Function& function,
                                         bool (*skip)(const Function&) = nullptr);

/// DerivedPrograms::get.
template <class T, class Make>
std::shared_ptr<const T> derived(const Function& function, const std::string& key,
                                 const Make& make) {
  return FunctionAccess::derived(function).get<T>(key, make);
}

/// The functions that nodes of flow kCall in `function` call, at any depth, each once, callees
/// before their callers.
std::vector<Function> called_functions(const Function& function);

/// Adds what a function holds, with its regions and constants.
void count_held(HeldBytes& held, const Function& function);

/// Copies a body with parameters (or any other tensors) replaced: `bind` first, then node by node.
class Replay {
 public:
  bool empty() const { return map_.empty(); }
  void reserve(std::size_t values) { map_.reserve(values); }
  void bind(const Tensor& from, Tensor to);
  /// Binds all results of a node to those of another.
  void bind_results(const Node* from, const Tensor& to);
  /// The current replacement of a tensor: what it was bound or rebuilt to, else the tensor itself.
  Tensor operator()(const Tensor& tensor) const;
  Operands operands_of(const Node* node) const;
  /// Rebuilds a node on the mapped operands; the same node if nothing changed.
  void copy(const Node* node);
  /// Replays a whole function on arguments, as new nodes, and returns its results.
  static std::vector<Tensor> inline_call(const Function& function,
                                         std::span<const Tensor> arguments);

 private:
  absl::flat_hash_map<ValueKey, Tensor> map_;
};

/// The function of `data`, in which the values that `replay` has bound are replaced: its body and
/// results are copied if they depend on one. Parameters are unchanged.
Function close(Function::Data data, Replay replay);

/// The function of `data` without nodes that its results do not need. In its body operands precede
/// their users, and the caller keeps the nodes alive meanwhile.
Function close_live(Function::Data data);

/// A set of nodes that is read out in the order of their ids.
class NodesById {
 public:
  /// For nodes from `first_id` to before `end_id`, of which this thread has created `made`, and a
  /// few others.
  NodesById(std::uint64_t first_id, std::uint64_t made, std::uint64_t end_id = next_id());
  /// False if it is already in the set.
  bool insert(const Node* node) {
    const std::uint64_t at = node->id - first_;  // wraps for older nodes
    if (at >= dense_.size()) return insert_other(node);
    return std::exchange(dense_[static_cast<std::size_t>(at)], node) == nullptr;
  }
  bool contains(const Node* node) const {
    const std::uint64_t at = node->id - first_;
    return at < dense_.size() ? dense_[static_cast<std::size_t>(at)] != nullptr
                              : others_.contains(node);
  }
  /// Calls `visit` for each node, once, including those that it inserts: operands of the node,
  /// which have lower ids.
  template <class Visit>
  void walk_back(const Visit& visit) {
    std::size_t done = 0;
    const auto visit_others = [&] {
      for (; done < others_in_order_.size(); done++) visit(others_in_order_[done]);
    };
    visit_others();  // those from `end_id` on, with arbitrary operands
    for (std::size_t at = dense_.size(); at-- > 0;) {
      if (const Node* node = dense_[at]) visit(node);
    }
    visit_others();
  }
  /// All of them, by id.
  std::vector<const Node*> take();

 private:
  bool insert_other(const Node* node);

  static constexpr std::uint64_t kSparsest = 4;  // ids per node that is stored by id

  std::uint64_t first_ = 0;
  std::vector<const Node*> dense_;  // by id, if this thread made most of them
  absl::flat_hash_set<const Node*> others_;
  std::vector<const Node*> others_in_order_;
};

/// What lazy tensors depend on, back to known values.
struct LazyProgram {
  struct Step {
    Tensor node;                 // of a program: not a lazy tensor
    const Node* lazy = nullptr;  // the lazy tensor that it is the definition of, if any
    bool again = false;          // the previous step has the same node
  };
  std::vector<Tensor> values;  // each once
  std::vector<Step> steps;     // by id, so that operands come first

  /// Walks back from `results`. Constants are values if `constants_are_values`, else steps.
  /// `parameter` is called for each parameter, where the walk ends.
  static LazyProgram from(std::span<const Tensor> results, bool constants_are_values,
                          const std::function<void(const Tensor&)>& parameter);
  /// The function of the steps, with the values replaced by `ends`: parameters, or constants, which
  /// then belong to it.
  Function close(std::string name, std::vector<Tensor> params, std::span<const Tensor> ends,
                 std::vector<Tensor> results, std::vector<std::string> result_names = {}) const;
};

}  // namespace ir

}  // namespace rondo
