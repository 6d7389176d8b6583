// Where a value is stored while a program is being written.
#pragma once

#include <cstdint>

#include "executor/lane_values.h"
#include "lower/builder.h"

namespace rondo::executor {

struct Place {
  enum class Kind : std::uint8_t {
    kNone,
    kSingle,   // one element, in registers
    kArray,    // in memory, dense
    kTape,     // a tape of the run
    kInlined,  // not yet computed: fused into its consumers
    kLane,     // in a loop interchanged with its lanes, in registers: elements for each lane, or
               // uniform ones
  };
  Kind kind = Kind::kNone;
  bool writable = false;  // its memory may be overwritten after its last use
  std::int32_t storage =
      -1;  // for an array: the memory that holds it; none for arguments, constants
  lower::Value pointer = lower::kNone;
  /// For an array that a loop reads along an axis other than its last: a copy with `packed_axis` as
  /// the last one. Without a copy the array itself has this layout; -1: row-major.
  lower::Value packed = lower::kNone;
  std::int64_t packed_axis = -1;
  /// For one element; for an array: the value that all its elements have. For a kLane all its
  /// elements of a lane, in row-major order.
  lower::Element element = {};
  LaneValue lane = {};  // for arrays and kLane, in a loop interchanged with its lanes

  bool in_registers() const { return kind == Kind::kSingle || kind == Kind::kLane; }
};

}  // namespace rondo::executor
