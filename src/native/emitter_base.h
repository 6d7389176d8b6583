// What the emitters of all processors do alike: which code each instruction gets, loops, branches,
// the values that these pass on, and paths that are rare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "lower/run_frame.h"
#include "native/allocate.h"
#include "native/parallel_moves.h"
#include "native/target.h"

namespace rondo::native_code {

/// The base of an emitter, `Machine`, which makes it a friend: what writes instructions is there.
/// `Label` is the assembler's.
///
/// Every sequence reads all of its operands before it writes its result, whose register may be that
/// of an operand with its last use there; multi-step results are built in scratch registers.
template <class Machine, class Label>
class EmitterBase {
 protected:
  EmitterBase(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
              const Target& target)
      : code_(code),
        ranges_(ranges),
        allocation_(allocation),
        target_(target),
        reads_(code.units.size()) {
    for (const Instruction& i : code.code)
      for_each_read(code, i, [&](Unit u, bool) { reads_[u]++; });
  }

  const Place& place_of(Unit u) const { return allocation_.places[ranges_.bundle_of[u]]; }
  const UnitInfo& info(Unit u) const { return code_.units[u]; }
  bool is_constant(Unit u) const { return info(u).constant; }
  RegisterClass class_of(Unit u) const { return register_class_of(info(u), target_); }
  /// Whether the result is used.
  bool wanted(Unit u) const { return u != 0 && reads_[u] != 0; }
  /// Whether a comparison is part of the next instruction, which takes the processor's flags.
  bool is_fused(std::size_t position) const;

  struct Move {
    Unit to, from;
  };
  /// All at once. `two` of the same place are no moves.
  void move_all(std::vector<Move> moves);

  /// The prologue, all instructions, the epilogue and the rare paths.
  void emit_all();
  Label* new_label() { return labels_.emplace_back(std::make_unique<Label>()).get(); }
  /// Where a rare path begins that ends the run with `status`.
  Label& leaving(lower::Status status, Unit counter, std::uint64_t loop);

  const MachineCode& code_;
  const LiveRanges& ranges_;
  const Allocation& allocation_;
  const Target& target_;
  std::vector<std::uint32_t> reads_;      // of each unit
  std::vector<std::uint32_t> positions_;  // where the code of each instruction begins
  std::vector<RarePath> rare_paths_;
  FrameLayout frame_;
  std::vector<std::function<void()>> rare_;  // code after the function's last instruction
  std::size_t next_call_ = 0;                // in Allocation::saved

 private:
  Machine& machine() { return static_cast<Machine&>(*this); }

  void emit_one(const Instruction& i, std::size_t position);
  void emit_compute(const Instruction& i, std::size_t position);
  /// A select as a branch around one of two moves.
  void emit_awaited_select(const Instruction& i, std::size_t position);
  void emit_control(const Instruction& i, std::size_t position);
  void emit_for_begin(const Instruction& i);
  void emit_for_end(const Instruction& i);
  void emit_repeat_begin(const Instruction& i);
  void emit_repeat_end(const Instruction& i);
  /// The initial values of the carries, or the results of a trip; together with other `moves`.
  void move_to_carries(const MachineLoop& loop, Unit MachineCarry::*from,
                       std::vector<Move> moves = {});
  /// The results of one side of the branch.
  void move_to_results(const MachineBranch& branch, Unit MachineBranch::Result::*from);
  void leave_unless(const Instruction& i, std::size_t position, Label& target);

  struct OpenLoop {
    Label head, exit;
  };
  std::deque<OpenLoop> open_loops_;
  struct OpenIf {
    Label otherwise, end;
  };
  std::deque<OpenIf> open_ifs_;
  Label* passed_ = nullptr;  // after the next test or branch, which a kShortCircuitOr skips
  std::vector<std::unique_ptr<Label>> labels_;
};

template <class Machine, class Label>
bool EmitterBase<Machine, Label>::is_fused(std::size_t position) const {
  const Instruction& i = code_.code[position];
  const bool compares = i.kind == Kind::kCompute && i.op >= lower::Opcode::kEqual &&
                        i.op <= lower::Opcode::kGreaterEqual;
  if (!compares || i.lanes > 1 || position + 1 == code_.code.size()) return false;
  if (reads_[i.result] != 1) return false;
  const Instruction& next = code_.code[position + 1];
  return next.a == i.result && takes_flags(next, i, target_);
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::move_all(std::vector<Move> moves) {
  const auto key = [&](Unit u) { return is_constant(u) ? 0 : place_key(place_of(u), class_of(u)); };
  std::erase_if(moves, [&](const Move& m) {
    return m.to == 0 || ranges_.bundle_of[m.to] == 0 ||
           (!is_constant(m.from) && key(m.to) == key(m.from));
  });
  if (moves.empty()) return;
  if (moves.size() == 1) return machine().move_one(moves[0].to, moves[0].from);
  std::vector<ParallelMove> places;
  for (const Move& m : moves) places.push_back({key(m.to), key(m.from)});
  move_in_parallel(
      places, [&](std::size_t m) { machine().move_one(moves[m].to, moves[m].from); },
      [&](std::size_t m) { machine().save_to_scratch(moves[m].to); },
      [&](std::size_t m) { machine().move_from_scratch(moves[m].to, moves[m].from); });
}

template <class Machine, class Label>
Label& EmitterBase<Machine, Label>::leaving(lower::Status status, Unit counter,
                                            std::uint64_t loop) {
  Label* const begin = new_label();
  rare_.emplace_back([this, begin, status, counter, loop] {
    machine().bind(*begin);
    machine().store_trips(counter, loop);
    machine().store_state(loop);
    machine().leave_with(status, loop);
  });
  return *begin;
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_all() {
  machine().emit_prologue();
  positions_.reserve(code_.code.size() + 1);
  std::vector<std::uint32_t> found_in;  // of each rare path, the instruction
  std::uint16_t location = 0;
  for (std::size_t i = 0; i < code_.code.size(); i++) {
    positions_.push_back(machine().here());
    const std::uint16_t next = code_.code[i].location;
    if (code_.marks_lines && next != 0 && next != std::exchange(location, next))
      machine().emit_nothing();
    emit_one(code_.code[i], i);
    found_in.resize(rare_.size(), static_cast<std::uint32_t>(i));
  }
  positions_.push_back(machine().here());
  machine().emit_epilogue();
  // A rare path may be followed by another one that it creates.
  for (std::size_t i = 0; i < rare_.size(); i++) {
    rare_paths_.push_back({machine().here(), found_in[i]});
    rare_[i]();
    found_in.resize(rare_.size(), found_in[i]);
  }
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_one(const Instruction& i, std::size_t position) {
  Machine& to = machine();
  to.begin_instruction(i);
  switch (i.kind) {
    case Kind::kCompute:
      if (!is_fused(position) && wanted(i.result)) emit_compute(i, position);
      break;
    case Kind::kMove:
      if (wanted(i.result)) to.move_one(i.result, i.a);
      break;
    case Kind::kBroadcast:
    case Kind::kLaneIndex:
    case Kind::kTailMask:
      if (wanted(i.result)) to.emit_lane_value(i);
      break;
    case Kind::kStackSlot:
      to.emit_stack_slot(i);
      break;
    case Kind::kAddress:
      if (wanted(i.result)) to.emit_address(i);
      break;
    case Kind::kLoad:
      if (wanted(i.result)) to.emit_load(i);
      break;
    case Kind::kStore:
      to.emit_store(i);
      break;
    case Kind::kBase:
      if (wanted(i.result)) to.emit_base(i);
      break;
    case Kind::kFence:
      to.emit_fence();
      break;
    case Kind::kCopy:
      to.emit_copy(i);
      break;
    case Kind::kCall:
      to.emit_kernel_call(i);
      break;
    case Kind::kTapeRow:
      to.emit_tape_row(i);
      break;
    case Kind::kTapeSet:
      to.emit_tape_set(i);
      break;
    case Kind::kMathCall:
      to.emit_math_call(i);
      break;
    default:
      emit_control(i, position);
  }
  if (may_call(i)) next_call_++;
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_compute(const Instruction& i, std::size_t position) {
  using lower::Opcode;
  Machine& to = machine();
  switch (i.op) {
    case Opcode::kConstant:
      return;
    case Opcode::kConvert:
      return i.lanes > 1 ? to.emit_lanes_convert(i) : to.emit_convert(i);
    case Opcode::kBitcast:
      return i.lanes > 1 ? to.emit_lanes_bitcast(i) : to.emit_bitcast(i);
    case Opcode::kEqual:
    case Opcode::kNotEqual:
    case Opcode::kLess:
    case Opcode::kLessEqual:
    case Opcode::kGreater:
    case Opcode::kGreaterEqual:
      return i.lanes > 1 ? to.emit_lanes_compare(i) : to.emit_compare(i);
    case Opcode::kSelect:
      if (i.lanes > 1) return to.emit_lanes_select(i);
      if (i.bits == lower::kAwaited) return emit_awaited_select(i, position);
      return floating(i.type) ? to.emit_float_select(i, position)
                              : to.emit_general_select(i, position);
    default:
      if (floating(i.type)) return to.emit_float(i);
      return i.lanes > 1 ? to.emit_lanes_integer(i) : to.emit_integer(i);
  }
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_awaited_select(const Instruction& i, std::size_t position) {
  Machine& to = machine();
  const auto shares = [&](Unit u) {
    return !is_constant(u) && class_of(u) == class_of(i.result) &&
           place_key(place_of(u), class_of(u)) == place_key(place_of(i.result), class_of(i.result));
  };
  Label& end = *new_label();
  if (shares(i.b)) {
    to.jump_where(true, i.a, position, end);
    to.move_one(i.result, i.c);
    return to.bind(end);
  }
  // The comparison reads its operands first.
  const Instruction* const compares =
      position > 0 && is_fused(position - 1) ? &code_.code[position - 1] : nullptr;
  const bool is_free =
      place_of(i.result).kind == Place::Kind::kRegister &&
      !(compares != nullptr ? shares(compares->a) || shares(compares->b) : shares(i.a));
  if (shares(i.c) || is_free) {
    if (!shares(i.c)) to.move_one(i.result, i.c);
    to.jump_where(false, i.a, position, end);
    to.move_one(i.result, i.b);
    return to.bind(end);
  }
  Label& otherwise = *new_label();
  to.jump_where(false, i.a, position, otherwise);
  to.move_one(i.result, i.b);
  to.jump(end);
  to.bind(otherwise);
  to.move_one(i.result, i.c);
  to.bind(end);
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::leave_unless(const Instruction& i, std::size_t position,
                                               Label& target) {
  machine().jump_where(false, i.a, position, target);
  if (passed_ != nullptr) machine().bind(*passed_);
  passed_ = nullptr;
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::move_to_carries(const MachineLoop& loop, Unit MachineCarry::*from,
                                                  std::vector<Move> moves) {
  for (const MachineCarry& carry : loop.carries) moves.push_back({carry.param, carry.*from});
  move_all(std::move(moves));
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::move_to_results(const MachineBranch& branch,
                                                  Unit MachineBranch::Result::*from) {
  std::vector<Move> moves;
  for (const auto& result : branch.results) moves.push_back({result.result, result.*from});
  move_all(std::move(moves));
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_for_begin(const Instruction& i) {
  const MachineLoop& loop = code_.loops[i.bits];
  move_to_carries(loop, &MachineCarry::init, {{loop.index, loop.lower}});
  OpenLoop& open = open_loops_.emplace_back();
  if (is_constant(loop.lower) && is_constant(loop.upper)) {
    if (static_cast<std::int64_t>(info(loop.lower).bits) >=
        static_cast<std::int64_t>(info(loop.upper).bits))
      machine().jump(open.exit);
  } else {
    machine().jump_by_index(loop, false, open.exit);
  }
  machine().bind_head(open.head);
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_for_end(const Instruction& i) {
  const MachineLoop& loop = code_.loops[i.bits];
  move_to_carries(loop, &MachineCarry::next);
  OpenLoop& open = open_loops_.back();
  machine().advance_index(loop);
  machine().jump_by_index(loop, true, open.head);
  machine().bind(open.exit);
  open_loops_.pop_back();
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_repeat_begin(const Instruction& i) {
  move_to_carries(code_.loops[i.bits], &MachineCarry::init);
  machine().bind_head(open_loops_.emplace_back().head);
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_repeat_end(const Instruction& i) {
  move_to_carries(code_.loops[i.bits], &MachineCarry::next);
  machine().jump(open_loops_.back().head);
  machine().bind(open_loops_.back().exit);
  open_loops_.pop_back();
}

template <class Machine, class Label>
void EmitterBase<Machine, Label>::emit_control(const Instruction& i, std::size_t position) {
  Machine& to = machine();
  switch (i.kind) {
    case Kind::kForBegin:
      return emit_for_begin(i);
    case Kind::kForEnd:
      return emit_for_end(i);
    case Kind::kRepeatBegin:
      return emit_repeat_begin(i);
    case Kind::kTest:
      return leave_unless(i, position, open_loops_.back().exit);
    case Kind::kRepeatEnd:
      return emit_repeat_end(i);
    case Kind::kIf:
      return leave_unless(i, position, open_ifs_.emplace_back().otherwise);
    case Kind::kShortCircuitOr:
      if (passed_ == nullptr) passed_ = new_label();
      return to.jump_where(true, i.a, position, *passed_);
    case Kind::kShortCircuitAnd:
      return leave_unless(i, position, open_ifs_.back().otherwise);
    case Kind::kElse:
      move_to_results(code_.branches[i.bits], &MachineBranch::Result::then);
      to.jump(open_ifs_.back().end);
      return to.bind(open_ifs_.back().otherwise);
    case Kind::kEndIf:
      move_to_results(code_.branches[i.bits], &MachineBranch::Result::otherwise);
      to.bind(open_ifs_.back().end);
      return open_ifs_.pop_back();
    case Kind::kTripsBegin:
      return to.emit_trips_begin(i);
    case Kind::kTrip:
    case Kind::kCount:
      return to.emit_trip(i);
    case Kind::kTripsEnd:
      return to.emit_trips_end(i);
    case Kind::kBlockTrips:
    case Kind::kLaneTrips:
      return to.emit_lane_trips(i);
    case Kind::kPoll:
      return to.emit_poll(i);
    default:
      return;
  }
}

}  // namespace rondo::native_code
