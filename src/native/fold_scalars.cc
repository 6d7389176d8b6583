#include "native/fold_scalars.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "native/live_ranges.h"

namespace rondo::native_code {

namespace {

using lower::Opcode;
using lower::Type;

constexpr std::uint32_t kUnmade = 0xffffffffu;
/// Threshold: Readers that each repeat a comparison to use the flags; for more, its result takes a
/// register, since the operands would live long. Not measured.
constexpr std::uint32_t kMostReaders = 4;
/// Threshold: Predicates of one condition that are tested one by one, with a branch each, instead
/// of being combined. Not measured.
constexpr std::size_t kMostTests = 4;

bool is_scalar(const Instruction& i) { return i.kind == Kind::kCompute && i.lanes == 1; }
bool is_scalar_comparison(const Instruction& i) {
  return is_scalar(i) && i.op >= Opcode::kEqual && i.op <= Opcode::kGreaterEqual;
}
bool is_test(const Instruction& i) { return i.kind == Kind::kTest || i.kind == Kind::kIf; }
bool asks(const Instruction& i) { return is_test(i) || (is_scalar(i) && i.op == Opcode::kSelect); }
/// Code after it may run a different number of times than code before it.
bool ends_stretch(Kind kind) {
  return kind == Kind::kForBegin || kind == Kind::kForEnd || kind == Kind::kRepeatBegin ||
         kind == Kind::kRepeatEnd || kind == Kind::kIf || kind == Kind::kElse ||
         kind == Kind::kEndIf;
}

class ScalarFolder {
 public:
  ScalarFolder(MachineCode& code, const Target& target)
      : code_(code),
        target_(target),
        reads_(code.units.size()),
        made_(code.units.size(), kUnmade),
        gone_(code.code.size(), false) {
    for (const Instruction& i : code.code) {
      for_each_read(code, i, [&](Unit u, bool) { reads_[u]++; });
    }
  }

  void run() {
    out_.reserve(code_.code.size());
    for (std::size_t at = 0; at < code_.code.size(); at++) {
      Instruction& i = code_.code[at];
      if (is_scalar(i)) {
        if (is_scalar_comparison(i)) put_constant_last(i);
        combine_clamp(i);
        made_[i.result] = static_cast<std::uint32_t>(at);
      }
    }
    std::uint32_t stretch = 0;
    for (std::size_t at = 0; at < code_.code.size(); at++) {
      if (!gone_[at]) visit(at, stretch);
      if (ends_stretch(code_.code[at].kind)) stretch = static_cast<std::uint32_t>(at + 1);
    }
    std::size_t kept = 0;
    for (const Instruction& i : out_) {
      // Comparisons that were copied to each of their readers.
      if (is_scalar(i) && i.result != 0 && reads_[i.result] == 0) continue;
      out_[kept++] = i;
    }
    out_.resize(kept);
    code_.code = std::move(out_);
  }

 private:
  const Instruction* maker(Unit u) const {
    return code_.units[u].constant || made_[u] == kUnmade ? nullptr : &code_.code[made_[u]];
  }

  /// Removes a use; unused values are then not computed.
  void release(Unit u) {
    std::vector<Unit> pending{u};
    while (!pending.empty()) {
      const Unit next = pending.back();
      pending.pop_back();
      if (--reads_[next] != 0 || maker(next) == nullptr) continue;
      gone_[made_[next]] = true;
      const Instruction& i = code_.code[made_[next]];
      for_each_read(code_, i, [&](Unit operand, bool) { pending.push_back(operand); });
    }
  }

  bool is_likely_bound(const Instruction* i, Opcode op) const {
    return i != nullptr && i->op == op && i->bits == lower::kRarelyBounds &&
           i->type == Type::kS64 && i->mask == 0;
  }
  Unit bound_of(const Instruction& i) const { return code_.units[i.a].constant ? i.a : i.b; }

  /// Integers are compared with a constant that is part of the instruction.
  void put_constant_last(Instruction& i) {
    if (floating(i.from) || !code_.units[i.a].constant || code_.units[i.b].constant) return;
    constexpr Opcode kMirrored[] = {Opcode::kEqual,        Opcode::kNotEqual, Opcode::kGreater,
                                    Opcode::kGreaterEqual, Opcode::kLess,     Opcode::kLessEqual};
    std::swap(i.a, i.b);
    i.op = kMirrored[static_cast<int>(i.op) - static_cast<int>(Opcode::kEqual)];
  }

  /// min(max(convert(x), 0), room).
  void combine_clamp(Instruction& i) {
    if (!is_likely_bound(&i, Opcode::kMin)) return;
    const Unit room = bound_of(i);
    const Unit inner = room == i.a ? i.b : i.a;
    const Instruction* const lower = maker(inner);
    if (!is_likely_bound(lower, Opcode::kMax)) return;
    const Unit zero = bound_of(*lower);
    const auto most = static_cast<std::int64_t>(code_.units[room].bits);
    if (!code_.units[room].constant || !code_.units[zero].constant || code_.units[zero].bits != 0 ||
        most < 0 || most != static_cast<std::int32_t>(most))
      return;
    Unit index = zero == lower->a ? lower->b : lower->a;
    const Instruction* const widens = maker(index);
    if (widens != nullptr && widens->op == Opcode::kConvert && widens->from == Type::kS32 &&
        widens->type == Type::kS64)
      index = widens->a;
    reads_[index]++;
    i.bits = kClamps;
    i.from = code_.units[index].type;
    i.a = index, i.b = room;
    release(inner);
  }

  void visit(std::size_t at, std::uint32_t stretch) {
    const Instruction i = code_.code[at];
    if (!asks(i)) {
      out_.push_back(i);
      return;
    }
    if (!is_test(i)) return choose(i, stretch);
    const std::vector<Unit> all = parts(Opcode::kAnd, i.a, stretch);
    for (std::size_t p = 0; p < all.size(); p++) {
      Instruction asking = i;
      if (p > 0 && i.kind == Kind::kIf) asking.kind = Kind::kShortCircuitAnd;
      const std::vector<Unit> either = parts(Opcode::kOr, all[p], stretch);
      Instruction passing;
      passing.kind = Kind::kShortCircuitOr;
      passing.type = Type::kPred;
      for (std::size_t e = 0; e + 1 < either.size(); e++) ask(passing, either[e], stretch);
      ask(asking, either.back(), stretch);
    }
  }

  /// `p and q ? b : c` is `p ? (q ? b : c) : c`, and `p or q ? b : c` is `p ? b : (q ? b : c)`: two
  /// moves on flags, where the combined predicate would go through registers.
  void choose(const Instruction& i, std::uint32_t stretch) {
    const Instruction* const combined = maker(i.a);
    const bool both = combined != nullptr && combined->op == Opcode::kAnd;
    const bool either = combined != nullptr && combined->op == Opcode::kOr;
    if ((!both && !either) || reads_[i.a] != 1 || made_[i.a] < stretch ||
        !hands_on_flags(i, combined->a, stretch) || !hands_on_flags(i, combined->b, stretch))
      return ask(i, i.a, stretch);
    const Unit first = combined->a, second = combined->b;
    reads_[first]++, reads_[second]++, reads_[both ? i.c : i.b]++;
    release(i.a);
    Instruction inner = i;
    code_.units.push_back(code_.units[i.result]);
    inner.result = static_cast<Unit>(code_.units.size() - 1);
    reads_.push_back(1);
    made_.push_back(kUnmade);
    ask(inner, second, stretch);
    Instruction outer = i;
    (both ? outer.b : outer.c) = inner.result;
    ask(outer, first, stretch);
  }

  void ask(Instruction asking, Unit predicate, std::uint32_t stretch) {
    asking.a = compared_again(asking, predicate, stretch);
    out_.push_back(asking);
  }

  /// The operands of a combined predicate.
  std::vector<Unit> parts(Opcode combine, Unit predicate, std::uint32_t stretch) {
    std::vector<Unit> predicates{predicate};
    for (std::size_t p = 0; p < predicates.size() && predicates.size() < kMostTests;) {
      const Instruction* const i = maker(predicates[p]);
      if (i == nullptr || i->op != combine || i->type != Type::kPred || reads_[i->result] != 1 ||
          made_[i->result] < stretch) {
        p++;
        continue;
      }
      const Unit a = i->a, b = i->b;
      reads_[a]++, reads_[b]++;
      release(i->result);
      predicates[p] = a;
      predicates.insert(predicates.begin() + static_cast<std::ptrdiff_t>(p) + 1, b);
    }
    return predicates;
  }

  /// Whether the comparison that defines the predicate can be made right before `asking`.
  bool hands_on_flags(const Instruction& asking, Unit predicate, std::uint32_t stretch) const {
    const Instruction* const i = maker(predicate);
    return i != nullptr && is_scalar_comparison(*i) && made_[predicate] >= stretch &&
           reads_[predicate] <= kMostReaders && takes_flags(asking, *i, target_);
  }

  /// The predicate, or the result of a separate comparison for `asking`.
  Unit compared_again(const Instruction& asking, Unit predicate, std::uint32_t stretch) {
    if (!hands_on_flags(asking, predicate, stretch)) return predicate;
    Instruction again = *maker(predicate);
    code_.units.push_back(code_.units[predicate]);
    again.result = static_cast<Unit>(code_.units.size() - 1);
    reads_.push_back(1);
    made_.push_back(kUnmade);
    reads_[again.a]++, reads_[again.b]++;
    reads_[predicate]--;  // its instruction is written already
    out_.push_back(again);
    return again.result;
  }

  MachineCode& code_;
  const Target& target_;
  std::vector<std::uint32_t> reads_, made_;  // for each unit
  std::vector<bool> gone_;                   // for each instruction
  std::vector<Instruction> out_;
};

}  // namespace

void fold_scalars(MachineCode& code, const Target& target) { ScalarFolder(code, target).run(); }

}  // namespace rondo::native_code
