// The driver of batching: walks a program once and calls the batching rules of its records.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "ir/batch.h"

namespace rondo::transforms {

/// What explain_batching reports of a node.
struct BatchNote {
  SourceLocation at;
  std::string op;
  std::string text;
  bool of_plain_op = false;  // whose rule reports nothing more
};

/// Batches programs for one axis of lanes.
class Batcher final : public ir::Batching {
 public:
  Batcher(std::int64_t lanes, std::string axis_name)
      : lanes_(lanes), axis_name_(std::move(axis_name)) {}

  std::int64_t lanes() const override { return lanes_; }
  const std::string& axis_name() const override { return axis_name_; }
  const Tensor& active() const override { return active_; }
  ir::BatchValues batch(const Function& function, std::span<const ir::BatchValue> arguments,
                        const Tensor& active) override;
  const ir::BatchedFunction& batched(const Function& function,
                                     const ir::Flags& parameters) override;
  ir::Flags batched_results(const Function& function, const ir::Flags& parameters) override;
  ir::BatchValues batch_expanded(const ir::BatchCall& call, ir::ExpandRule rule) override;
  bool has_collectives(const Function& function) override { return asks_for_lanes(function); }
  void note(const ir::Node& node, std::string text) override;

  /// From now on keeps notes of all ops of the program.
  void note_all_ops() { notes_all_ops_ = true; }
  const std::vector<BatchNote>& notes() const { return notes_; }

 private:
  ir::BatchValues batch_node(const ir::Node& node, const ir::BatchValues& operands,
                             const ir::Flags& used);
  void keep_note(BatchNote note);
  ir::Flags batched_of_node(const ir::Node& node, const ir::Flags& operands);
  /// Whether the node holds collectives over this axis, at any depth.
  bool asks_for_lanes(const ir::Node& node);
  bool asks_for_lanes(const Function& function);

  std::int64_t lanes_;
  std::string axis_name_;
  Tensor active_;
  std::vector<BatchNote> notes_;
  absl::flat_hash_set<std::string> told_;
  absl::flat_hash_set<const ir::Node*> noted_;  // those with more to report than batching
  bool notes_all_ops_ = false;
  int expansions_ = 0;  // being batched; their ops are not the user's
  // By the identity of functions, which are kept alive so that it is not reused.
  std::vector<Function> kept_;
  absl::flat_hash_map<const void*, bool> asks_;
  absl::flat_hash_map<std::pair<const void*, ir::Flags>, ir::Flags> known_flags_;
  /// Also by whether only some lanes matter.
  absl::node_hash_map<std::tuple<const void*, ir::Flags, bool>, ir::BatchedFunction> batched_;
};

}  // namespace rondo::transforms
