// One instruction of the bytecode, and its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lower/program.h"
#include "lower/run_frame.h"

namespace rondo::bytecode {

/// Lanes that run at a time; also the number of partial results of a reduction, so that each lane
/// of a block has its own.
inline constexpr int kBlock = lower::Lanes::kPartials;
/// Ops on a block process a multiple of this many lanes: those beyond the last one hold harmless
/// values.
/// Threshold: The compiler vectorizes ops on blocks of a multiple of this many lanes; the rest of
/// the last one is computed in vain. Not measured.
inline constexpr int kStep = 8;
/// Bytes of the register of one value, and of one value per lane.
inline constexpr std::uint32_t kScalarBytes = 8;
inline constexpr std::uint32_t kBlockBytes = kBlock * 8;

struct Instruction;

/// The contribution of an index to an address.
struct Term {
  std::uint32_t index;  // register
  bool by_lane;         // one index per lane
  std::int64_t stride;
};

/// An address, decoded.
struct Access {
  std::uint32_t base;  // register
  std::uint32_t first_term, terms;
  std::int64_t offset;
  std::int64_t lane_stride;  // of the lane index, in bytes
  bool gathers;              // another index differs by lane
};

/// A value that is copied to another register.
struct Move {
  std::uint32_t to, from;
};

struct Reduction {
  std::uint32_t partials;  // registers
  std::uint32_t init, value, result;
  lower::Opcode combine;
  lower::Type type;
};

/// Registers that a loop reports.
struct Reported {
  struct Part {
    std::uint32_t place;
    lower::Type type;
  };
  std::uint32_t trips = 0;  // 0: the count is not known when the loop begins
  std::vector<Part> state;  // the parts of its leaves
};

/// The state of a run.
struct State {
  lower::RunFrame* frame;
  std::byte* registers;
  const Instruction* code;
  const lower::Program* program;
  const Access* accesses;
  const Term* terms;
  const Move* moves;
  const Reduction* reductions;
  const Reported* reported;  // as Program::loops
  std::int64_t lane = 0;     // the first of the block
  int lanes = 0;             // of the block
  int width = 0;             // lanes rounded up to kStep
  lower::Status status = lower::Status::kDone;

  template <class T>
  T* at(std::uint32_t place) const {
    return reinterpret_cast<T*>(registers + place);
  }
};

/// Runs an instruction and returns the next; null ends the run.
using Run = const Instruction* (*)(const Instruction*, State&);

struct Instruction {
  Run run;
  std::uint32_t result = 0, a = 0, b = 0, c = 0;  // registers, as offsets in bytes
  std::uint64_t bits = 0;  // a constant, a function, a table index, or a jump target
};

/// The instruction of an op on values; `lanes`: one value per lane in all registers.
Run arithmetic(const lower::Op& op, bool lanes);
Run conversion(lower::Type from, lower::Type to, bool lanes);
/// A store in lanes writes those where the block of bytes `b` is not 0, if there is one.
Run memory(const lower::Op& op, bool lanes);

// Control flow.
struct Control {
  static const Instruction* halt(const Instruction*, State&);
  static const Instruction* constant(const Instruction*, State&);
  static const Instruction* base(const Instruction*, State&);
  static const Instruction* view(const Instruction*, State&);  // bits: the address
  static const Instruction* copy(const Instruction*, State&);
  static const Instruction* call(const Instruction*, State&);
  static const Instruction* tape_row(const Instruction*, State&);  // a: the row; b: writes
  static const Instruction* tape_set(const Instruction*, State&);
  /// moves[bits] … a of them, in sequence.
  static const Instruction* move_scalars(const Instruction*, State&);
  static const Instruction* move_blocks(const Instruction*, State&);
  /// The same in the lanes where the block of bytes `b` is not 0.
  static const Instruction* move_active(const Instruction*, State&);
  static const Instruction* broadcast(const Instruction*, State&);  // a to result, of width b
  static const Instruction* jump(const Instruction*, State&);
  static const Instruction* jump_unless(const Instruction*, State&);  // a
  /// Decided by the lanes, which agree: those where the block of bytes `b` is not 0, if there is
  /// one.
  static const Instruction* jump_unless_lanes(const Instruction*, State&);  // a
  /// result = an s64 that all active lanes share; a: block, b: of active lanes
  static const Instruction* of_active_lane(const Instruction*, State&);
  static const Instruction* begin_loop(const Instruction*, State&);  // c: the loop
  /// c: the loop; a: the trips before this one, if one makes several.
  static const Instruction* count_trip(const Instruction*, State&);
  /// For such a loop, after its end.
  static const Instruction* count_trips(const Instruction*, State&);
  static const Instruction* for_test(const Instruction*, State&);  // a < b, or goes to bits
  /// a += bits; if `result` is not 0, checks the limits of the run, inside loop c.
  static const Instruction* for_next(const Instruction*, State&);
  static const Instruction* begin_lanes(const Instruction*, State&);   // a: their number
  static const Instruction* next_block(const Instruction*, State&);    // a; back to bits; as above
  static const Instruction* block_trips(const Instruction*, State&);   // c: a loop in the lanes
  static const Instruction* lane_trips(const Instruction*, State&);    // c, after the lanes
  static const Instruction* begin_active(const Instruction*, State&);  // result, from a
  static const Instruction* test_active(const Instruction*, State&);   // result &= a
  static const Instruction* begin_reductions(const Instruction*, State&);  // bits … a of them
  static const Instruction* reduce(const Instruction*, State&);
  static const Instruction* end_reductions(const Instruction*, State&);
};

}  // namespace rondo::bytecode
