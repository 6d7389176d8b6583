// How a graph of lazy tensors was evaluated, for the evaluation of similar graphs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/types/span.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "rondo/execute.h"

namespace rondo::ir {

/// A loop that builds the same graph in each step is evaluated by the plan of its first steps: one
/// walk over the graph compares it with the plan, node by node, without any look-up. Immutable.
class LazyPlan {
 public:
  /// The plan of a graph that gives values to the tensors `kept`, in sequence. Nullopt if more
  /// matters than what run() compares: observers, nodes that are not lazy, an executable for
  /// devices.
  static std::optional<LazyPlan> of(const LazyProgram& program, std::span<const TensorType> types,
                                    std::span<const Tensor> asked, std::span<const Tensor> kept,
                                    Executable executable);

  /// Gives the tensors `asked` their values. False, without doing anything, if their graph differs
  /// from the plan.
  bool run(std::span<const Tensor> asked) const;

  /// Adds what it owns beside the executable; attributes and regions belong to its nodes.
  void count_held(HeldBytes& held) const;

 private:
  class Match;
  /// Fills the values of the kept steps.
  void compute(const Match& match, absl::Span<const std::unique_ptr<LazyValues>> values) const;

  /// What an operand, or a requested tensor, refers to: the value or the step of this number.
  struct Use {
    std::uint32_t number;
    std::uint32_t result;
    bool is_value;
    bool is_first;  // first use of its value or step, as the steps are walked back
  };
  struct Step {
    const OpDef* op;
    Attributes attributes;
    std::vector<Function> regions;
    ResultTypes types;
    std::uint32_t handles = 0;  // to its lazy tensor, held by nodes of the graph
    bool is_kept = false;
    bool is_asked = false;
  };

  std::vector<TensorType> types_;    // of the values
  std::vector<Use> asked_;           // of each requested tensor
  std::vector<Use> operands_;        // of all steps, the last step first
  std::vector<Step> steps_;          // by id
  std::vector<std::uint32_t> kept_;  // steps, in the order of the results
  std::size_t results_ = 0;
  Executable executable_;
};

}  // namespace rondo::ir
