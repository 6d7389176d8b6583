#include "native/expand.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "native/lane_blocks.h"

namespace rondo::native_code {

using lower::Opcode;
using lower::Type;
using lower::Value;

Expander::Expander(const lower::Program& program, const Target& target)
    : program_(program), target_(target), units_(program.types.size()) {
  out_.buffers = program.buffers;
  out_.tapes = program.tapes;
  for (const lower::LoopInfo& loop : program.loops)
    out_.loop_reports.push_back(
        {loop.max_trip_count.value_or(INT64_MAX), loop.ends_inside, loop.in_lanes, loop.polls, {}});
  out_.code.reserve(program.code.size() + 16);
  out_.units.reserve(program.types.size() + 16);
}

Unit Expander::new_unit(Type type, int lanes) {
  UnitInfo& unit = out_.units.emplace_back();
  unit.type = type;
  unit.lanes = static_cast<std::uint8_t>(lanes);
  return static_cast<Unit>(out_.units.size() - 1);
}

Unit Expander::constant(Type type, std::uint64_t bits, int lanes) {
  const Unit u = new_unit(type, lanes);
  out_.units[u].constant = true;
  out_.units[u].bits = bits;
  return u;
}

Unit Expander::define(Value v) {
  if (v == lower::kNone) return 0;
  const Unit unit = units_[v] = new_unit(program_.types[v]);
  if (!program_.locations.empty()) out_.definitions.emplace_back(v, unit);
  return unit;
}

Instruction& Expander::add(Instruction instruction) {
  out_.code.push_back(instruction);
  out_.code.back().location = location_;
  return out_.code.back();
}

void Expander::locate(const lower::Op& op) {
  if (program_.locations.empty()) return;
  const auto first_of = [&](const std::vector<lower::Carry>& carries) {
    return carries.empty() ? 0 : program_.location(carries.front().param);
  };
  std::uint32_t location = program_.location(op.result);
  switch (op.code) {
    case Opcode::kStore:
      location = program_.location(op.a);
      break;
    case Opcode::kCall:
      location = program_.calls[op.bits].location;
      break;
    case Opcode::kFor:
    case Opcode::kEndFor:
      location = program_.location(program_.fors[op.bits].index);
      break;
    case Opcode::kLanes:
    case Opcode::kEndLanes:
      location = program_.location(program_.lanes[op.bits].index);
      break;
    case Opcode::kRepeat:
    case Opcode::kEndRepeat:
      location = first_of(program_.whiles[op.bits].carries);
      break;
    case Opcode::kTest:
      location = program_.location(program_.whiles[op.bits].predicate);
      break;
    case Opcode::kIf:
      location = program_.location(program_.ifs[op.bits].predicate);
      break;
    default:
      break;
  }
  if (location != 0 && location <= std::numeric_limits<std::uint16_t>::max())
    location_ = static_cast<std::uint16_t>(location);
}

Unit Expander::compute(Opcode op, Type type, int lanes, Unit a, Unit b, Unit c) {
  Instruction i;
  i.op = op, i.type = i.from = type;
  i.lanes = static_cast<std::uint8_t>(lanes);
  i.result = new_unit(type, lanes);
  i.a = a, i.b = b, i.c = c;
  return add(i).result;
}

void Expander::add_computation(Instruction i) {
  const FusedForms& fused = target_.fused;
  const TypeSet& rotations = i.lanes > 1 ? fused.rotations_of_lanes : fused.rotations;
  if (i.op == Opcode::kRotateLeft && !(rotations.has(i.type) && out_.units[i.b].constant)) {
    const auto bits = std::uint64_t{8} * static_cast<std::uint64_t>(width_of(i.type));
    const auto number = [&](std::uint64_t value) { return constant(i.type, value, i.lanes); };
    const auto of_lanes = [&](Opcode op, Unit a, Unit b) {
      return compute(op, i.type, i.lanes, a, b);
    };
    Unit left, right;
    if (out_.units[i.b].constant) {
      const std::uint64_t by = out_.units[i.b].bits % bits;
      left = number(by), right = number(bits - by);
    } else {
      left = of_lanes(Opcode::kAnd, i.b, number(bits - 1));
      right = of_lanes(Opcode::kSubtract, number(bits), left);
    }
    i.b = of_lanes(Opcode::kShiftRightLogical, i.a, right);
    i.a = of_lanes(Opcode::kShiftLeft, i.a, left);
    i.op = Opcode::kOr;
  }
  add(i);
}

std::uint64_t Expander::add_address(MachineAddress address) {
  out_.addresses.push_back(std::move(address));
  return out_.addresses.size() - 1;
}

MachineAddress Expander::address_of(std::uint64_t number) const {
  const lower::Address& from = program_.addresses[number];
  MachineAddress to;
  to.base = unit_of(from.base);
  to.offset = from.offset;
  for (const lower::Address::Term& term : from.terms)
    to.terms.push_back({unit_of(term.index), term.stride});
  return to;
}

Unit Expander::pointer_to(std::uint64_t address) {
  Instruction i;
  i.kind = Kind::kAddress;
  i.type = Type::kPointer;
  i.bits = add_address(address_of(address));
  i.result = new_unit(Type::kPointer);
  return add(i).result;
}

MachineCode Expander::run() {
  expand_range(0, program_.code.size());
  std::erase_if(out_.code, [](const Instruction& i) { return i.kind == Kind::kNop; });
  return std::move(out_);
}

void Expander::expand_range(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; at++) {
    const lower::Op& op = program_.code[at];
    locate(op);
    if (op.code == Opcode::kLanes) {
      std::size_t last = at;
      while (program_.code[last].code != Opcode::kEndLanes) last++;
      LaneBlocks(*this, at, last).run();
      at = last;
    } else if (const auto last = op.code == Opcode::kFor ? end_of_unrolled(at) : std::nullopt) {
      unroll(at, *last);
      at = *last;
    } else {
      expand(op);
    }
  }
}

std::optional<std::size_t> Expander::end_of_unrolled(std::size_t begin) const {
  // Threshold: Trips and ops of an inner loop that is unrolled: code size against counting and
  // addressing. Not measured alone; nbody in bench/anchors runs it (bench/README.md).
  constexpr std::int64_t kMostTrips = 8, kMostOps = 256;
  if (open_.empty()) return std::nullopt;
  absl::InlinedVector<std::int64_t, 4> times{1};  // how often an op would be repeated
  std::int64_t ops = 0;
  // Only addresses have constant indices; a program has no other ops with all operands constant.
  absl::InlinedVector<Value, 4> indices;
  const auto is_index = [&](Value v) {
    return std::find(indices.begin(), indices.end(), v) != indices.end();
  };
  for (std::size_t at = begin; ops <= kMostOps; at++) {
    const lower::Op& op = program_.code[at];
    switch (op.code) {
      case Opcode::kFor: {
        const lower::For& loop = program_.fors[op.bits];
        if (!loop.trips || *loop.trips > kMostTrips || loop.polls || loop.loop != lower::kNoLoop ||
            !is_constant(loop.lower))
          return std::nullopt;
        indices.push_back(loop.index);
        for (const lower::Carry& carry : loop.carries) {
          if (is_index(carry.init) || is_index(carry.next)) return std::nullopt;
        }
        times.push_back(times.back() * *loop.trips);
        break;
      }
      case Opcode::kLanes: {
        const lower::Lanes& lanes = program_.lanes[op.bits];
        if (!LaneBlocks::is_written_out(lanes)) return std::nullopt;
        times.push_back(times.back() * (1 + *lanes.known_count / 8));
        break;
      }
      case Opcode::kEndFor:
        times.pop_back();
        if (times.size() == 1) return at;
        break;
      case Opcode::kEndLanes:
        times.pop_back();
        break;
      case Opcode::kCall:
        return std::nullopt;
      default:
        if (op.code >= Opcode::kFor) return std::nullopt;
        if (is_index(op.a) || is_index(op.b) || is_index(op.c)) return std::nullopt;
        ops += times.back();
    }
  }
  return std::nullopt;
}

void Expander::unroll(std::size_t begin, std::size_t end) {
  const lower::For& loop = program_.fors[program_.code[begin].bits];
  for (const lower::Carry& carry : loop.carries) units_[carry.param] = in_register(carry.init);
  const auto first = static_cast<std::int64_t>(out_.units[unit_of(loop.lower)].bits);
  absl::InlinedVector<Unit, 2> next;
  for (std::int64_t trip = 0; trip < *loop.trips; trip++) {
    units_[loop.index] = constant(Type::kS64, static_cast<std::uint64_t>(first + trip * loop.step));
    expand_range(begin + 1, end);
    next.clear();
    for (const lower::Carry& carry : loop.carries) next.push_back(unit_of(carry.next));
    for (std::size_t c = 0; c < next.size(); c++) units_[loop.carries[c].param] = next[c];
  }
  for (const lower::Carry& carry : loop.carries) {
    if (carry.result != lower::kNone) units_[carry.result] = unit_of(carry.param);
  }
}

Unit Expander::in_register(Value v) {
  if (!is_constant(v)) return unit_of(v);
  Instruction i;
  i.kind = Kind::kMove;
  i.type = program_.types[v];
  i.a = unit_of(v);
  i.result = new_unit(i.type);
  return add(i).result;
}

Unit Expander::tail_mask(int lanes, Unit left) {
  Instruction i;
  i.kind = Kind::kTailMask;
  i.type = Type::kPred;
  i.lanes = static_cast<std::uint8_t>(lanes);
  i.a = left;
  if (!out_.units[left].constant) {
    i.result = new_unit(Type::kPred, lanes);
    return add(i).result;
  }
  const auto [known, is_new] = tail_masks_.try_emplace({lanes, out_.units[left].bits}, 0);
  if (!is_new) return known->second;
  i.result = known->second = new_unit(Type::kPred, lanes);
  return add(i).result;
}

void Expander::expand(const lower::Op& op) {
  locate(op);
  if (op.code >= Opcode::kFor) return expand_control(op);
  Instruction i;
  i.op = op.code, i.type = op.type, i.from = op.from;
  i.bits = op.bits;
  switch (op.code) {
    case Opcode::kConstant:
      units_[op.result] = constant(op.type, op.bits);
      return;
    case Opcode::kBase:
      i.kind = Kind::kBase;
      break;
    case Opcode::kView:
      i.kind = Kind::kAddress;
      i.bits = add_address(address_of(program_.views[op.bits].address));
      break;
    case Opcode::kLoad:
      i.kind = Kind::kLoad;
      i.bits = add_address(address_of(op.bits));
      break;
    case Opcode::kStore:
      i.kind = Kind::kStore;
      i.type = program_.types[op.a];
      i.bits = add_address(address_of(op.bits));
      break;
    case Opcode::kMathCall:
      i.kind = Kind::kMathCall;
      break;
    case Opcode::kCopy: {
      const lower::Copy& copy = program_.copies[op.bits];
      i.kind = Kind::kCopy;
      i.bits = static_cast<std::uint64_t>(copy.bytes);
      i.a = pointer_to(copy.from);
      i.b = pointer_to(copy.to);
      add(i);
      return;
    }
    case Opcode::kCall: {
      const lower::Call& call = program_.calls[op.bits];
      MachineCall machine_call{call.kernel.get(), {}};
      for (Value pointer : call.pointers) machine_call.pointers.push_back(unit_of(pointer));
      i.kind = Kind::kCall;
      i.bits = out_.calls.size();
      out_.calls.push_back(std::move(machine_call));
      add(i);
      mark_visible();
      return;
    }
    case Opcode::kTapeRead:
    case Opcode::kTapeWrite:
      i.kind = Kind::kTapeRow;
      i.a = unit_of(op.a);
      // The rare path stores the trips of the innermost loop itself.
      i.b = innermost_counter();
      i.result = define(op.result);
      add(i);
      mark_visible(i.b != 0);
      return;
    case Opcode::kTapeSet:
      i.kind = Kind::kTapeSet;
      add(i);
      mark_visible();
      return;
    default:
      break;
  }
  if (op.a != lower::kNone) i.a = unit_of(op.a);
  if (op.b != lower::kNone) i.b = unit_of(op.b);
  if (op.c != lower::kNone) i.c = unit_of(op.c);
  i.result = define(op.result);
  add_computation(i);
}

void Expander::expand_control(const lower::Op& op) {
  switch (op.code) {
    case Opcode::kFor:
      return begin_for(op);
    case Opcode::kRepeat:
      return begin_while(op);
    case Opcode::kTest:
      return test(op);
    case Opcode::kEndFor:
      end_loop(program_.fors[op.bits].carries);
      return report_trips(Kind::kLaneTrips, program_.fors[op.bits].lane_loops);
    case Opcode::kEndRepeat:
      return end_loop(program_.whiles[op.bits].carries);
    default:
      return expand_branch(op);
  }
}

void Expander::test(const lower::Op& op) {
  Instruction i;
  i.op = op.code, i.type = op.type, i.from = op.from;
  i.kind = Kind::kTest;
  i.bits = open_.back().number;
  i.a = unit_of(program_.whiles[op.bits].predicate);
  add(i);
  add_trip();
}

void Expander::end_loop(const std::vector<lower::Carry>& carries) {
  MachineLoop& loop = out_.loops[open_.back().number];
  for (std::size_t c = 0; c < carries.size(); c++) {
    loop.carries[c].next = unit_of(carries[c].next);
    loop.carries[c].result = define(carries[c].result);
  }
  end_loop();
}

void Expander::expand_branch(const lower::Op& op) {
  const lower::If& from = program_.ifs[op.bits];
  tail_masks_.clear();
  Instruction i;
  i.op = op.code, i.type = op.type, i.from = op.from;
  if (op.code == Opcode::kIf) {
    i.kind = Kind::kIf;
    i.a = unit_of(from.predicate);
    i.bits = out_.branches.size();
    out_.branches.emplace_back();
    open_.push_back({Opcode::kIf, static_cast<std::uint32_t>(i.bits)});
  } else if (op.code == Opcode::kElse) {
    i.kind = Kind::kElse;
    i.bits = open_.back().number;
    for (const lower::If::Result& result : from.results)
      out_.branches[i.bits].results.push_back({unit_of(result.then), 0, 0});
  } else {
    i.kind = Kind::kEndIf;
    i.bits = open_.back().number;
    for (std::size_t r = 0; r < from.results.size(); r++) {
      out_.branches[i.bits].results[r].otherwise = unit_of(from.results[r].otherwise);
      out_.branches[i.bits].results[r].result = define(from.results[r].result);
    }
    open_.pop_back();
  }
  add(i);
}

void Expander::begin_for(const lower::Op& op) {
  const lower::For& from = program_.fors[op.bits];
  MachineLoop loop;
  loop.lower = unit_of(from.lower), loop.upper = unit_of(from.upper);
  loop.index = define(from.index);
  loop.step = from.step;
  for (const lower::Carry& carry : from.carries)
    loop.carries.push_back({unit_of(carry.init), define(carry.param), 0, 0});
  const Unit index = loop.index;
  open_loop(Opcode::kFor, std::move(loop), from.loop, from.loop == lower::kNoLoop ? 0 : index);
  open_.back().independent = from.independent;
  if (from.polls) poll();
}

void Expander::begin_while(const lower::Op& op) {
  const lower::While& from = program_.whiles[op.bits];
  MachineLoop loop;
  for (const lower::Carry& carry : from.carries)
    loop.carries.push_back({unit_of(carry.init), define(carry.param), 0, 0});
  open_loop(Opcode::kRepeat, std::move(loop), from.loop, unit_of(from.trips));
}

/// Returns its number among the machine's loops.
std::uint32_t Expander::open_loop(Opcode opened, MachineLoop loop, std::uint32_t report,
                                  Unit trips) {
  tail_masks_.clear();
  Open open{opened, static_cast<std::uint32_t>(out_.loops.size())};
  open.report = report;
  open.trips = trips;
  out_.loops.push_back(std::move(loop));
  if (report != lower::kNoLoop) {
    Instruction begin;
    begin.kind = Kind::kTripsBegin;
    begin.type = Type::kS64;
    begin.bits = report;
    begin.result = open.counter = new_unit(Type::kS64);
    const lower::LoopInfo& info = program_.loops[report];
    begin.a = unit_of(info.trips);
    open.begin = out_.code.size();
    add(begin);
  }
  Instruction i;
  i.kind = opened == Opcode::kFor ? Kind::kForBegin : Kind::kRepeatBegin;
  i.bits = open.number;
  add(i);
  open_.push_back(open);
  // A while begins its trip after its test.
  if (opened == Opcode::kFor) add_trip();
  return open.number;
}

LaneFacts& Expander::lane_facts() {
  if (!lane_facts_) lane_facts_.emplace(program_);
  return *lane_facts_;
}

void Expander::add_trip() {
  if (open_.back().report == lower::kNoLoop) return;
  Instruction i;
  i.bits = open_.back().report;
  const LoopReport& report = out_.loop_reports[i.bits];
  i.kind = report.polls || report.most_trips != INT64_MAX ? Kind::kTrip : Kind::kCount;
  if (i.kind == Kind::kTrip) mark_visible(true);
  i.a = open_.back().counter;
  i.b = open_.back().trips;
  i.visible = open_.back().visible;
  std::vector<Unit>& state = out_.loop_reports[i.bits].state;
  for (const lower::CarriedLeaf& leaf : program_.loops[i.bits].state) {
    for (const lower::Value part : leaf.parts) state.push_back(unit_of(part));
  }
  open_.back().trip = out_.code.size();
  add(i);
}

/// An op that may report where it is: the enclosing loops keep their trip counts up to date.
void Expander::mark_visible(bool but_innermost) {
  for (std::size_t o = open_.size(); o-- > 0;) {
    if (open_[o].report == lower::kNoLoop) continue;
    if (std::exchange(but_innermost, false)) continue;
    if (open_[o].trip == 0) {
      open_[o].visible = true;
      continue;
    }
    Instruction& trip = out_.code[open_[o].trip];
    if (trip.visible) return;
    trip.visible = true;
  }
}

void Expander::report_trips(Kind kind, std::span<const std::uint32_t> loops) {
  for (const std::uint32_t loop : loops) {
    Instruction i;
    i.kind = kind;
    i.bits = loop;
    add(i);
  }
}

void Expander::poll() {
  Instruction i;
  i.kind = Kind::kPoll;
  i.bits = lower::kNoLoop;
  for (const Open& open : open_) {
    if (open.report != lower::kNoLoop) i.bits = open.report;
  }
  add(i);
  mark_visible();
}

/// The trip count of the innermost loop that reports it; 0 if there is none, or before its test.
Unit Expander::innermost_counter() {
  for (std::size_t o = open_.size(); o-- > 0;) {
    if (open_[o].report == lower::kNoLoop) continue;
    open_[o].reads_counter = true;
    return open_[o].trip == 0 ? 0 : open_[o].counter;
  }
  return 0;
}

void Expander::end_loop() {
  tail_masks_.clear();
  const Open open = open_.back();
  open_.pop_back();
  Instruction i;
  i.kind = open.opened == Opcode::kFor ? Kind::kForEnd : Kind::kRepeatEnd;
  i.bits = open.number;
  add(i);
  if (open.report != lower::kNoLoop) {
    out_.code[open.begin].visible = open.trip == 0 ? open.visible : out_.code[open.trip].visible;
    i.kind = Kind::kTripsEnd;
    i.bits = open.report;
    i.a = open.counter;
    i.visible = open_.empty();
    const MachineLoop& loop = out_.loops[open.number];
    for (const MachineCarry& carry : loop.carries) {
      if (open.trips != 0 && carry.param == open.trips) i.a = carry.result;
    }
    if (open.opened == Opcode::kFor) {
      i.a = loop.upper;
      const UnitInfo& lower = out_.units[loop.lower];
      if (!lower.constant || lower.bits != 0) i.b = loop.lower;
      Instruction& trip = out_.code[open.trip];
      if (trip.kind == Kind::kCount && !trip.visible && !open.reads_counter) {
        trip = {};
        trip.kind = Kind::kNop;
      }
    }
    add(i);
  }
}

void Expander::begin_counted(Unit index, Unit lower, Unit upper, std::int64_t step) {
  MachineLoop loop;
  loop.index = index, loop.lower = lower, loop.upper = upper, loop.step = step;
  open_loop(Opcode::kFor, std::move(loop), lower::kNoLoop);
}

}  // namespace rondo::native_code
