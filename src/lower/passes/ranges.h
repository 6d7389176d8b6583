// The ranges of all integers of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "lower/passes/range.h"
#include "lower/program.h"

namespace rondo::lower {

/// Follows values through arithmetic, loops and branches. What a loop carries is in a range that
/// holds what it begins with and what each trip hands on; what a predicate says of what it compares
/// holds where it holds, but not in lanes: those that have left a loop still compute.
class Ranges {
 public:
  explicit Ranges(const Program& program);

  /// Calls visit(position) for each op of the program, in order, before its result is known;
  /// `of` then is what is known there.
  void walk(absl::FunctionRef<void(std::size_t)> visit);
  /// Of a value where the walk is.
  Range of(Value value) const { return evaluate(value, 0); }

 private:
  /// A loop or branch around.
  struct Open {
    std::size_t known;             // refined_ when it began
    std::vector<Range> then = {};  // of a branch
  };
  struct Refined {
    Value value;
    Range before;
  };
  using Visit = absl::FunctionRef<void(std::size_t)>;

  void walk(std::size_t begin, std::size_t end, const Visit* visit);
  void step(std::size_t at, bool settles);
  void define(const Op& op);
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

  /// From here on, until the loop or branch ends.
  void assume(Value predicate, bool holds, int depth = 0);
  void narrow(Value value, const Range& range);
  void forget(std::size_t known);
  /// Of `value` where the predicate holds, or does not.
  Range where(Value value, Value predicate, bool holds, int depth) const;

  const std::vector<Carry>& carries_of(const Op& op) const;

  const Program& program_;
  std::vector<Range> ranges_;      // of each value
  std::vector<const Op*> maker_;   // the op that makes a value, if one does
  std::vector<std::size_t> ends_;  // where the loop that begins at an op ends
  absl::flat_hash_map<std::size_t, std::vector<Range>> settled_;  // params of the loop at a place
  std::vector<Open> open_;
  std::vector<Refined> refined_;
  std::size_t steps_left_;
  bool in_lanes_ = false;
};

}  // namespace rondo::lower
