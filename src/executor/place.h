// Where a value is while a program is being written.
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
    kTape,     // a tape of the run's
    kInlined,  // not yet computed: written where it is used
    kLane,     // in a loop that runs by lane, in registers: elements for each lane, or uniform ones
  };
  Kind kind = Kind::kNone;
  bool writable = false;  // its memory may be written once the value is dead
  std::int32_t storage =
      -1;  // of an array: the memory that holds it; none for arguments, constants
  lower::Value pointer = lower::kNone;
  /// Of an array that a loop reads along another axis than its last: a copy with `packed_axis` as
  /// the last one. Without a copy it is the array itself that lies so; -1: row-major.
  lower::Value packed = lower::kNone;
  std::int64_t packed_axis = -1;
  /// Of one element; of an array: the value that all its elements have. Of a kLane all its elements
  /// of a lane, one after the other in row-major order.
  lower::Element element = {};
  LaneValue lane = {};  // of arrays and kLane, in a loop that runs by lane

  bool in_registers() const { return kind == Kind::kSingle || kind == Kind::kLane; }
};

}  // namespace rondo::executor
