// Expands the lower IR to machine code: values become units (virtual registers), lane loops become
// loops of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "native/lane_plan.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

class LaneBlocks;

class Expander {
 public:
  Expander(const lower::Program& program, const Target& target);
  MachineCode run();

 private:
  friend class LaneBlocks;

  struct Open {
    lower::Opcode opened;
    std::uint32_t number;             // of the machine loop or branch
    Unit counter = 0;                 // of the trips, if they are reported
    std::size_t begin = 0, trip = 0;  // positions of its kTripsBegin and kTrip
    std::uint32_t report = lower::kNoLoop;
    Unit trips = 0;              // before this one, if one makes several
    bool visible = false;        // something in its condition may report the state of the loop
    bool independent = false;    // a `for` whose trips are independent
    bool reads_counter = false;  // something in its body reads the counter
  };

  Unit new_unit(lower::Type type, int lanes = 1);
  Unit constant(lower::Type type, std::uint64_t bits, int lanes = 1);
  Unit unit_of(lower::Value v) const { return units_[v]; }
  /// Whether it is a loop of the program, or the index of an unrolled one.
  bool is_constant(lower::Value v) const { return out_.units[unit_of(v)].constant; }
  /// The unit of a value that is not a constant.
  Unit in_register(lower::Value v);
  Unit define(lower::Value v);
  Instruction& add(Instruction instruction);
  /// Instructions from here on have the location of the op, if that is known.
  void locate(const lower::Op& op);
  Unit compute(lower::Opcode op, lower::Type type, int lanes, Unit a, Unit b = 0, Unit c = 0);
  /// Adds an op on values. Rotations that the target lacks become shifts.
  void add_computation(Instruction i);
  std::uint64_t add_address(MachineAddress address);
  MachineAddress address_of(std::uint64_t number) const;
  Unit pointer_to(std::uint64_t address);

  void expand(const lower::Op& op);
  /// Expands the ops in [begin, end), including lane loops.
  void expand_range(std::size_t begin, std::size_t end);
  /// The end of a loop of few trips inside another one, which is unrolled, with constants in its
  /// addresses. None for other loops.
  std::optional<std::size_t> end_of_unrolled(std::size_t begin) const;
  void unroll(std::size_t begin, std::size_t end);
  void expand_control(const lower::Op& op);
  void expand_branch(const lower::Op& op);  // kIf, kElse, kEndIf
  void test(const lower::Op& op);
  void begin_for(const lower::Op& op);
  void begin_while(const lower::Op& op);
  void end_loop(const std::vector<lower::Carry>& carries);
  void end_loop();
  /// The mask of the first `left` lanes.
  Unit tail_mask(int lanes, Unit left);
  void add_trip();
  /// `but_innermost`: the innermost loop does so itself.
  void mark_visible(bool but_innermost = false);
  /// Polls for limits inside a trip.
  void poll();
  /// Of loops in lanes: those of a block of lanes, or of all.
  void report_trips(Kind kind, std::span<const std::uint32_t> loops);
  Unit innermost_counter();
  std::uint32_t open_loop(lower::Opcode opened, MachineLoop loop, std::uint32_t report,
                          Unit trips = 0);
  void begin_counted(Unit index, Unit lower, Unit upper, std::int64_t step);
  LaneFacts& lane_facts();

  const lower::Program& program_;
  const Target& target_;
  MachineCode out_;
  std::vector<Unit> units_;  // of each value
  std::vector<Open> open_;
  /// Constant numbers of lanes, since a loop or branch was last opened or closed.
  absl::flat_hash_map<std::pair<int, std::uint64_t>, Unit> tail_masks_;
  std::uint16_t location_ = 0;           // Instruction::location
  std::optional<LaneFacts> lane_facts_;  // once there is a lane loop
};

inline MachineCode expand(const lower::Program& program, const Target& target) {
  return Expander(program, target).run();
}

}  // namespace rondo::native_code
