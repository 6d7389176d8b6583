// What a Function holds, for the rooms that make Functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo {

/// What was found out about a function, which cannot change: noted once, on any thread.
class FunctionNotes {
 public:
  enum Note : std::uint16_t {
    kSimplified = 1,      // passes::optimize finds nothing more to do in it
    kLookedAt = 2,        // the next ones are known (ir/region_facts.h)
    kObserves = 4,        // a tap, print or progress stands in it, at any depth
    kMayNotEnd = 8,       // a loop of unknown length stands in it, at any depth
    kOwnForward = 16,     // what reverse mode runs in another way stands in it, at any depth
    kSettled = 32,        // passes::simplify_function would give it back as it is
    kTidied = 64,         // passes::optimize_traced finds nothing more to do in it
    kIndices = 128,       // an op takes an index that is an operand, at any depth
    kPermanent = 256,     // the library keeps it: it counts for none of those that share it
    kUpdates = 512,       // an update of a part stands in it, at any depth of what is inlined
    kMayMakeNone = 1024,  // a loop stands in it that may make no trip, at any depth
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

struct Function::Data {
  std::string name;
  std::vector<Tensor> params;
  std::vector<const ir::Node*> body;
  std::vector<Tensor> results;
  std::vector<std::string> result_names;
  mutable FunctionNotes notes = {};
};

class FunctionAccess {
 public:
  /// The function owns the nodes of its body from now on, whether its results need them or not;
  /// until then somebody else has kept them alive.
  static Function make(Function::Data data);
  static FunctionNotes& notes(const Function& function) { return function.data_->notes; }
  /// Adds what a function holds without its nodes; false where it was added before.
  static bool count_held(HeldBytes& held, const Function& function);
};

namespace ir {

/// All distinct regions inside a function, each after the regions inside it; the function itself is
/// last. Without those that `skip` holds of, and what stands in these alone.
std::vector<Function> regions_inside_out(const Function& function,
                                         bool (*skip)(const Function&) = nullptr);

/// Adds what a function holds, with its regions and constants.
void count_held(HeldBytes& held, const Function& function);

/// Copies a body with other values in the place of parameters (or of any tensors): `bind` first,
/// then node by node.
class Replay {
 public:
  bool empty() const { return map_.empty(); }
  void reserve(std::size_t values) { map_.reserve(values); }
  void bind(const Tensor& from, Tensor to);
  /// All results of a node to those of another.
  void bind_results(const Node* from, const Tensor& to);
  /// What stands for a tensor now: what it was bound or rebuilt to, else the tensor itself.
  Tensor operator()(const Tensor& tensor) const;
  Operands operands_of(const Node* node) const;
  /// Rebuilds a node on the mapped operands; the same node where nothing changed.
  void copy(const Node* node);
  /// Replays a whole function on arguments, as new nodes, and returns its results.
  static std::vector<Tensor> inline_call(const Function& function,
                                         std::span<const Tensor> arguments);

 private:
  absl::flat_hash_map<ValueKey, Tensor> map_;
};

/// The function that `data` is with other values in the place of those that `replay` has bound: its
/// body and results are copied where they depend on one. Parameters stay as they are.
Function close(Function::Data data, Replay replay);

/// The function that `data` is without nodes that its results do not need. In its body operands
/// stand before what uses them, and somebody keeps them alive meanwhile.
Function close_live(Function::Data data);

/// Nodes, each once, that come out in the order of their ids.
class NodesById {
 public:
  /// For nodes from `first_id` to before `end_id`, of which this thread has made `made`, and a few
  /// others.
  NodesById(std::uint64_t first_id, std::uint64_t made, std::uint64_t end_id = next_id());
  /// False if it is there already.
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
  /// Calls `visit` for each node, once, also for those that it inserts: operands of the node, which
  /// have lower ids.
  template <class Visit>
  void walk_back(const Visit& visit) {
    std::size_t done = 0;
    const auto visit_others = [&] {
      for (; done < others_in_order_.size(); done++) visit(others_in_order_[done]);
    };
    visit_others();  // those from `end_id` on, whose operands may be any
    for (std::size_t at = dense_.size(); at-- > 0;) {
      if (const Node* node = dense_[at]) visit(node);
    }
    visit_others();
  }
  /// All of them, by id.
  std::vector<const Node*> take();

 private:
  bool insert_other(const Node* node);

  static constexpr std::uint64_t kSparsest = 4;  // ids for each node that stands by its id

  std::uint64_t first_ = 0;
  std::vector<const Node*> dense_;  // by id, where this thread made most of them
  absl::flat_hash_set<const Node*> others_;
  std::vector<const Node*> others_in_order_;
};

/// What lazy tensors need, back to values that are there.
struct LazyProgram {
  struct Step {
    Tensor node;                 // of a program: no lazy tensor
    const Node* lazy = nullptr;  // the lazy tensor that it is the definition of, if any
    bool again = false;          // the node stands in the step before as well
  };
  std::vector<Tensor> values;  // each once
  std::vector<Step> steps;     // by id, so that operands come first

  /// Goes back from `results`. Constants are values if `constants_are_values`, else steps.
  /// `parameter` is called for each parameter, which is an end.
  static LazyProgram from(std::span<const Tensor> results, bool constants_are_values,
                          const std::function<void(const Tensor&)>& parameter);
  /// The function of the steps, with `ends` in the place of the values: parameters, or constants,
  /// which then stand in it.
  Function close(std::string name, std::vector<Tensor> params, std::span<const Tensor> ends,
                 std::vector<Tensor> results, std::vector<std::string> result_names = {}) const;
};

}  // namespace ir

}  // namespace rondo
