// The program as the register allocator and the emitter see it: the ops of the lower IR on units,
// each of which fills one register. A scalar is a unit of one lane; a value in lanes is one unit
// for each vector of a block. Lane loops have become counted loops of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lower/program.h"
#include "native/target.h"

namespace rondo::native_code {

/// Index in MachineCode::units; 0 is none.
using Unit = std::uint32_t;

/// In registers, signed integers of fewer than 32 bits are sign-extended to 32, unsigned ones
/// zero-extended; f16 and bf16 are held as f32. A pred is 0 or 1 in a general register; in lanes a
/// mask register, or 32 bits a lane, all ones or zero, if the target has none.
struct UnitInfo {
  lower::Type type = lower::Type::kPred;
  std::uint8_t lanes = 1;
  bool constant = false;  // `bits` is the value in every lane; it needs no register
  std::uint64_t bits = 0;
};

/// `bits` of a kCompute, beside those of the lower IR. For a kConvert to an integer of up to 32
/// bits: the float is known to be in its range.
inline constexpr std::uint64_t kFits = 1;
/// For a kMin: the result is a, of type `from`, clamped to [0, b].
inline constexpr std::uint64_t kClamps = 2;
/// For a kMin or kMax of floats: `a < b ? a : b`, or `a > b ? a : b` (FusedForms::extremes).
inline constexpr std::uint64_t kSelects = 3;

enum class Kind : std::uint8_t {
  kCompute,    // `op` on a, b, c
  kMove,       // result = a
  kBroadcast,  // result = a in every lane
  kLaneIndex,  // result = a + lane
  kTailMask,   // result = lane < a, of an s64
  kAddress,    // result = the address `bits`, as a pointer
  kStackSlot,  // result = a pointer to `bits` bytes into the frame's scratch area
  kLoad,       // `bits` is an address; only lanes of `mask` if there is one
  kStore,      // a
  kBase,       // result = a pointer to buffer `bits`
  kCopy,       // `bits` bytes from pointer a to pointer b
  kCall,       // calls[bits]
  kTapeRow,    // result = a pointer to row a of tape `bits`; op: kTapeRead or kTapeWrite; b: trips
               // of the innermost loop, whose number is with the tape's
  kTapeSet,    // tape_sets[bits]
  kMathCall,   // function `bits` on a (and b), if c is true or there is no c
  // Control flow; `bits` is the index of a loop or branch.
  kForBegin,
  kForEnd,
  kRepeatBegin,
  kTest,  // leaves the loop if a is false: for a unit of lanes, if it is false in all
  kRepeatEnd,
  kIf,
  kShortCircuitAnd,  // right after a kIf: its branch is taken if a is true as well
  kShortCircuitOr,   // if a is true, the kTest, kIf or kShortCircuitAnd that follows is skipped
  kElse,
  kEndIf,
  // Trip counts that user loops report; `bits` is the index in Program::loops or kNoLoop. `a`
  // counts the trips that have begun.
  kTripsBegin,  // result = 0; a: its trip count, if that is reported
  kTrip,        // a += 1, in place, or a = b + 1 if there is a b; checks limits and polls
  kCount,       // the same for a loop that checks nothing
  kTripsEnd,    // a: the trips that have ended, plus b that others made
  kBlockTrips,  // in a loop over lanes, after a block of them
  kLaneTrips,   // and after all of them
  kPoll,        // inside a trip of loop `bits`
  kFence,       // fence: non-temporal stores become visible before later stores
  kNop,         // was folded into another
};

struct Instruction {
  Kind kind = Kind::kCompute;
  lower::Opcode op = lower::Opcode::kConstant;
  lower::Type type = lower::Type::kPred;
  lower::Type from = lower::Type::kPred;
  std::uint8_t lanes = 1;
  // kTripsBegin, kTrip: the loop contains something that may report trips; kTripsEnd: no loop
  // encloses it.
  bool visible = false;
  bool streams = false;        // kStore: non-temporal; kLoad: prefetches what is loaded later
  bool inverted = false;       // under_mask, a comparison of lanes: negated
  std::uint8_t first = 0;      // kStore: the mask has so many lanes, the first ones; 0: any
  std::uint16_t location = 0;  // in Program::locations; 0: that of the code before
  Unit result = 0, a = 0, b = 0, c = 0;
  // Active lanes. In the others a comparison gives 0, arithmetic on two operands gives c.
  Unit mask = 0;
  std::uint64_t bits = 0;
};

/// base + offset + the terms + lane * lane_stride, or + lane_index[lane] * lane_stride.
struct MachineAddress {
  struct Term {
    Unit index;
    std::int64_t stride;
  };
  Unit base = 0;
  std::int64_t offset = 0;
  absl::InlinedVector<Term, 2> terms;
  Unit lane_index = 0;
  std::int64_t lane_stride = 0;
};

/// The result is 0 if it is unused.
struct MachineCarry {
  Unit init, param, next, result;
};

/// A kForBegin … kForEnd or kRepeatBegin … kTest … kRepeatEnd.
struct MachineLoop {
  Unit index = 0, lower = 0, upper = 0;
  std::int64_t step = 1;
  std::vector<MachineCarry> carries;
};

struct MachineBranch {
  struct Result {
    Unit then, otherwise, result;
  };
  std::vector<Result> results;
};

struct MachineCall {
  const lower::Kernel* kernel;
  std::vector<Unit> pointers;
};

struct LoopReport {
  std::int64_t most_trips = INT64_MAX;  // the promised trip count
  bool ends_inside = false;
  bool in_lanes = false;
  bool polls = true;
  std::vector<Unit> state;  // read by each kTrip
};

struct MachineCode {
  std::vector<Instruction> code;
  std::vector<UnitInfo> units{1};
  std::vector<MachineAddress> addresses;
  std::vector<MachineLoop> loops;
  std::vector<MachineBranch> branches;
  std::vector<MachineCall> calls;
  std::vector<lower::Buffer> buffers;
  std::vector<lower::Tape> tapes;
  std::span<const lower::TapeSet> tape_sets;  // of the program, which outlives the code
  std::vector<LoopReport> loop_reports;       // as in Program::loops
  std::size_t area_bytes = 0;
  /// Units of one lane that hold values, if the program has locations: a value that is computed in
  /// several copies of code has several.
  std::vector<std::pair<lower::Value, Unit>> definitions;
  /// The code of each line begins with an instruction that does nothing, on which breakpoints are.
  /// gdb 13 passes a breakpoint by running its instruction elsewhere; one with a VEX or EVEX prefix
  /// then misses constants whose addresses are relative.
  bool marks_lines = false;
};

constexpr bool begins_loop(Kind kind) {
  return kind == Kind::kForBegin || kind == Kind::kRepeatBegin;
}
constexpr bool ends_loop(Kind kind) { return kind == Kind::kForEnd || kind == Kind::kRepeatEnd; }

constexpr bool floating(lower::Type t) { return t >= lower::Type::kF16 && t <= lower::Type::kF64; }
constexpr bool half_float(lower::Type t) {
  return t == lower::Type::kF16 || t == lower::Type::kBF16;
}
constexpr bool signed_integer(lower::Type t) {
  return t >= lower::Type::kS8 && t <= lower::Type::kS64;
}
/// Bytes in memory.
constexpr int width_of(lower::Type t) {
  constexpr int widths[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8};
  return widths[static_cast<int>(t)];
}
/// Whether it takes 8 bytes of a register for each lane, instead of 4.
constexpr bool wide(lower::Type t) { return width_of(t) == 8; }

/// Whether `reader`'s code reads the processor's flags, or a mask, right after a scalar comparison
/// whose result it uses.
inline bool takes_flags(const Instruction& reader, const Instruction& comparison,
                        const Target& target) {
  if (reader.kind == Kind::kTest || reader.kind == Kind::kIf ||
      reader.kind == Kind::kShortCircuitAnd || reader.kind == Kind::kShortCircuitOr)
    return true;
  if (reader.kind != Kind::kCompute || reader.op != lower::Opcode::kSelect || reader.lanes != 1)
    return false;
  if (!floating(reader.type)) return true;
  return floating(comparison.from) &&
         (target.fused.select_by_other_width || wide(comparison.from) == wide(reader.type));
}

}  // namespace rondo::native_code
