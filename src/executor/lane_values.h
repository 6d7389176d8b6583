// What values are in a loop that is interchanged with its lanes, and what ops make of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

struct LaneValue {
  enum class Kind : std::uint8_t {
    kInvariant,  // an array in memory, as it was before the loop
    kUniform,    // few elements, the same for all lanes: in registers
    kLane,       // few elements for each lane: in registers
    kCarried,  // an array in memory that the loop carries; each lane reads and writes its own part
    kTape,     // a tape of the run's, where there is but one lane
  } kind = Kind::kInvariant;
  /// The axis along which the lanes go. None of a kLane: it has one element for each lane, which
  /// are all its elements in row-major order.
  std::int64_t axis = -1;
  bool operator==(const LaneValue&) const = default;
};

/// Whether a value is in memory and takes several states in turn.
inline bool has_states(const LaneValue& value) {
  return value.kind == LaneValue::Kind::kCarried || value.kind == LaneValue::Kind::kTape;
}
/// Whether some operand is an array that is updated in memory, or a tape.
inline bool updates_any(std::span<const LaneValue> operands) {
  return std::any_of(operands.begin(), operands.end(), has_states);
}

/// Threshold: Elements of a value for one lane, or of a uniform value: each takes a register, more
/// would spill and the loop is not interchanged. Not measured.
inline constexpr std::int64_t kMostLaneElements = 16;
/// Whether a loop could have lanes, each of which has few elements of the type; or one, for which
/// all of them are few.
bool fits_in_lanes(const TensorType& type);
/// Threshold: With one lane, a value in registers that is indexed at run time costs a select for
/// each element; larger ones stay in memory. Not measured.
inline constexpr std::int64_t kMostMovingElements = 4;

/// Calls `f` with each index into the shape where `axis` has index 0, in row-major order. Never
/// where a lane has no elements.
void for_each_of_lane(const Shape& shape, std::int64_t axis,
                      absl::FunctionRef<void(std::span<const std::int64_t> index)> f);
/// With each index into the elements that the part takes, where `axis` has index 0.
void for_each_in_part(const ir::Part& part, std::int64_t axis,
                      absl::FunctionRef<void(std::span<const std::int64_t> index)> f);
/// The number of an index in that order.
std::int64_t number_in_lane(const Shape& shape, std::int64_t axis,
                            std::span<const std::int64_t> index);
/// Whether it is known in the run only where the part goes.
bool moves(const ir::Part& part);
/// Whether the part covers the whole axis `axis` of a result, element i at i.
bool covers(const ir::Part& part, std::int64_t axis, std::int64_t size);

/// With one lane no value differs by lane: what has few elements is uniform, in registers, and an
/// array that is updated may be read at any place.
class LaneRules {
 public:
  /// `reorders`: sums of products may be added up in another order than the kernels'.
  LaneRules(std::int64_t lanes, bool reorders) : lanes_(lanes), reorders_(reorders) {}

  std::int64_t lanes() const { return lanes_; }

  /// What an array is of which only the type is known: kLane where an axis has the size of the
  /// lanes, else kUniform; nothing where it has too many elements.
  std::optional<LaneValue> of_type(const TensorType& type) const;
  /// The elements that stand in registers, for each lane.
  std::int64_t count(const TensorType& type, const LaneValue& value) const {
    return value.kind == LaneValue::Kind::kLane ? type.elements() / lanes_ : type.elements();
  }
  /// What a value is in registers: an array in memory as its type tells. Nothing for what is
  /// updated in memory, and for tapes.
  std::optional<LaneValue> in_registers(const TensorType& type, const LaneValue& value) const;
  /// The result of a node without regions. Nothing where it is not made in each lane of what that
  /// lane has and of what is the same for all.
  std::optional<LaneValue> result(const ir::Node& node, std::span<const LaneValue> operands) const;

 private:
  using Operands = std::span<const LaneValue>;
  std::optional<LaneValue> elementwise(const ir::Node& node, Operands operands) const;
  std::optional<LaneValue> alias(const ir::Node& node, const LaneValue& operand) const;
  std::optional<LaneValue> gather(const ir::Node& node, Operands operands) const;
  std::optional<LaneValue> terms(const ir::Node& node, Operands operands) const;
  std::optional<LaneValue> write(const ir::Node& node, Operands operands) const;
  std::optional<LaneValue> update(const ir::Node& node, const ir::InsertionMap& map,
                                  Operands operands) const;

  /// A result that is read from operands by index maps.
  struct MappedOperand {
    const LaneValue* value;
    const TensorType* type;
    const ir::AccessMap* map;
  };
  std::optional<LaneValue> mapped(const TensorType& result,
                                  std::span<const MappedOperand> operands) const;
  std::optional<LaneValue> mapped_in_one_lane(const TensorType& result,
                                              std::span<const MappedOperand> operands) const;
  /// The axis of the result along which the lanes of an operand go.
  std::optional<std::int64_t> axis_through(const ir::AccessMap& map, std::int64_t axis,
                                           const Shape& result) const;

  std::int64_t lanes_;
  bool reorders_;
};

}  // namespace rondo::executor
