// Range analysis: the ranges of all integers of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "lower/passes/range.h"
#include "lower/program.h"

namespace rondo::lower {

/// Follows values through arithmetic, loops and branches. A loop's carry has a range that contains
/// its initial value and the result of each trip; a predicate refines the ranges of the values that
/// it compares where it is true, but not in lanes: lanes that have left a loop still compute.
class Ranges {
 public:
  explicit Ranges(const Program& program);

  /// Calls visit(position) for each op of the program, in order, before its result is known; `of`
  /// then gives what is known at that op.
  void walk(absl::FunctionRef<void(std::size_t)> visit);
  /// Computes the ranges of the ops in [begin, end) again, which are before the current op: as if
  /// the branches that they are in were always taken.
  void forget_branches(std::size_t begin, std::size_t end);
  /// The range of a value at the current op.
  Range of(Value value) const { return evaluate(value, 0); }

 private:
  /// An enclosing loop or branch.
  struct Open {
    std::size_t known;             // refined_ when it began
    std::vector<Range> then = {};  // for a branch
  };
  struct Refined {
    Value value;
    Range before;
  };
  using Visit = absl::FunctionRef<void(std::size_t)>;

  void walk(std::size_t begin, std::size_t end, const Visit* visit);
  void step(std::size_t at, bool settles);
  void define(const Op& op);
  Range counted(const Op& op) const;
  Range evaluate(Value value, int depth) const;
  Range chosen(const Op& select, int depth) const;

  void begin_loop(std::size_t at, bool settles);
  void settle(std::size_t at, const std::vector<Carry>& carries);
  std::vector<Range> first_guess(std::size_t at, const std::vector<Carry>& carries,
                                 const std::vector<Range>& init) const;
  std::vector<Range> after_trip(std::size_t at, const std::vector<Carry>& carries,
                                const std::vector<Range>& params);
  void end_loop(const std::vector<Carry>& carries, Value predicate);
  void branch(const Op& op);

  /// From here to the end of the loop or branch.
  void assume(Value predicate, bool holds, int depth = 0);
  void narrow(Value value, const Range& range);
  void forget(std::size_t known);
  /// For `value` where the predicate is true, or where it is false.
  Range where(Value value, Value predicate, bool holds, int depth) const;

  const std::vector<Carry>& carries_of(const Op& op) const;

  const Program& program_;
  std::vector<Range> ranges_;      // of each value
  std::vector<const Op*> maker_;   // the op that defines a value, if one does
  std::vector<std::size_t> ends_;  // where the loop that begins at an op ends
  struct Limits {
    Value first, limit;
  };
  absl::flat_hash_map<Value, Limits> counters_;  // of loops that know their limits, by index
  absl::flat_hash_map<std::size_t, std::vector<Range>> settled_;  // params of the loop at a
                                                                  // position
  std::vector<Open> open_;
  std::vector<Refined> refined_;
  std::size_t steps_left_;
  bool in_lanes_ = false;
};

}  // namespace rondo::lower
