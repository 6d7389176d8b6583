// Writes the program that runs a part of a large loop.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/op_writer.h"
#include "lower/passes/copy_ops.h"
#include "lower/passes/divide.h"
#include "lower/passes/large_loops.h"

namespace rondo::lower {

/// Slots through which parts and their caller exchange single values, in bytes.
struct Slots {
  static constexpr std::int64_t kBytes = 8;
  // Threshold: Parts of a loop for all threads: balance between threads against the cost of each
  // part. Not measured.
  static constexpr std::int64_t kMostParts = 64;

  /// The parts' results of reduction `number`: slot by slot, or the partial results as an array.
  static std::int64_t offset(std::size_t number) {
    constexpr std::int64_t kSlots = kMostParts > Lanes::kPartials ? kMostParts : Lanes::kPartials;
    return kBytes * kSlots * static_cast<std::int64_t>(number);
  }
};

class PartWriter {
 public:
  /// `bytes`: the sizes of the memory that the whole program's pointers address; that program also
  /// owns these constants. `slots` is a pointer there.
  PartWriter(const Program& whole, const std::vector<std::int64_t>& bytes,
             const absl::flat_hash_map<Value, std::uint64_t>& constants, Value slots);
  PartWriter(const PartWriter&) = delete;
  PartWriter& operator=(const PartWriter&) = delete;

  /// Called once. `part_work` determines how much of the work a part has.
  DividedLoop write(const LargeLoop& loop, double part_work);

  /// The arguments of the call, as values of the whole program: `pointers`, which follow the
  /// pointer to the slots, and `scalars`, which are passed in the slots.
  const std::vector<Value>& pointers() const { return pointers_; }
  const std::vector<Value>& scalars() const { return scalars_; }

 private:
  Value argument(std::int64_t bytes);
  Value from_outside(Value value);
  /// Memory in the arena that only the loop uses: each part has separate memory.
  void find_private(const LargeLoop& loop);
  /// Reads a member of DividedLoop::Part.
  Value part(int member) { return before_.load(Type::kS64, {part_, member * Slots::kBytes, {}}); }
  Value first() { return part(0); }
  Value count() { return part(1); }
  Value end() { return part(2); }
  Value number() { return part(3); }
  Value identity_of(const Lanes::Reduction& reduction);
  Value results_of(std::size_t reductions);

  void trips(const LargeLoop& loop, OpCopier& copier);
  void lanes(const LargeLoop& loop, OpCopier& copier);
  void in_order(const LargeLoop& loop, OpCopier& copier);
  std::vector<Value> open_lanes(const LargeLoop& loop, OpCopier& copier);
  void combine_blocks(const Lanes& whole, const std::vector<Address>& places, Value results,
                      Value end);

  const Program& whole_;
  const std::vector<std::int64_t>& bytes_;
  const absl::flat_hash_map<Value, std::uint64_t>& constants_;
  Value slots_;
  DividedLoop made_;
  std::vector<Op> ops_before_, ops_;
  OpWriter before_{made_.program, ops_before_}, here_{made_.program, ops_};
  std::vector<Value> pointers_, scalars_;
  std::uint32_t arguments_ = 0;
  Value part_ = kNone, scalars_of_call_ = kNone;
  absl::flat_hash_map<Value, Buffer> private_;  // by pointer
};

}  // namespace rondo::lower
