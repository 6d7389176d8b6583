// A loop nest over the axes of one shape, with the code of values fused into one another's loops.
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
/// Row-major strides, in elements; of an array in which `last_axis` was moved to the end, if that
/// is an axis.
absl::InlinedVector<std::int64_t, 4> row_major(const Shape& shape, std::int64_t last_axis = -1);

/// offset + sum of coefficient * loop index over the axes + dynamic.
struct Linear {
  std::int64_t offset = 0;
  absl::InlinedVector<std::int64_t, 4> coefficients;  // of each axis of the nest
  absl::InlinedVector<std::pair<lower::Value, std::int64_t>, 1> dynamic;
  bool operator==(const Linear&) const = default;
};

/// Threshold: Loops over at least this many lanes poll between their blocks; around fewer, an outer
/// loop polls. Not measured; LimitsOnRows in bench/calls_bench.cc runs the latter.
inline constexpr std::int64_t kManyLanes = 1024;

/// Nested loops, the outermost first, poll if it would be long until a poll otherwise; `work` is
/// what a trip of the innermost does before anything in it polls. Returns the work of all of them.
std::int64_t let_poll(lower::Builder& builder, std::span<const std::uint32_t> loops,
                      std::int64_t work);

class Nest {
 public:
  Nest(lower::Builder& builder, const RegionPlan& plan, const std::vector<Place>& places,
       std::span<const std::int64_t> sizes)
      : builder_(builder), plan_(plan), places_(places), sizes_(sizes.begin(), sizes.end()) {}

  /// Index `first` + the loop index along each axis (0 without `first`).
  std::uint32_t index(std::span<const std::int64_t> first = {});
  /// Adds a value to the nest, at an index, and returns its number. `root`: it is computed here
  /// although it is not fused.
  std::uint32_t add(const Tensor& value, std::uint32_t index, bool root = false);
  /// Adds the products of a node's factors; the axes of the nest are those of its result, then the
  /// reduced ones.
  std::uint32_t add_products(const ir::Node& node, const ir::Contraction& products);
  /// Adds an array to a nest whose axes are those of the array, with `axis` moved to the end.
  std::uint32_t add_with_axis_last(const Tensor& array, std::int64_t axis);

  /// Whether memory is read.
  bool reads(std::int32_t storage) const;

  /// Where the elements of an item are stored already, adjacent in the order of `dense`. None for
  /// computed items, and for other layouts.
  struct Lying {
    std::int32_t storage;
    lower::Address at;
  };
  std::optional<Lying> lying(std::uint32_t item, const Linear& dense) const;

  /// Writes the loops; item `item` is stored at pointer + place, in bytes.
  void store(std::uint32_t item, lower::Value pointer, const Linear& place);
  /// The same for several items, whose places differ by their offsets alone.
  struct Sink {
    std::uint32_t item;
    Linear place;
  };
  void store(std::span<const Sink> sinks, lower::Value pointer);
  /// Whether memory is read, except for elements where the same trip stores some.
  bool reads_elsewhere(std::int32_t storage, std::span<const Sink> sinks) const;
  /// No loops: the value itself, if all sizes are 1.
  lower::Element single(std::uint32_t item);
  /// No loops: the values at an index, one after the other. Along axes of size 1 it is not read.
  lower::Element at(std::span<const std::uint32_t> items, std::span<const lower::Value> index);
  /// Opens lanes over all elements in row-major order, and gives their index; the values of all
  /// items are available there. Nothing, and nothing is written, if the items take more than one
  /// loop.
  std::optional<lower::Value> begin_lanes();
  /// Whether begin_lanes opens lanes.
  bool is_one_loop() const { return merged({}, nullptr).size() == 1; }
  const lower::Element& element(std::uint32_t item) const { return items_[item].element; }

  /// The values that a reduction combines, and where its results go.
  struct Combination {
    std::uint32_t item;
    const ir::Reduction& reduction;
    const std::vector<bool>& reduced;  // the reduced axes
    lower::Value init;
    lower::Type result_type;
    lower::Value pointer;  // of the result
    const Linear& place;   // in it, of the kept axes
    lower::Value* single;  // a result of one element is given instead of stored
  };
  /// Writes loops that combine an item. False, and nothing is written, if the order of partial
  /// results would differ from that of the array in row-major order, unless `in_any_order`, or if
  /// rows are short.
  bool reduce(const Combination& what, bool in_any_order);

  /// A long reduction, split into so many blocks: along a row (ir::Reduction::kBlock), or by rows.
  /// None for others, and where `reduce` would write nothing.
  struct Blocks {
    bool of_row;
    std::int64_t count;
  };
  std::optional<Blocks> blocks(const Combination& what, bool in_any_order) const;
  /// The same as `reduce`, with memory for the total of each block.
  void reduce_by_blocks(const Combination& what, const Blocks& blocks, lower::Value totals);

  /// Rows that no single loop covers, computed a strip at a time: the elements of an item in a
  /// strip, whole rounds of partial results. None if there are fewer, or the axes are in another
  /// order.
  struct Strip {
    std::int64_t rows, elements;
  };
  std::optional<Strip> strip(const Combination& what, bool in_any_order) const;
  /// The same as `reduce`, in the order of the array, with memory for a strip's elements and for
  /// the partial results.
  void reduce_by_strips(const Combination& what, const Strip& strip, lower::Value elements,
                        lower::Value partials);

  /// Writes loops that combine an item along an axis (a prefix scan), and store each total so far
  /// at pointer + place.
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
    bool operator==(const AxisIndex&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const AxisIndex& at) {
      return H::combine(std::move(h), at.axis, at.start, at.step, at.dynamic);
    }
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
    std::int64_t shift = 0;             // which is added to it
  };
  using Axes = std::vector<Axis>;

  struct Read {
    Tensor operand;
    std::uint32_t index;
    bool as_factor = false;  // for products: where it is packed, if it is
  };
  /// The number of an index, which values that are read at the same one share.
  std::uint32_t number_of(Index index);
  std::uint32_t new_item(const Read& read, bool root);
  /// The element, for a lane, of a value in registers.
  lower::Element held_element(const Place& place, const Read& read);
  std::uint32_t enter_all(const Read& read, bool root);
  Linear linear(const Index& index, const Shape& shape, std::int64_t width,
                std::int64_t last_axis = -1) const;
  /// The index at which an operand is read; `vanished` along axes that the index lacks.
  std::uint32_t read_index(const ir::Node& node, const ir::AccessMap& map, std::uint32_t index,
                           std::span<const std::int64_t> vanished = {});
  /// The part of a concatenation in which a fused read at an index is; nothing for what its fill
  /// covers, and for other nodes.
  std::optional<ir::Part> part_at(const ir::Node& node, std::uint32_t index) const;
  /// What an item needs.
  std::vector<Read> reads_of(const Item& item);
  lower::Value combined(const Item& item);
  lower::Address gathered(const Item& item, const Axes& axes);
  Axes merged(const std::vector<bool>& reduced, const Linear* sink) const;
  void write_items(const Axes& axes, const std::vector<bool>& known = {});
  /// The items that are the same at all indices of an axis.
  std::vector<bool> items_beside(const Axis& axis) const;
  /// Loops that were written from op `first` on and store elements that stay what they were unless
  /// masks along the axes hold: they run over the part where these do.
  void run_where_masks_hold(std::size_t first, const Axes& axes,
                            std::span<const std::uint32_t> fors);
  void narrow_lanes(std::span<lower::Op> loops, const Axis& axis,
                    std::pair<lower::Value, lower::Value> part);
  /// Whether combining rows one by one with partial results gives the bits that the array in
  /// row-major order gives, or may give others.
  static bool keeps_order(const Axes& axes, bool in_any_order);
  struct ReductionLoops;
  /// The last axis is combined by partial results, or all reduced axes element by element.
  void reduce_in_loops(const Combination& what, Axes& axes, bool partials);
  lower::Value axis_index(const Item& item, std::int64_t axis, const Axes& axes);
  lower::Address address(lower::Value pointer, const Linear& place, const Axes& axes) const;

  lower::Builder& builder_;
  const RegionPlan& plan_;
  const std::vector<Place>& places_;
  absl::InlinedVector<std::int64_t, 4> sizes_;
  std::vector<Index> indices_;
  absl::flat_hash_map<Index, std::uint32_t> numbers_;  // of indices_
  std::vector<Item> items_;
  std::vector<std::uint32_t> operands_;
  std::vector<std::uint32_t> order_;  // of items, operands first
  absl::flat_hash_map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

}  // namespace rondo::executor
