// What makes random programs. The statements stand in program_ops.cc and program_loops.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "support/program.h"

namespace rondo::testing {

/// Random numbers that are the same everywhere, unlike those of the distributions in <random>.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();  // SplitMix64
  /// From low to high, both included.
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

class ProgramGenerator {
 public:
  ProgramGenerator(std::uint64_t seed, const ProgramSize& size) : dice_(seed), size_(size) {}

  using Types = std::vector<ValueType>;
  using Ids = std::vector<ValueId>;
  using Op = std::function<Tensor(std::span<const Tensor>)>;
  using Accept = std::function<bool(const ValueType&)>;

  /// A block whose results have the given types; without them it returns what it likes.
  Block block(const Types& params, const std::optional<Types>& results, int statements);
  std::size_t values() const { return types_.size(); }
  ValueType random_type();
  Dice& dice() { return dice_; }

 private:
  // Choosing values.
  ValueId new_value(const ValueType& type);
  const ValueType& type_of(ValueId id) const { return types_[id]; }
  Types types_of(const Ids& ids) const;
  std::optional<ValueId> pick(const Accept& accept);
  /// A value of this very type: one that is there, or a new constant.
  ValueId like(const ValueType& type);
  /// A scalar integer, s32 for preference.
  ValueId scalar_index();
  Ids random_carry();
  /// A value of the type that a loop or branch in scope has given.
  std::optional<ValueId> constructed(const ValueType& type) const;
  /// A value of the type that depends on what is in scope, if that can be.
  ValueId fresh(const ValueType& type);

  // Adding statements to the block being made.
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

  Dice dice_;
  ProgramSize size_;
  Types types_;
  Ids visible_;                    // from the outermost block to the one being made
  std::set<ValueId> constructed_;  // results of loops and branches
  Block* current_ = nullptr;       // the block being made
  int depth_ = 0;
};

}  // namespace rondo::testing
