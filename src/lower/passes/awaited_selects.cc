#include "lower/passes/awaited_selects.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

// Threshold: Cycles by which a predicate is later than what it selects from, for a branch: a
// quarter of what a wrong prediction costs, since one in four may be wrong. Set by rondo_workloads,
// of which none is slower; other numbers were not tried.
constexpr std::int64_t kLate = 4;
// Threshold: The part of a trip's cycles that branches have to save, one in so many: a branch may
// be predicted badly. Set by rondo_workloads, as the one before.
constexpr std::int64_t kSavedPart = 8;

/// What trips of a loop hand to the next ones, as bits: its carries, then memory that it stores to.
using Handed = std::uint64_t;
constexpr std::size_t kMostHanded = 64;

/// A loop outside lanes: the positions of its two ends.
struct Loop {
  std::size_t begin, end;
};

/// Loops that hold selects, but no lanes, calls and the like, and at most one level of loops: so an
/// op is in at most two of them.
std::vector<Loop> loops_with_selects(const Program& program) {
  struct Open {
    std::size_t begin;
    int height = 0;
    bool fits = true, selects = false;
  };
  std::vector<Loop> found;
  std::vector<Open> open;
  bool in_lanes = false;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Opcode code = program.code[at].code;
    if (code == Opcode::kLanes || code == Opcode::kEndLanes) in_lanes = code == Opcode::kLanes;
    if (in_lanes || code == Opcode::kEndLanes || code == Opcode::kCall || code == Opcode::kCopy ||
        code == Opcode::kTapeSet || code == Opcode::kTapeWrite || code == Opcode::kTapeRead) {
      if (!open.empty()) open.back().fits = false;
    } else if (code == Opcode::kFor || code == Opcode::kRepeat) {
      open.push_back({at});
    } else if (code == Opcode::kSelect) {
      if (!open.empty()) open.back().selects = true;
    } else if (code == Opcode::kEndFor || code == Opcode::kEndRepeat) {
      const Open inner = open.back();
      open.pop_back();
      if (inner.fits && inner.selects && inner.height < 2) found.push_back({inner.begin, at});
      if (open.empty()) continue;
      open.back().height = std::max(open.back().height, inner.height + 1);
      open.back().fits = open.back().fits && inner.fits;
      open.back().selects = open.back().selects || inner.selects;
    }
  }
  return found;
}

class AwaitedSelects {
 public:
  explicit AwaitedSelects(Program& program)
      : p_(program),
        marked_(program.code.size(), false),
        ready_(program.types.size(), 0),
        from_(program.types.size(), 0),
        to_(program.types.size(), 0) {}

  void run() {
    for (const Loop& loop : loops_with_selects(p_)) visit(loop);
    for (std::size_t at = 0; at < p_.code.size(); at++) {
      if (marked_[at]) p_.code[at].bits = kAwaited;
    }
  }

 private:
  void visit(const Loop& loop) {
    loop_ = loop;
    memory_.clear();
    for (std::size_t at = loop.begin; at < loop.end; at++) {
      if (p_.code[at].code == Opcode::kStore)
        memory_.try_emplace(base_of(at), carries().size() + memory_.size());
    }
    const std::size_t handed = carries().size() + memory_.size();
    if (handed == 0 || handed > kMostHanded) return;
    find_readers();
    // Of two predicates the earlier one may be late where what it selects no longer waits for the
    // other one.
    constexpr int kRounds = 2;
    for (int round = 0; round < kRounds; round++) {
      time_trips();
      if (!mark_late()) break;
    }
    // Later loops read what this one gives as known.
    for (std::size_t at = loop.begin; at <= loop.end; at++) {
      for_each_result(p_.code[at],
                      [&](Value value) { ready_[value] = 0, from_[value] = to_[value] = 0; });
    }
  }

  /// A select, and what is handed on through its predicate and itself.
  struct Late {
    std::size_t at;
    Handed through;
  };

  /// False if there is none.
  bool mark_late() {
    const std::vector<Handed> before = all_before();
    std::vector<Late> late;
    for (std::size_t at = loop_.begin; at < loop_.end; at++) {
      const Op& op = p_.code[at];
      if (op.code != Opcode::kSelect || marked_[at]) continue;
      if (ready_[op.a] - std::max(ready_[op.b], ready_[op.c]) < kLate) continue;
      Handed through = 0;
      for_each_bit(from_[op.a], [&](std::size_t k) { through |= before[k]; });
      through &= to_[op.result];
      if (through != 0) late.push_back({at, through});
    }
    if (late.empty()) return false;
    std::vector<std::int64_t> cycles;
    for (const HandedOn& it : handed_) cycles.push_back(it.ready - it.before);
    for (const auto& [at, through] : late) marked_[at] = true;
    time_trips();
    const auto saves = [&](std::size_t i) {
      const std::int64_t saved = cycles[i] - (handed_[i].ready - handed_[i].before);
      return saved > 0 && saved * kSavedPart >= cycles[i];
    };
    bool any = false;
    for (const auto& [at, through] : late) {
      bool does = false;
      for_each_bit(through, [&](std::size_t k) { does = does || saves(k); });
      marked_[at] = does;
      any = any || does;
    }
    return any;
  }

  const std::vector<Carry>& carries_of(const Op& op) const {
    return op.code == Opcode::kFor || op.code == Opcode::kEndFor ? p_.fors[op.bits].carries
                                                                 : p_.whiles[op.bits].carries;
  }
  const std::vector<Carry>& carries() const { return carries_of(p_.code[loop_.begin]); }
  Value base_of(std::size_t at) const { return p_.addresses[p_.code[at].bits].base; }

  template <class F>
  void for_each_result(const Op& op, F&& f) const {
    switch (op.code) {
      case Opcode::kFor:
      case Opcode::kRepeat:
        for (const Carry& carry : carries_of(op)) f(carry.param);
        return;
      case Opcode::kEndFor:
      case Opcode::kEndRepeat:
        for (const Carry& carry : carries_of(op)) f(carry.result);
        return;
      case Opcode::kEndIf:
        for (const If::Result& result : p_.ifs[op.bits].results) f(result.result);
        return;
      default:
        if (op.result != kNone) f(op.result);
    }
  }

  /// When all is ready after some trips, where nothing but what they wait for limits them.
  void time_trips() {
    handed_.assign(carries().size() + memory_.size(), {});
    constexpr int kTrips = 4;
    for (int trip = 0; trip < kTrips; trip++) walk_trip();
  }

  /// When each value of a trip is ready, and what that was handed on it depends on.
  void walk_trip() {
    for (std::size_t i = 0; i < carries().size(); i++) {
      ready_[carries()[i].param] = handed_[i].ready;
      from_[carries()[i].param] = Handed{1} << i;
    }
    for (HandedOn& it : handed_) it.before = it.ready;
    for (std::size_t at = loop_.begin + 1; at < loop_.end; at++) walk(at);
    for (std::size_t i = 0; i < carries().size(); i++) {
      handed_[i].ready = ready_[carries()[i].next];
      handed_[i].from = from_[carries()[i].next];
    }
  }

  /// `to` follows from both.
  void join(Value to, Value a, Value b) {
    ready_[to] = std::max(ready_[a], ready_[b]);
    from_[to] = from_[a] | from_[b];
  }

  void walk(std::size_t at) {
    const Op& op = p_.code[at];
    switch (op.code) {
      case Opcode::kFor:
      case Opcode::kRepeat:
        for (const Carry& carry : carries_of(op)) {
          ready_[carry.param] = ready_[carry.init];
          from_[carry.param] = from_[carry.init] | from_[carry.next];
        }
        return;
      case Opcode::kEndFor:
      case Opcode::kEndRepeat:
        for (const Carry& carry : carries_of(op)) join(carry.result, carry.init, carry.next);
        return;
      case Opcode::kEndIf:
        for (const If::Result& it : p_.ifs[op.bits].results) join(it.result, it.then, it.otherwise);
        return;
      case Opcode::kStore: {
        HandedOn& memory = handed_[memory_.at(base_of(at))];
        const auto store = [&](Value value) {
          memory.ready = std::max(memory.ready, ready_[value]);
          memory.from |= from_[value];
        };
        store(op.a);
        for (const Address::Term& term : p_.addresses[op.bits].terms) store(term.index);
        return;
      }
      default:
        break;
    }
    if (op.result == kNone) return;
    std::int64_t& ready = ready_[op.result];
    Handed& from = from_[op.result];
    ready = 0, from = 0;
    const auto read = [&](Value value) {
      ready = std::max(ready, ready_[value]);
      from |= from_[value];
    };
    read(op.b);
    read(op.c);
    if (!marked_[at]) {
      read(op.a);
    } else {
      from |= from_[op.a];
    }
    for_each_address(p_, op, [&](std::uint64_t index) {
      for (const Address::Term& term : p_.addresses[index].terms) read(term.index);
    });
    if (op.code == Opcode::kLoad) {
      if (const auto memory = memory_.find(base_of(at)); memory != memory_.end()) {
        ready = std::max(ready, handed_[memory->second].ready);
        from |= Handed{1} << memory->second;
      }
    }
    if (!marked_[at]) ready += op_latency(op);
  }

  /// Which of what is handed on depends on each value.
  void find_readers() {
    for (std::size_t i = 0; i < carries().size(); i++) to_[carries()[i].next] |= Handed{1} << i;
    // Twice, since an inner loop reads what it hands on before.
    for (int time = 0; time < 2; time++) {
      for (std::size_t at = loop_.end; at-- > loop_.begin + 1;) {
        const Op& op = p_.code[at];
        switch (op.code) {
          case Opcode::kFor:
          case Opcode::kRepeat:
            for (const Carry& carry : carries_of(op)) to_[carry.init] |= to_[carry.param];
            break;
          case Opcode::kEndFor:
          case Opcode::kEndRepeat:
            for (const Carry& carry : carries_of(op)) {
              to_[carry.next] |= to_[carry.result] | to_[carry.param];
              to_[carry.init] |= to_[carry.result];
            }
            break;
          case Opcode::kEndIf:
            for (const If::Result& it : p_.ifs[op.bits].results) {
              to_[it.then] |= to_[it.result];
              to_[it.otherwise] |= to_[it.result];
            }
            break;
          case Opcode::kStore: {
            const Handed memory = Handed{1} << memory_.at(base_of(at));
            to_[op.a] |= memory;
            for (const Address::Term& term : p_.addresses[op.bits].terms) to_[term.index] |= memory;
            break;
          }
          default:
            if (op.result == kNone) break;
            for (const Value value : {op.a, op.b, op.c}) to_[value] |= to_[op.result];
            for_each_address(p_, op, [&](std::uint64_t index) {
              for (const Address::Term& term : p_.addresses[index].terms)
                to_[term.index] |= to_[op.result];
            });
        }
      }
    }
    to_[kNone] = 0;
  }

  /// For each thing that is handed on, what it depends on, in this trip or before, and itself.
  std::vector<Handed> all_before() const {
    std::vector<Handed> before(handed_.size());
    for (std::size_t i = 0; i < handed_.size(); i++) {
      Handed& all = before[i];
      for (Handed more = Handed{1} << i; more != all;) {
        all = more;
        for_each_bit(all, [&](std::size_t k) { more |= handed_[k].from; });
      }
    }
    return before;
  }

  template <class F>
  static void for_each_bit(Handed bits, F&& f) {
    for (; bits != 0; bits &= bits - 1) f(static_cast<std::size_t>(std::countr_zero(bits)));
  }

  struct HandedOn {
    std::int64_t ready = 0, before = 0;
    Handed from = 0;
  };

  Program& p_;
  std::vector<bool> marked_;  // of each op
  Loop loop_{};
  absl::flat_hash_map<Value, std::size_t> memory_;  // by base: number in handed_
  std::vector<HandedOn> handed_;
  std::vector<std::int64_t> ready_;  // of each value, in cycles; 0 if it is from outside the loop
  std::vector<Handed> from_, to_;    // of each value
};

}  // namespace

void mark_awaited_selects(Program& program) { AwaitedSelects(program).run(); }

}  // namespace rondo::lower
