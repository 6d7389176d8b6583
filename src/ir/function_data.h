// What a Function holds, for the rooms that make Functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo {

/// What was found out about a function, which cannot change: noted once, on any thread.
class FunctionNotes {
 public:
  enum Note : std::uint8_t {
    kSimplified = 1,  // passes::optimize finds nothing more to do in it
    kLookedAt = 2,    // the next two are known
    kObserves = 4,    // a tap, print or progress stands in it, at any depth
    kMayNotEnd = 8,   // a loop of unknown length stands in it, at any depth
  };
  FunctionNotes() = default;
  FunctionNotes(const FunctionNotes&) noexcept {}
  FunctionNotes& operator=(const FunctionNotes&) = delete;
  void add(int notes) noexcept {
    notes_.fetch_or(static_cast<std::uint8_t>(notes), std::memory_order_release);
  }
  bool has(Note note) const noexcept { return notes_.load(std::memory_order_acquire) & note; }

 private:
  std::atomic<std::uint8_t> notes_{0};
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
  /// `frozen`: the nodes are known to be, and need not be looked at.
  static Function make(Function::Data data, bool frozen = false) {
    Function function;
    if (!frozen) {
      for (const ir::Node* node : data.body) node->frozen.store(true, std::memory_order_relaxed);
    }
    function.data_ = std::make_shared<const Function::Data>(std::move(data));
    return function;
  }
  static FunctionNotes& notes(const Function& function) { return function.data_->notes; }
};

namespace ir {

/// All distinct regions inside a function, each after the regions inside it; the function itself is
/// last.
std::vector<Function> regions_inside_out(const Function& function);

/// About how many bytes a function holds, with its regions and constants.
std::int64_t footprint(const Function& function);

/// Copies a body with other values in the place of parameters (or of any tensors): `bind` first,
/// then node by node.
class Replay {
 public:
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
  absl::flat_hash_map<std::pair<const Node*, std::uint32_t>, Tensor> map_;
};

}  // namespace ir

}  // namespace rondo
