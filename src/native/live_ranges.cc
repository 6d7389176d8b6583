#include "native/live_ranges.h"

#include <algorithm>

namespace rondo::native_code {

namespace {

struct Range {
  Time begin = UINT32_MAX, end = 0;
  float weight = 0;
  std::uint32_t depth = 0;  // the loops that enclose the definition
};

/// One pass. A value that is defined outside a loop and read inside is live to the loop's end,
/// since the next trip reads it again.
class RangeBuilder {
 public:
  explicit RangeBuilder(const MachineCode& code) : code_(code), ranges_(code.units.size()) {}

  std::vector<Range> run() {
    find_loop_ends();
    for (std::size_t i = 0; i < code_.code.size(); i++) {
      const Instruction& instruction = code_.code[i];
      const Time at = static_cast<Time>(2 * i);
      if (ends_loop(instruction.kind)) {
        // The values for the next trip are read inside the loop, the results are written outside.
        for_each_read(code_, instruction, [&](Unit u, bool late) { read(u, at + late); });
        open_.pop_back();
      } else {
        for_each_read(code_, instruction, [&](Unit u, bool late) { read(u, at + late); });
      }
      if (begins_loop(instruction.kind)) open_.push_back(end_of_loop_[instruction.bits]);
      for_each_write(code_, instruction, [&](Unit u) { write(u, at + 1); });
      if (instruction.kind == Kind::kForBegin) {
        // The end of a trip reads these.
        const MachineLoop& loop = code_.loops[instruction.bits];
        const Time end = static_cast<Time>(2 * open_.back() + 1);
        read(loop.index, end);
        read(loop.upper, end);
      }
    }
    return std::move(ranges_);
  }

 private:
  void find_loop_ends() {
    end_of_loop_.resize(code_.loops.size());
    for (std::size_t i = 0; i < code_.code.size(); i++) {
      if (ends_loop(code_.code[i].kind))
        end_of_loop_[code_.code[i].bits] = static_cast<std::uint32_t>(i);
    }
  }

  float weight_here() const {
    float weight = 1;
    for (std::size_t i = 0; i < std::min<std::size_t>(open_.size(), 6); i++) weight *= 8;
    return weight;
  }

  void write(Unit u, Time at) {
    if (code_.units[u].constant) return;
    Range& range = ranges_[u];
    range.begin = std::min(range.begin, at);
    range.end = std::max(range.end, at);
    range.weight += weight_here();
    range.depth = static_cast<std::uint32_t>(open_.size());
  }

  void read(Unit u, Time at) {
    if (u == 0 || code_.units[u].constant) return;
    Range& range = ranges_[u];
    if (open_.size() > range.depth) at = std::max(at, 2 * open_[range.depth] + 1);
    range.end = std::max(range.end, at);
    range.weight += weight_here();
  }

  const MachineCode& code_;
  std::vector<Range> ranges_;
  std::vector<std::uint32_t> end_of_loop_;
  std::vector<std::uint32_t> open_;  // the ends of the enclosing loops
};

/// Coalesces the carries of a loop with their initial values and results if their ranges do not
/// overlap, and what else the target has in one register; the emitter moves the rest.
class Coalescer {
 public:
  Coalescer(const MachineCode& code, const std::vector<Range>& ranges, const Target& target)
      : code_(code),
        ranges_(ranges),
        target_(target),
        head_(code.units.size()),
        tail_(code.units.size()),
        next_(code.units.size()),
        size_(code.units.size(), 1) {
    for (Unit u = 0; u < code.units.size(); u++) head_[u] = tail_[u] = u;
  }

  void run() {
    for (const MachineLoop& loop : code_.loops) {
      for (const MachineCarry& carry : loop.carries) join(carry.param, carry.result);
    }
    for (const MachineLoop& loop : code_.loops) {
      for (const MachineCarry& carry : loop.carries) join(carry.param, carry.next);
    }
    for (const MachineLoop& loop : code_.loops) {
      for (const MachineCarry& carry : loop.carries) join(carry.param, carry.init);
      if (loop.index != 0) join(loop.index, loop.lower);
    }
    for (const MachineBranch& branch : code_.branches) {
      for (const MachineBranch::Result& result : branch.results) {
        join(result.result, result.then);
        join(result.result, result.otherwise);
      }
    }
    if (!target_.fused.adds_in_place) return;
    for (const Instruction& i : code_.code) {
      const bool adds = i.op == lower::Opcode::kFma || i.op == lower::Opcode::kFnma ||
                        i.op == lower::Opcode::kFms;
      if (i.kind == Kind::kCompute && adds && i.lanes > 1) join(i.result, i.c);
    }
  }

  Unit representative(Unit u) {
    while (head_[u] != u) u = head_[u] = head_[head_[u]];
    return u;
  }

 private:
  bool placed(Unit u) const {
    return u != 0 && !code_.units[u].constant && ranges_[u].begin != UINT32_MAX;
  }

  void join(Unit a, Unit b) {
    if (!placed(a) || !placed(b)) return;
    a = representative(a), b = representative(b);
    if (a == b ||
        register_class_of(code_.units[a], target_) != register_class_of(code_.units[b], target_))
      return;
    // Bundles are small except in deep loop nests, where moves are cheaper than this search.
    if (std::uint64_t{size_[a]} * size_[b] > kMostComparisons) return;
    for (Unit x = a; x != 0; x = next_[x]) {
      for (Unit y = b; y != 0; y = next_[y]) {
        if (ranges_[x].begin <= ranges_[y].end && ranges_[y].begin <= ranges_[x].end) return;
      }
    }
    if (size_[a] < size_[b]) std::swap(a, b);
    next_[tail_[a]] = b;
    tail_[a] = tail_[b];
    size_[a] += size_[b];
    head_[b] = a;
  }

  // Threshold: Range comparisons to join two bundles: compile time against a move. Not measured.
  static constexpr std::uint64_t kMostComparisons = 4096;

  const MachineCode& code_;
  const std::vector<Range>& ranges_;
  const Target& target_;
  std::vector<Unit> head_, tail_, next_;
  std::vector<std::uint32_t> size_;
};

std::uint16_t bytes_of(const UnitInfo& unit, RegisterClass register_class) {
  if (register_class == RegisterClass::kMask || unit.lanes == 1) return 8;
  return static_cast<std::uint16_t>(unit.lanes * (wide(unit.type) ? 8 : 4));
}

}  // namespace

bool may_call(const Instruction& instruction) {
  using lower::Opcode;
  using lower::Type;
  switch (instruction.kind) {
    case Kind::kCall:
    case Kind::kTapeRow:
    case Kind::kTapeSet:
    case Kind::kMathCall:
    case Kind::kTrip:
    case Kind::kPoll:
      return true;
    case Kind::kCompute:
      if (instruction.op == Opcode::kRemainder) return floating(instruction.type);
      // Rounding to f32 first would round twice, so C++ does it.
      return instruction.op == Opcode::kConvert && instruction.lanes == 1 &&
             half_float(instruction.type) && width_of(instruction.from) >= 4 &&
             instruction.from != Type::kF32;
    default:
      return false;
  }
}

void for_each_read(const MachineCode& code, const Instruction& i,
                   absl::FunctionRef<void(Unit, bool)> read) {
  const bool in_place = i.kind == Kind::kTrip || i.kind == Kind::kCount;
  if (i.a != 0) read(i.a, in_place);
  if (i.b != 0) read(i.b, false);
  if (i.c != 0) read(i.c, false);
  if (i.mask != 0) read(i.mask, false);
  switch (i.kind) {
    case Kind::kAddress:
    case Kind::kLoad:
    case Kind::kStore: {
      const MachineAddress& address = code.addresses[i.bits];
      read(address.base, false);
      for (const MachineAddress::Term& term : address.terms) read(term.index, false);
      if (address.lane_index != 0) read(address.lane_index, false);
      break;
    }
    case Kind::kTrip:
      for (Unit part : code.loop_reports[i.bits].state) read(part, false);
      break;
    case Kind::kCall:
      for (Unit pointer : code.calls[i.bits].pointers) read(pointer, false);
      break;
    case Kind::kForBegin:
    case Kind::kRepeatBegin:
      if (i.kind == Kind::kForBegin) {
        read(code.loops[i.bits].lower, false);
        read(code.loops[i.bits].upper, true);
      }
      for (const MachineCarry& carry : code.loops[i.bits].carries) read(carry.init, false);
      break;
    case Kind::kTest:
      // The loop may end here, with these as its results.
      for (const MachineCarry& carry : code.loops[i.bits].carries) {
        if (carry.result != 0) read(carry.param, false);
      }
      break;
    case Kind::kForEnd:
    case Kind::kRepeatEnd:
      for (const MachineCarry& carry : code.loops[i.bits].carries) read(carry.next, false);
      break;
    case Kind::kElse:
      for (const auto& result : code.branches[i.bits].results) read(result.then, false);
      break;
    case Kind::kEndIf:
      for (const auto& result : code.branches[i.bits].results) read(result.otherwise, false);
      break;
    default:
      break;
  }
}

void for_each_write(const MachineCode& code, const Instruction& i,
                    absl::FunctionRef<void(Unit)> write) {
  if (i.result != 0) write(i.result);
  switch (i.kind) {
    case Kind::kForBegin:
    case Kind::kRepeatBegin:
      if (i.kind == Kind::kForBegin) write(code.loops[i.bits].index);
      for (const MachineCarry& carry : code.loops[i.bits].carries) write(carry.param);
      break;
    case Kind::kForEnd:
    case Kind::kRepeatEnd:
      for (const MachineCarry& carry : code.loops[i.bits].carries) {
        if (carry.result != 0) write(carry.result);
      }
      break;
    case Kind::kEndIf:
      for (const auto& result : code.branches[i.bits].results) write(result.result);
      break;
    default:
      break;
  }
}

RegisterClass register_class_of(const UnitInfo& unit, const Target& target) {
  if (unit.lanes > 1) {
    return unit.type == lower::Type::kPred && target.has_masks() ? RegisterClass::kMask
                                                                 : RegisterClass::kVector;
  }
  return floating(unit.type) ? RegisterClass::kVector : RegisterClass::kGeneral;
}

LiveRanges live_ranges(const MachineCode& code, const Target& target) {
  const std::vector<Range> ranges = RangeBuilder(code).run();
  Coalescer coalescer(code, ranges, target);
  coalescer.run();
  LiveRanges out;
  out.bundle_of.resize(code.units.size());
  for (Unit u = 1; u < code.units.size(); u++) {
    const Range& range = ranges[u];
    if (code.units[u].constant || range.begin == UINT32_MAX) continue;
    const Unit representative = coalescer.representative(u);
    std::uint32_t& number = out.bundle_of[representative];
    if (number == 0) {
      number = static_cast<std::uint32_t>(out.bundles.size());
      Bundle& bundle = out.bundles.emplace_back();
      bundle.register_class = register_class_of(code.units[u], target);
      bundle.begin = range.begin, bundle.end = range.end;
    }
    Bundle& bundle = out.bundles[number];
    bundle.begin = std::min(bundle.begin, range.begin);
    bundle.end = std::max(bundle.end, range.end);
    bundle.weight += range.weight;
    bundle.bytes = std::max(bundle.bytes, bytes_of(code.units[u], bundle.register_class));
    out.bundle_of[u] = number;
  }
  for (std::size_t i = 0; i < code.code.size(); i++) {
    if (may_call(code.code[i])) out.calls.push_back(static_cast<std::uint32_t>(i));
  }
  for (Bundle& bundle : out.bundles) {
    const auto call = std::lower_bound(out.calls.begin(), out.calls.end(), bundle.begin / 2 + 1);
    bundle.crosses_call = call != out.calls.end() && 2 * *call < bundle.end;
  }
  return out;
}

}  // namespace rondo::native_code
