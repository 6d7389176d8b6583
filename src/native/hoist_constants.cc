#include "native/hoist_constants.h"

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "native/insertions.h"
#include "native/live_ranges.h"

namespace rondo::native_code {

namespace {

/// Whether it calls C++ usually, and not in a rare path alone.
bool calls(const Instruction& i) {
  return may_call(i) && i.kind != Kind::kTrip && i.kind != Kind::kPoll &&
         i.kind != Kind::kTapeRow && !(i.kind == Kind::kMathCall && i.lanes > 1);
}

class ConstantHoister {
 public:
  ConstantHoister(MachineCode& code, const Target& target) : code_(code), target_(target) {}

  void run() {
    find_calls();
    for (std::size_t at = 0; at < code_.code.size(); at++) visit(at);
    insert(code_, before_);
  }

 private:
  /// By the loop before which it is moved.
  using Key = std::tuple<std::size_t, lower::Type, std::uint8_t, std::uint64_t>;

  void find_calls() {
    has_calls_.resize(code_.code.size());
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < code_.code.size(); at++) {
      const Instruction& i = code_.code[at];
      if (begins_loop(i.kind)) open.push_back(at);
      if (ends_loop(i.kind)) open.pop_back();
      if (!calls(i)) continue;
      for (const std::size_t loop : open) has_calls_[loop] = true;
    }
  }

  void visit(std::size_t at) {
    const Kind kind = code_.code[at].kind;
    if (ends_loop(kind)) open_.pop_back();
    if (begins_loop(kind)) open_.push_back(at);
    if (kind == Kind::kForBegin) {
      // Each trip compares its index.
      Instruction compares;
      compares.op = lower::Opcode::kLess;
      compares.type = lower::Type::kPred;
      compares.from = lower::Type::kS64;
      hoist(code_.loops[code_.code[at].bits].upper, compares, 1);
    } else if (kind == Kind::kCompute) {
      Instruction& i = code_.code[at];
      int operand = 0;
      for (Unit* const unit : {&i.a, &i.b, &i.c}) hoist(*unit, i, operand++);
    } else if (kind == Kind::kStore) {
      hoist(code_.code[at].a, code_.code[at], 0);
    }
  }

  void hoist(Unit& unit, const Instruction& reader, int operand) {
    if (unit == 0 || !code_.units[unit].constant) return;
    const UnitInfo constant = code_.units[unit];
    if (target_.takes_constant(reader, operand, constant)) return;
    std::size_t depth = open_.size();
    while (depth > 0 && !has_calls_[open_[depth - 1]]) depth--;
    if (depth == open_.size()) return;
    const std::size_t loop = open_[depth];
    const auto [found, is_new] =
        made_.try_emplace({loop, constant.type, constant.lanes, constant.bits}, 0);
    if (is_new) {
      Instruction i;
      i.kind = Kind::kMove;
      i.type = constant.type;
      i.lanes = constant.lanes;
      i.a = unit;
      UnitInfo held = constant;
      held.constant = false;
      code_.units.push_back(held);
      i.result = found->second = static_cast<Unit>(code_.units.size() - 1);
      before_[loop].push_back(i);
    }
    unit = found->second;
  }

  MachineCode& code_;
  const Target& target_;
  std::vector<bool> has_calls_;    // of each instruction that begins a loop
  std::vector<std::size_t> open_;  // the first instructions of the loops around
  absl::flat_hash_map<Key, Unit> made_;
  Insertions before_;
};

}  // namespace

void hoist_constants(MachineCode& code, const Target& target) {
  if (target.takes_constant != nullptr) ConstantHoister(code, target).run();
}

}  // namespace rondo::native_code
