// The layouts of values in a loop that is interchanged with its lanes, and the layouts of results
// of ops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

/// Lanes that are loops over the axes of a shape, so that a lane knows its index along each. The
/// last one of more than one element is vectorized; of the one before it, a lane has `rows`
/// neighbors (register tiling).
struct LaneNest {
  Shape shape = {};  // empty: the lanes are one loop
  std::int64_t rows = 1;

  bool empty() const { return shape.empty(); }
  /// The axis of the neighbors.
  std::size_t axis_of_rows() const;
  /// Whether the last axes of an array are those of the lanes.
  bool ends(const Shape& array) const;
  /// Whether it has an element for each index of the lanes, and no others.
  bool is_shape_of(const Shape& array) const {
    return ends(array) && array.elements() == shape.elements();
  }
};

struct LaneValue {
  enum class Kind : std::uint8_t {
    kInvariant,  // loop-invariant buffer: an array in memory, as it was before the loop
    kView,       // a part of one, or little arithmetic on parts: read where it is used (fused)
    kUniform,    // few elements, the same for all lanes: in registers
    kLane,       // few elements for each lane: in registers
    kCarried,    // loop-carried buffer: an array in memory; each lane reads and writes its part
    kTape,       // a tape of the run, with a single lane
  } kind = Kind::kInvariant;
  /// The axis of the lanes. None for a kLane with a single lane: all its elements, in row-major
  /// order, belong to that lane; and where the lanes are along all axes (LaneNest).
  std::int64_t axis = -1;
  bool operator==(const LaneValue&) const = default;
};

/// Whether a value is in memory and changes state from trip to trip.
inline bool has_states(const LaneValue& value) {
  return value.kind == LaneValue::Kind::kCarried || value.kind == LaneValue::Kind::kTape;
}
/// Whether some operand is an array that is updated in memory, or a tape.
inline bool updates_any(std::span<const LaneValue> operands) {
  return std::any_of(operands.begin(), operands.end(), has_states);
}

/// Threshold: Elements of a value for one lane. Beyond the registers they are on the stack, which
/// is nearer than arrays of all lanes; the code for each of them bounds their number. Set by
/// ScanOfCholeskySolves and ScanOfLuSolves in bench/small_matrices_bench.cc: with 36 elements 64
/// lanes take a third of the time that they take with a limit of 16.
inline constexpr std::int64_t kMostLaneElements = 64;
/// Threshold: Elements of a uniform value: each takes a register, more would spill and the loop is
/// not interchanged. Not measured.
inline constexpr std::int64_t kMostUniformElements = 16;
/// Whether a loop could have lanes, each of which has few elements of the type; or a single lane,
/// for which all of them are few.
bool fits_in_lanes(const TensorType& type);
/// Threshold: With one lane, a value in registers that is indexed at run time costs a select for
/// each element; larger ones stay in memory. Not measured.
inline constexpr std::int64_t kMostMovingElements = 4;

/// Calls `f` with each index into the shape with index 0 along `axis`, in row-major order. Not at
/// all if a lane has no elements.
void for_each_of_lane(const Shape& shape, std::int64_t axis,
                      absl::FunctionRef<void(std::span<const std::int64_t> index)> f);
/// The same for the elements that the part takes.
void for_each_in_part(const ir::Part& part, std::int64_t axis,
                      absl::FunctionRef<void(std::span<const std::int64_t> index)> f);
/// The position of an index in that order.
std::int64_t number_in_lane(const Shape& shape, std::int64_t axis,
                            std::span<const std::int64_t> index);
/// Whether the position of the part is known only at run time.
bool moves(const ir::Part& part);
/// Whether the part covers the whole axis `axis` of a result, element i at i.
bool covers(const ir::Part& part, std::int64_t axis, std::int64_t size);

/// Whether it covers the last axes of a result, which are those of the lanes.
bool covers_lanes(const ir::Part& part, const LaneNest& nest);

/// With a single lane no value differs by lane: values of few elements are uniform, in registers,
/// and an array that is updated may be read at any index.
class LaneRules {
 public:
  /// `reorders`: sums of products may be added in an order other than the kernels'.
  LaneRules(std::int64_t lanes, bool reorders, LaneNest nest = {})
      : lanes_(lanes), reorders_(reorders), nest_(std::move(nest)) {}

  std::int64_t lanes() const { return lanes_; }
  const LaneNest& nest() const { return nest_; }

  /// The layout of an array of which only the type is known: kLane if an axis has the size of the
  /// lanes, else kUniform; nothing if it has too many elements.
  std::optional<LaneValue> of_type(const TensorType& type) const;
  /// The number of elements in registers, for each lane.
  std::int64_t count(const TensorType& type, const LaneValue& value) const {
    return value.kind == LaneValue::Kind::kLane ? type.elements() / lanes_ : type.elements();
  }
  /// The layout of a value in registers; for an array in memory the one that its type gives.
  /// Nothing for arrays that are updated in memory, and for tapes.
  std::optional<LaneValue> in_registers(const TensorType& type, const LaneValue& value) const;
  /// The layout of the result of a node without regions. Nothing if it is not computed, in each
  /// lane, from values of that lane and values that are the same for all.
  std::optional<LaneValue> result(const ir::Node& node, std::span<const LaneValue> operands) const;

 private:
  using Operands = std::span<const LaneValue>;
  std::optional<LaneValue> elementwise(const ir::Node& node, Operands operands) const;
  std::optional<LaneValue> alias(const ir::Node& node, const LaneValue& operand) const;
  std::optional<LaneValue> gather(const ir::Node& node, Operands operands) const;
  std::optional<LaneValue> terms(const ir::Node& node, Operands operands, std::int64_t most) const;
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
  std::optional<LaneValue> mapped_in_nest(const TensorType& result,
                                          std::span<const MappedOperand> operands) const;
  bool is_view(const ir::Node& node, Operands operands) const;
  /// The axis of the result that the lane axis of an operand maps to.
  std::optional<std::int64_t> axis_through(const ir::AccessMap& map, std::int64_t axis,
                                           const Shape& result) const;

  std::int64_t lanes_;
  bool reorders_;
  LaneNest nest_;
};

}  // namespace rondo::executor
