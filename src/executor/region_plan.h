// What is decided about a region before it is lowered: the order of its nodes, which of them are
// written inside the loops of their consumers, and how long values live.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/loop_nest.h"
#include "ir/node.h"
#include "ir/node_table.h"

namespace rondo::executor {

class Interchanges;

inline constexpr std::uint32_t kNoPlace = 0xffffffffu;
/// The last use of what the region returns; of what nobody uses the place where it is made.
inline constexpr std::uint32_t kAtEnd = 0xfffffffeu;

/// Threshold: An innermost axis of fewer elements leaves most of a vector empty, so loops over it
/// stay scalar. Not measured.
inline constexpr std::int64_t kLeastLanes = 8;

/// How a node becomes part of a program.
enum class Strategy : std::uint8_t {
  kConstant,
  kElement,              // its record's code: a value, or a loop nest
  kRead,                 // an index map into operand 0
  kGather,               // read where operand 1 says
  kWrite,                // put together from its operands
  kReduction,            // loops that combine
  kPrefixScan,           // loops that write what they have combined so far
  kCustomReduction,      // loops that combine by a region
  kScatter,              // loops that combine by a region where operand 1 says
  kUnrolledContraction,  // sums of few terms
  kContraction,          // loops that add up products
  kAlias,                // the bytes of its operand
  kForward,              // its results are its operands
  kLoop,                 // a construct whose flow repeats
  kBranch,               // one whose flow selects
  kLaneLoop,             // a loop whose lanes stop one by one
  kTapeRead,             // a row of a tape
  kTapeWrite,            // a tape with another row
  kKernel,
};

struct Step {
  const ir::Node* node;
  Strategy form;
  bool inlined = false;           // no code of its own: written where it is used
  bool joint = false;             // of form kWrite: all parts in the same loops
  std::uint32_t first_value = 0;  // the number of result 0; the others follow
};

/// True for types that are values, in registers: those of one element.
inline bool is_scalar(const TensorType& type) { return type.elements() == 1; }

class RegionPlan {
 public:
  /// `reorders`: as strategy_of has it.
  RegionPlan(const Function& region, const Interchanges& interchanges, bool reorders = false);

  const std::vector<Step>& steps() const { return steps_; }
  std::uint32_t values() const { return values_; }
  std::uint32_t value(const Tensor& tensor) const {
    return numbers_.get(tensor.node()).value + tensor.result();
  }
  /// The step at which a value is read for the last time (by itself, or in the loops of another).
  std::uint32_t last_use(std::uint32_t value) const { return last_use_[value]; }
  /// The values whose last use is step `at`.
  const std::uint32_t* ending_begin(std::uint32_t at) const {
    return ending_.data() + ending_first_[at];
  }
  const std::uint32_t* ending_end(std::uint32_t at) const {
    return ending_.data() + ending_first_[at + 1];
  }
  /// How many operands and results are the value.
  std::uint32_t uses(std::uint32_t value) const { return uses_[value]; }
  /// Nothing is done with a tape but reading its rows.
  bool is_only_read(std::uint32_t value) const { return only_read_[value]; }
  /// The step of a value's node; null for parameters.
  const Step* step_of(const Tensor& tensor) const {
    const std::uint32_t step = numbers_.get(tensor.node()).step_plus_one;
    return step == 0 ? nullptr : &steps_[step - 1];
  }

 private:
  void choose_inlined(const Function& region, const Interchanges& interchanges);
  void find_last_uses(const Function& region);

  std::vector<Step> steps_;
  struct Numbers {
    std::uint32_t value = 0;          // of result 0
    std::uint32_t step_plus_one = 0;  // 0 for parameters
  };
  ir::NodeTable<Numbers> numbers_;
  std::uint32_t values_ = 0;
  std::vector<std::uint32_t> uses_;
  std::vector<bool> only_read_;
  std::vector<std::uint32_t> last_use_;
  std::vector<std::uint32_t> ending_, ending_first_;
};

/// `reorders`: for nodes in a loop, where sums of products may be added up in another order
/// than their kernel's. Those that lanes could write are of form kUnrolledContraction then, whether
/// or not the loop has lanes, so that they have one order.
Strategy strategy_of(const ir::Node& node, bool reorders = false);
/// The products of a node that loops may add up, with the last axis of the result as their lanes.
std::optional<ir::Contraction> products_in_lanes(const ir::Node& node);
/// The index map of a step of form kRead.
ir::AccessMap read_map(const ir::Node& node);

}  // namespace rondo::executor
