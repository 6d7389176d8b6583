// Decisions about a region before it is lowered: the order of its nodes, which of them are fused
// into the loops of their consumers, and how long values are alive.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/loop_nest.h"
#include "ir/node.h"
#include "ir/node_table.h"

namespace rondo::executor {

class Interchanges;

inline constexpr std::uint32_t kNoPlace = 0xffffffffu;
/// The last use of results of the region; unused values have the position of their definition.
inline constexpr std::uint32_t kAtEnd = 0xfffffffeu;

/// Threshold: An innermost axis of fewer elements leaves most of a vector empty, so loops over it
/// stay scalar. Not measured.
inline constexpr std::int64_t kLeastLanes = 8;

/// The lowering strategy of a node.
enum class Strategy : std::uint8_t {
  kConstant,
  kElement,              // element code of its record: a value, or a loop nest
  kRead,                 // an index map into operand 0
  kGather,               // a gather: read at the indices in operand 1
  kWrite,                // concatenated from its operands
  kReduction,            // a reduction
  kPrefixScan,           // a prefix scan
  kCustomReduction,      // a reduction by a region
  kScatter,              // a scatter: combines by a region, at the indices in operand 1
  kUnrolledContraction,  // an unrolled contraction
  kContraction,          // a contraction in loops
  kAlias,                // a bitcast of its operand
  kForward,              // its results alias its operands
  kLoop,                 // a construct whose flow repeats
  kBranch,               // one whose flow selects
  kLaneLoop,             // a loop whose lanes stop one by one
  kTapeRead,             // reads a row of a tape
  kTapeWrite,            // writes a row of a tape
  kKernel,
};

struct Step {
  const ir::Node* node;
  Strategy form;
  bool inlined = false;           // fused: written where it is used
  bool joint = false;             // of strategy kWrite: all parts in the same loops
  std::uint32_t first_value = 0;  // the number of result 0; the others follow
};

/// True for types that are values, in registers: those of one element.
inline bool is_scalar(const TensorType& type) { return type.elements() == 1; }

/// Threshold: A concatenation of up to this many equal parts may be one loop, which shares what the
/// parts read but needs registers for each. Not measured.
inline constexpr std::size_t kMostParts = 16;

/// A part of a loop nest: its first index and its size along each axis.
struct Box {
  absl::InlinedVector<std::int64_t, 4> first, sizes;
};

class RegionPlan {
 public:
  /// `reorders`: as in strategy_of(). `repeats`: results of the region are its parameters in the
  /// next trip.
  RegionPlan(const Function& region, const Interchanges& interchanges, bool reorders, bool repeats);

  const std::vector<Step>& steps() const { return steps_; }
  std::uint32_t values() const { return values_; }
  std::uint32_t value(const Tensor& tensor) const {
    return numbers_.get(tensor.node()).value + tensor.result();
  }
  /// The step with the last use of a value (by the step, or in the loops of a fused consumer).
  std::uint32_t last_use(std::uint32_t value) const { return last_use_[value]; }
  /// The values whose last use is step `at`.
  const std::uint32_t* ending_begin(std::uint32_t at) const {
    return ending_.data() + ending_first_[at];
  }
  const std::uint32_t* ending_end(std::uint32_t at) const {
    return ending_.data() + ending_first_[at + 1];
  }
  /// How many operands and results use the value.
  std::uint32_t uses(std::uint32_t value) const { return uses_[value]; }
  /// Whether all uses of a tape read its rows.
  bool is_only_read(std::uint32_t value) const { return only_read_[value]; }
  /// The boxes of a nest of these sizes, from index `first` of the value on, in each of which every
  /// concatenation that is fused into it reads one part. `root`: the value is computed by the nest
  /// although it is not fused.
  std::vector<Box> boxes(const Tensor& value, bool root, std::span<const std::int64_t> first,
                         std::span<const std::int64_t> sizes) const;
  /// The step of a value's node; null for parameters.
  const Step* step_of(const Tensor& tensor) const {
    const std::uint32_t step = numbers_.get(tensor.node()).step_plus_one;
    return step == 0 ? nullptr : &steps_[step - 1];
  }

 private:
  void choose_inlined(const Function& region, const Interchanges& interchanges);
  void find_last_uses(const Function& region);
  struct Overwriting {
    std::uint32_t step;
    Tensor array;
    bool by_element;  // computed element by element from the old state
  };
  std::vector<Overwriting> overwriting_steps(const Function& region, bool repeats) const;
  bool keep_old_parts(const Function& region, bool repeats);
  static constexpr std::uint32_t kManySteps = kAtEnd;
  std::vector<std::uint32_t> reading_steps(const Function& region) const;
  bool computes_parts(const Step& step) const;
  void fuse_pieces(const Function& region);

  std::vector<Step> steps_;
  struct Numbers {
    std::uint32_t value = 0;          // of result 0
    std::uint32_t step_plus_one = 0;  // 0 for parameters
  };
  ir::NodeTable<Numbers> numbers_;
  std::uint32_t values_ = 0;
  std::vector<std::uint32_t> uses_;
  std::vector<bool> only_read_;
  bool has_fused_pieces_ = false;  // concatenations that are fused
  std::vector<std::uint32_t> last_use_;
  std::vector<std::uint32_t> ending_, ending_first_;
};

/// `reorders`: for nodes in a loop, where sums of products may be added in an order other than
/// their kernel's. Those that loops over lanes could compute have strategy kUnrolledContraction
/// then, whether or not the loop has lanes, so that there is one order.
Strategy strategy_of(const ir::Node& node, bool reorders = false);
/// The products of a node that loops may compute, vectorized along the last axis of the result.
std::optional<ir::Contraction> products_in_lanes(const ir::Node& node);
/// Whether a node of strategy kAlias is a reshape that only adds or removes axes of one element.
bool regroups_nothing(const ir::Node& node);
/// The index map of a node of strategy kRead, or of such a reshape.
ir::AccessMap read_map(const ir::Node& node);

}  // namespace rondo::executor
