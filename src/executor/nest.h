// A loop nest: the code of values that are written in one another's loops, over the axes of one
// shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/place.h"
#include "executor/region_plan.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

/// An s64 that is `start`, an integer of any type, clamped to [0, room].
lower::Value clamped_start(lower::Builder& builder, lower::Value start, std::int64_t room);
/// Row-major strides, in elements; of an array in which `last_axis` was moved behind the others,
/// where that is an axis.
absl::InlinedVector<std::int64_t, 4> row_major(const Shape& shape, std::int64_t last_axis = -1);

/// offset + sum of coefficient * loop index over the axes + dynamic.
struct Linear {
  std::int64_t offset = 0;
  absl::InlinedVector<std::int64_t, 4> coefficients;  // of each axis of the nest
  absl::InlinedVector<std::pair<lower::Value, std::int64_t>, 1> dynamic;
  bool operator==(const Linear&) const = default;
};

/// Loops that stand in one another, the outermost first, poll where it would be long until then;
/// `work` is what a trip of the innermost does before anything in it polls. Returns what all of
/// them do.
std::int64_t let_poll(lower::Builder& builder, std::span<const std::uint32_t> loops,
                      std::int64_t work);

class Nest {
 public:
  Nest(lower::Builder& builder, const RegionPlan& plan, const std::vector<Place>& places,
       std::span<const std::int64_t> sizes)
      : builder_(builder), plan_(plan), places_(places), sizes_(sizes.begin(), sizes.end()) {}

  /// Index `first` + the loop index along each axis (0 without `first`).
  std::uint32_t index(std::span<const std::int64_t> first = {});
  /// Takes a value into the nest, at an index. `root`: it is computed here although it is not
  /// in line. Gives its number.
  std::uint32_t add(const Tensor& value, std::uint32_t index, bool root = false);
  /// The products of a node's factors, where the axes of the nest are those of its result, then
  /// those that vanish.
  std::uint32_t add_products(const ir::Node& node, const ir::Contraction& products);
  /// Takes an array into the nest whose axes are its own with `axis` as the last one.
  std::uint32_t add_with_axis_last(const Tensor& array, std::int64_t axis);

  /// Whether memory is read, but for elements at `place`.
  bool reads_elsewhere(std::int32_t storage, const Linear& place) const;
  /// Whether it is read at all.
  bool reads(std::int32_t storage) const;

  /// Where the elements of an item lie in memory already, side by side in the order of `dense`.
  /// None for what is computed, or lies otherwise.
  struct Lying {
    std::int32_t storage;
    lower::Address at;
  };
  std::optional<Lying> lying(std::uint32_t item, const Linear& dense) const;

  /// Writes the loops; item `item` is stored at pointer + place, in bytes.
  void store(std::uint32_t item, lower::Value pointer, const Linear& place);
  /// The same of several items, whose places differ by their offsets alone.
  struct Sink {
    std::uint32_t item;
    Linear place;
  };
  void store(std::span<const Sink> sinks, lower::Value pointer);
  /// No loops: the value itself, where all sizes are 1.
  lower::Element single(std::uint32_t item);
  /// No loops: the values at index `lane` of the only axis that is not of size 1, one after the
  /// other.
  lower::Element in_lane(std::span<const std::uint32_t> items, lower::Value lane);
  /// Opens lanes over all elements in row-major order, whose index it gives; the values of all
  /// items can be had there. Nothing, and nothing is written, where the items take more than one
  /// loop.
  std::optional<lower::Value> begin_lanes();
  /// Whether begin_lanes opens lanes.
  bool is_one_loop() const { return merged({}, nullptr).size() == 1; }
  const lower::Element& element(std::uint32_t item) const { return items_[item].element; }

  /// What loops combine, and where to.
  struct Combination {
    std::uint32_t item;
    const ir::Reduction& reduction;
    const std::vector<bool>& reduced;  // the axes that vanish
    lower::Value init;
    lower::Type result_type;
    lower::Value pointer;  // of the result
    const Linear& place;   // in it, of the axes that stay
    lower::Value* single;  // a result of one element is given instead of stored
  };
  /// Writes loops that combine an item. False, and nothing is written, where the order of partial
  /// results would be another than that of the array in row-major order, unless `in_any_order`, or
  /// rows are short.
  bool reduce(const Combination& what, bool in_any_order);

  /// A long reduction, cut into so many blocks: along a row (ir::Reduction::kBlock), or its
  /// rows. None for others, and where `reduce` would write nothing.
  struct Blocks {
    bool of_row;
    std::int64_t count;
  };
  std::optional<Blocks> blocks(const Combination& what, bool in_any_order) const;
  /// The same as `reduce`, with memory for what each block comes to.
  void reduce_by_blocks(const Combination& what, const Blocks& blocks, lower::Value totals);

  /// Rows that no one loop goes through, some of which are computed at a time: elements of the
  /// item, whole rounds of partial results. None where there are fewer, or axes lie otherwise.
  struct Strip {
    std::int64_t rows, elements;
  };
  std::optional<Strip> strip(const Combination& what, bool in_any_order) const;
  /// The same as `reduce`, in the order of the array, with memory for a strip's elements and for
  /// the partial results.
  void reduce_by_strips(const Combination& what, const Strip& strip, lower::Value elements,
                        lower::Value partials);

  /// Writes loops that combine an item along an axis, and store each total so far at pointer +
  /// place.
  void accumulate(std::uint32_t item, const ir::PrefixScan& running, lower::Type result_type,
                  lower::Value pointer, const Linear& place);

  Linear dense(const Shape& shape, std::int64_t width) const;

 private:
  /// Along one axis of a value: start + step * loop index of an axis of the nest + dynamic.
  struct AxisIndex {
    std::int64_t axis = -1;
    std::int64_t start = 0;
    std::int64_t step = 0;
    lower::Value dynamic = lower::kNone;
  };
  using Index = absl::InlinedVector<AxisIndex, 4>;
  struct Item {
    enum class Kind : std::uint8_t {
      kValue,
      kLoad,
      kCode,
      kForward,
      kGather,
      kTerms,
      kProduct,
    } kind = Kind::kValue;
    const ir::Node* node = nullptr;
    std::uint32_t index = 0;
    std::uint32_t first_operand = 0, operands = 0;  // in operands_
    std::int32_t storage = -1;
    lower::Value pointer = lower::kNone;
    Linear place;  // of a load or gather, in bytes
    DType dtype = DType::kF32;
    lower::Type computed = lower::Type::kF32;  // of a product
    lower::Element element;
  };
  struct Axis {
    std::int64_t size = 0;
    std::size_t last = 0;  // the axis of the nest whose coefficients it has
    bool reduced = false;
    lower::Value index = lower::kNone;  // while its loop is open
  };
  using Axes = std::vector<Axis>;

  struct Read {
    Tensor operand;
    std::uint32_t index;
    bool as_factor = false;  // of products: where it is packed, if it is
  };
  std::uint32_t new_item(const Read& read, bool root);
  /// The element of what stands in registers for a lane.
  lower::Element held_element(const Place& place, const Read& read);
  std::uint32_t enter_all(const Read& read, bool root);
  Linear linear(const Index& index, const Shape& shape, std::int64_t width,
                std::int64_t last_axis = -1) const;
  /// The index at which an operand is read; `vanished` along axes that the index has not.
  std::uint32_t read_index(const ir::Node& node, const ir::AccessMap& map, std::uint32_t index,
                           std::span<const std::int64_t> vanished = {});
  /// What an item needs.
  std::vector<Read> reads_of(const Item& item);
  lower::Value combined(const Item& item);
  lower::Address gathered(const Item& item, const Axes& axes);
  Axes merged(const std::vector<bool>& reduced, const Linear* sink) const;
  void write_items(const Axes& axes);
  /// Whether rows that are combined one by one by partial results give what the array in row-major
  /// order gives, or may give something else.
  static bool keeps_order(const Axes& axes, bool in_any_order);
  struct ReductionLoops;
  /// The last axis is combined by partial results, or all that vanish element by element.
  void reduce_in_loops(const Combination& what, Axes& axes, bool partials);
  lower::Value axis_index(const Item& item, std::int64_t axis, const Axes& axes);
  lower::Address address(lower::Value pointer, const Linear& place, const Axes& axes) const;

  lower::Builder& builder_;
  const RegionPlan& plan_;
  const std::vector<Place>& places_;
  absl::InlinedVector<std::int64_t, 4> sizes_;
  std::vector<Index> indices_;
  std::vector<Item> items_;
  std::vector<std::uint32_t> operands_;
  std::vector<std::uint32_t> order_;  // of items, operands first
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace rondo::executor
