// The generator of random programs. The statements are in program_ops.cc, program_loops.cc,
// program_dangers.cc and program_lanes.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "support/program.h"

namespace rondo::testing {

/// Random numbers that are the same everywhere, unlike those of the distributions in <random>.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();  // SplitMix64
  /// From low to high, inclusive.
  std::int64_t number(std::int64_t low, std::int64_t high);
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(
        number(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }

 private:
  std::uint64_t state_;
};

/// A literal of random values of a kind.
Literal random_literal(Dice& dice, const ValueType& type);

using Leaves = std::vector<Tensor>;

inline const ValueType kScalarS32{s32(), Kind::kInteger};

/// For loops that executors are most likely to get wrong.
inline constexpr int kMostTrips = 6;
/// A number of trips from arbitrary integers.
Tensor trips_of(const Tensor& integers);

inline std::shared_ptr<const Block> shared(Block block) {
  return std::make_shared<const Block>(std::move(block));
}

inline Leaves joined(std::span<const Tensor> first, std::span<const Tensor> second) {
  Leaves all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

/// The type of one slice of `type` along an axis.
inline ValueType without_axis(const ValueType& type, std::int64_t axis) {
  std::vector<std::int64_t> dims = type.type.shape.vector();
  dims.erase(dims.begin() + axis);
  return {{type.type.dtype, dims}, type.kind};
}

class ProgramGenerator {
 public:
  ProgramGenerator(std::uint64_t seed, const ProgramSize& size);

  using Types = std::vector<ValueType>;
  using Ids = std::vector<ValueId>;
  using Op = std::function<Tensor(std::span<const Tensor>)>;
  using Accept = std::function<bool(const ValueType&)>;

  /// A block whose results have the given types; without them it returns any.
  Block block(const Types& params, const std::optional<Types>& results, int statements);
  std::size_t values() const { return types_.size(); }
  ValueType random_type();
  /// For a value that is stacked `length` times.
  ValueType random_row(std::int64_t length);
  Dice& dice() { return dice_; }

 private:
  // Selecting values.
  ValueId new_value(const ValueType& type);
  const ValueType& type_of(ValueId id) const { return types_[id]; }
  Types types_of(const Ids& ids) const;
  std::optional<ValueId> pick(const Accept& accept);
  /// A value of this exact type: an existing one, or a new constant.
  ValueId like(const ValueType& type);
  /// A scalar integer, preferably s32.
  ValueId scalar_index();
  Ids random_carry();
  /// A value of the type that a loop or branch in scope has returned.
  std::optional<ValueId> constructed(const ValueType& type) const;
  /// A value of the type that depends on values in scope, if possible.
  ValueId fresh(const ValueType& type);

  // Adding statements to the current block.
  Ids add(Ids operands, const Types& results,
          std::function<std::vector<Tensor>(std::span<const Tensor>, Environment&)> action);
  /// An op of one result, whose shape and dtype are found by tracing it.
  ValueId add_op(Ids operands, Kind kind, Op op);
  ValueId add_constant(const ValueType& type);

  // One random statement. False if nothing in scope suits it.
  void random_statement();
  bool arithmetic();
  bool integer_arithmetic(ValueId x);
  bool whole_arithmetic(ValueId x);
  bool unit_arithmetic(ValueId x);
  bool pred_arithmetic(ValueId x);
  bool comparison();
  bool choice();
  bool conversion();
  bool reshaping();
  bool slicing();
  bool indexing();
  bool reduction();
  bool running_total();
  bool ordering();
  bool product();
  bool creation();
  bool random_bits();
  bool scattering();

  bool construct();
  bool while_statement();
  bool while_scan_statement();
  bool fori_statement();
  bool scan_statement();
  bool cond_statement();
  bool switch_statement();
  bool map_statement();
  bool associative_scan_statement();

  /// For loops of unknown length inside others, and in lanes: a tape needs a known length there.
  Checkpoint tape_free() const {
    return size_.checkpoint == Checkpoint::tape() ? Checkpoint() : size_.checkpoint;
  }
  Checkpoint checkpoint_without_length() const {
    return depth_ > 1 ? tape_free() : size_.checkpoint;
  }

  bool danger();
  bool permuted_carries();
  bool sliced_carries();
  bool neighbors_of_carries();
  bool stopping_lanes();
  bool rows_in_lanes();
  bool any_lanes();
  bool moving_windows();
  bool masked_parts();
  bool conversions();
  /// The carry after a trip; the index is an s32 scalar.
  using Step = std::function<Leaves(const Tensor& index, const Leaves& carry, Environment&)>;
  /// A loop of up to six trips, of any kind.
  void add_loop(const Ids& carry, const Step& step);
  /// A value with trip counts for each of `long_` lanes.
  ValueId limits_of_lanes();
  /// A block that consists of elementwise ops, on values of one shape and scalars, and loops of
  /// them.
  Block elementwise_block(const Shape& shape, const Types& params, const Types& results);

  Dice dice_;
  ProgramSize size_;
  Types types_;
  Ids visible_;                    // from the outermost block to the current one
  std::set<ValueId> constructed_;  // results of loops and branches
  Block* current_ = nullptr;       // the block being made
  int depth_ = 0;
  std::vector<Shape> shapes_;
  std::int64_t long_ = 0;             // with dangers, the length of most arrays
  std::int64_t most_elements_;        // of a value
  std::optional<Shape> elementwise_;  // the shape of a block that is elementwise
};

}  // namespace rondo::testing
