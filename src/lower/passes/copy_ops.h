// Copies ops of one program into another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "lower/program.h"

namespace rondo::lower {

/// The replacement of the lane index, when lanes are copied without their kLanes.
struct LaneNumber {
  Value index = kNone;   // in the source program
  Value number = kNone;  // first + lane
  Value first = kNone;   // known before all loops
  Value lane = kNone;    // the index of the lanes around the copy
};

class OpCopier {
 public:
  /// `outside` gives the value in `to` for one defined outside the copied ops. Loop-invariant
  /// values go to `before`. All must outlive the copier.
  OpCopier(const Program& from, Program& to, std::vector<Op>& code, std::vector<Op>& before,
           absl::FunctionRef<Value(Value)> outside)
      : from_(from), to_(to), code_(code), before_(before), outside_(outside) {}

  void set_lane(const LaneNumber& lane) { lane_ = lane; }
  /// Whether LaneNumber::number was read.
  bool reads_number() const { return reads_number_; }
  /// Writes the ops in [begin, end), which must be balanced.
  void copy(std::size_t begin, std::size_t end);

  /// The copy of a value.
  Value value(Value of);
  /// A new value of its type.
  Value define(Value of);
  /// The loops of `from` that have copies in `to`, in order.
  std::vector<std::uint32_t>& loops() { return loops_; }
  /// The copy of a loop of `from`.
  std::uint32_t loop(std::uint32_t of);

 private:
  /// The lane's number, as a narrow integer: the sum of two, which takes fewer bytes a lane than
  /// LaneNumber::number.
  void narrow_number(const Op& conversion);
  std::uint64_t address(std::uint64_t of);
  std::uint64_t view(std::uint64_t of);
  std::uint64_t call(std::uint64_t of);
  std::uint64_t move(std::uint64_t of);
  void begin_carries(std::vector<Carry>& carries);
  void end_carries(std::vector<Carry>& carries);
  void control(Op& op);

  const Program& from_;
  Program& to_;
  std::vector<Op>& code_;
  std::vector<Op>& before_;
  absl::FunctionRef<Value(Value)> outside_;
  LaneNumber lane_;
  bool reads_number_ = false;
  absl::flat_hash_map<Value, Value> values_;
  absl::flat_hash_map<std::int64_t, Value> firsts_;  // LaneNumber::first times a stride
  absl::flat_hash_map<Type, Value> narrow_firsts_;   // LaneNumber::first as another integer
  absl::flat_hash_map<std::uint32_t, std::uint32_t> loop_numbers_;
  std::vector<std::uint32_t> loops_;
  std::vector<std::uint64_t> open_;  // indices in the tables of `to`
};

}  // namespace rondo::lower
