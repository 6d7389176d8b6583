#include "lower/passes/select_to_branch.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

// Threshold: Cost (op_work) of one side of a select from which lanes branch around it; for a
// cheaper math function the branch takes a quarter more time. Set by a measurement that is not in
// bench/.
constexpr std::int64_t kExpensive = 256;

class SelectToBranch {
 public:
  explicit SelectToBranch(Program& program) : p_(program) {}

  void run() {
    find_selects();
    if (selects_.empty()) return;
    reads_.resize(p_.types.size());
    for_each_read(p_, [&](Value value) { reads_[value]++; });
    find_first_reads();
    for (const Group& group : selects_) branch_in(group);
    if (!branches_.empty()) write();
  }

 private:
  static constexpr std::uint32_t kNever = 0xffffffffu;

  /// Selects by one predicate, with no control flow between them.
  struct Group {
    std::vector<std::uint32_t> ops;
    std::uint32_t end = kNever;  // the next op of control flow
  };
  /// Some of the selects, and the op before which all values that they select can be available, and
  /// must be.
  struct Members {
    std::vector<std::uint32_t> ops;
    std::uint32_t at;
  };
  using Side = Value Op::*;
  static constexpr Side kThen = &Op::b, kElse = &Op::c;

  /// The ops that only one side needs, in program order.
  struct Cone {
    std::vector<std::uint32_t> ops;
    bool has(std::uint32_t op) const { return std::binary_search(ops.begin(), ops.end(), op); }
  };

  /// A while placed before op `at`.
  struct Branch {
    std::uint32_t at;
    Value predicate, takes;  // the same, or its negation
    std::uint32_t loop;
    Cone cone;
  };

  static bool is_movable(const Op& op) {
    switch (info(op.code).kind) {
      case OpcodeKind::kUnary:
      case OpcodeKind::kConvert:
      case OpcodeKind::kMath:
      case OpcodeKind::kBinary:
      case OpcodeKind::kCompare:
      case OpcodeKind::kTernary:
        return true;
      default:
        return op.code == Opcode::kLoad;
    }
  }

  void define(const std::vector<Carry>& carries, bool results, std::uint32_t at) {
    for (const Carry& carry : carries) made_at_[results ? carry.result : carry.param] = at;
  }

  /// Where values are defined: for constructs the parameters at the beginning, the results at the
  /// end.
  void note_made(const Op& op, std::uint32_t at) {
    if (op.result != kNone) made_at_[op.result] = at;
    switch (op.code) {
      case Opcode::kFor:
        return define(p_.fors[op.bits].carries, false, at);
      case Opcode::kRepeat:
        return define(p_.whiles[op.bits].carries, false, at);
      case Opcode::kEndFor:
        return define(p_.fors[op.bits].carries, true, at);
      case Opcode::kEndRepeat:
        return define(p_.whiles[op.bits].carries, true, at);
      case Opcode::kEndIf:
        for (const If::Result& result : p_.ifs[op.bits].results) made_at_[result.result] = at;
        return;
      case Opcode::kEndLanes:
        for (const auto& reduction : p_.lanes[op.bits].reductions) made_at_[reduction.result] = at;
        return;
      default:
        return;
    }
  }

  /// Ops of one place run one after the other, with whole loops and branches between them. `open`:
  /// the places of the open constructs, 0 outside lanes.
  void follow_places(Opcode code, std::vector<std::uint32_t>& open) {
    const bool in_lanes = open.back() != 0;
    switch (code) {
      case Opcode::kLanes:
        return open.push_back(++places_);
      case Opcode::kFor:
      case Opcode::kRepeat:
      case Opcode::kIf:
        return open.push_back(in_lanes ? ++places_ : 0);
      case Opcode::kTest:
      case Opcode::kElse:
        if (in_lanes) open.back() = ++places_;
        return;
      case Opcode::kEndFor:
      case Opcode::kEndRepeat:
      case Opcode::kEndIf:
      case Opcode::kEndLanes:
        return open.pop_back();
      default:
        return;
    }
  }

  /// Finds the position of every op and value.
  void find_selects() {
    const auto is_select = [](const Op& op) { return op.code == Opcode::kSelect; };
    if (std::none_of(p_.code.begin(), p_.code.end(), is_select)) return;
    place_.assign(p_.code.size(), 0);
    stores_.assign(p_.code.size(), 0);
    made_at_.assign(p_.types.size(), 0);
    moved_.assign(p_.code.size(), false);
    absl::flat_hash_map<Value, std::size_t> groups;  // since the last op of control flow
    std::vector<std::uint32_t> open{0};
    std::uint32_t stores = 0;
    for (std::uint32_t at = 0; at < p_.code.size(); at++) {
      const Op& op = p_.code[at];
      note_made(op, at);
      follow_places(op.code, open);
      if (op.code == Opcode::kStore || op.code == Opcode::kCopy || op.code == Opcode::kCall)
        stores++;
      place_[at] = open.back();
      stores_[at] = stores;
      if (info(op.code).kind == OpcodeKind::kControl) {
        for (const auto& [predicate, group] : groups) selects_[group].end = at;
        groups.clear();
      }
      if (!is_select(op) || open.back() == 0) continue;
      const auto [group, is_new] = groups.try_emplace(op.a, selects_.size());
      if (is_new) selects_.emplace_back();
      selects_[group->second].ops.push_back(at);
    }
  }

  template <class F>
  void for_each_operand(const Op& op, F&& f) const {
    for (const Value value : {op.a, op.b, op.c}) f(value);
    for_each_address(p_, op, [&](std::uint64_t index) {
      const Address& address = p_.addresses[index];
      f(address.base);
      for (const Address::Term& term : address.terms) f(term.index);
    });
  }

  /// Uses by ops other than control flow.
  void find_first_reads() {
    first_read_.assign(p_.types.size(), kNever);
    for (std::uint32_t at = 0; at < p_.code.size(); at++) {
      if (info(p_.code[at].code).kind == OpcodeKind::kControl) continue;
      for_each_operand(p_.code[at],
                       [&](Value v) { first_read_[v] = std::min(first_read_[v], at); });
    }
  }

  void branch_in(const Group& group) {
    for (std::size_t i = 0; i < group.ops.size();) {
      Members members{{}, group.end};
      for (; i < group.ops.size() && group.ops[i] < members.at; i++) {
        if (moved_[group.ops[i]]) continue;
        members.ops.push_back(group.ops[i]);
        members.at = std::min(members.at, first_read_[p_.code[group.ops[i]].result]);
      }
      if (!members.ops.empty()) branch(members);
    }
  }

  /// The ops that only `side` of the selects needs, if they are expensive.
  Cone cone_of(const Members& members, Side side) const {
    const std::uint32_t place = place_[members.ops.front()], stores = stores_[members.at - 1];
    absl::flat_hash_map<Value, std::uint32_t> left;  // reads by others
    std::vector<std::uint32_t> open;
    const auto read = [&](Value value) {
      if (value == kNone) return;
      const auto count = left.try_emplace(value, reads_[value]).first;
      if (--count->second != 0) return;
      const std::uint32_t at = made_at_[value];
      const Op& op = p_.code[at];
      if (op.result != value || at >= members.at || place_[at] != place || moved_[at]) return;
      if (is_movable(op) && (op.code != Opcode::kLoad || stores_[at] == stores)) open.push_back(at);
    };
    for (const std::uint32_t select : members.ops) read(p_.code[select].*side);
    Cone cone;
    std::int64_t work = 0;
    while (!open.empty()) {
      const Op& op = p_.code[open.back()];
      cone.ops.push_back(open.back());
      open.pop_back();
      work += op_work(op);
      for_each_operand(op, read);
    }
    if (work < kExpensive) cone.ops.clear();
    std::sort(cone.ops.begin(), cone.ops.end());
    return cone;
  }

  Value new_value(Type type) {
    p_.types.push_back(type);
    return static_cast<Value>(p_.types.size() - 1);
  }
  /// A zero of the type, at the beginning of the program.
  Value zero(Type type) {
    Value& value = zeros_[static_cast<std::size_t>(type)];
    if (value == kNone) {
      value = new_value(type);
      prologue_.push_back({Opcode::kConstant, type, type, value});
    }
    return value;
  }

  void branch(const Members& members) {
    const std::array<Cone, 2> cones{cone_of(members, kThen), cone_of(members, kElse)};
    const auto gives = [&](const Cone& cone, Value value) {
      const std::uint32_t at = made_at_[value];
      return p_.code[at].result == value && cone.has(at);
    };
    absl::flat_hash_map<std::uint32_t, Value>
        of_then;  // of selects both sides of which are expensive
    for (const Side side : {kThen, kElse}) {
      const bool is_else = side == kElse;
      const Cone& cone = cones[is_else ? 1 : 0];
      if (cone.ops.empty()) continue;
      While loop;
      loop.predicated = true;
      const Value predicate = p_.code[members.ops.front()].a;
      const Value takes = is_else ? new_value(Type::kPred) : predicate;
      loop.predicate = new_value(Type::kPred);
      loop.carries.push_back(
          {Type::kPred, takes, loop.predicate, zero(Type::kPred), new_value(Type::kPred)});
      for (const std::uint32_t at : members.ops) {
        const Op op = p_.code[at];
        if (!gives(cone, op.*side)) continue;
        Value init = is_else ? op.b : op.c, result = op.result;
        if (is_else && of_then.contains(at)) {
          init = of_then.at(at);
        } else if (!is_else && gives(cones[1], op.c)) {
          init = zero(op.type);  // for lanes that compute the other side next
          result = of_then[at] = new_value(op.type);
        }
        loop.carries.push_back({op.type, init, new_value(op.type), op.*side, result});
        moved_[at] = true;
      }
      for (const std::uint32_t at : cone.ops) moved_[at] = true;
      branches_.push_back(
          {members.at, predicate, takes, static_cast<std::uint32_t>(p_.whiles.size()), cone});
      p_.whiles.push_back(std::move(loop));
    }
  }

  void write(std::vector<Op>& code, const Branch& branch) const {
    const auto control = [&](Opcode opcode, Value a) {
      code.push_back({opcode, Type::kPred, Type::kPred, kNone, a, kNone, kNone, branch.loop});
    };
    if (branch.takes != branch.predicate)
      code.push_back({Opcode::kNot, Type::kPred, Type::kPred, branch.takes, branch.predicate});
    control(Opcode::kRepeat, kNone);
    control(Opcode::kTest, p_.whiles[branch.loop].predicate);
    for (const std::uint32_t at : branch.cone.ops) code.push_back(p_.code[at]);
    control(Opcode::kEndRepeat, kNone);
  }

  void write() {
    std::vector<Op> code = std::move(prologue_);
    std::stable_sort(branches_.begin(), branches_.end(),
                     [](const Branch& a, const Branch& b) { return a.at < b.at; });
    auto next = branches_.begin();
    for (std::uint32_t at = 0; at < p_.code.size(); at++) {
      for (; next != branches_.end() && next->at == at; ++next) write(code, *next);
      if (!moved_[at]) code.push_back(p_.code[at]);
    }
    p_.code = std::move(code);
  }

  Program& p_;
  std::uint32_t places_ = 0;            // so far
  std::vector<std::uint32_t> place_;    // of each op
  std::vector<std::uint32_t> stores_;   // so far, of each op
  std::vector<std::uint32_t> made_at_;  // for each value: the op after which it is available
  std::vector<std::uint32_t> reads_;    // of each value
  std::vector<std::uint32_t> first_read_;
  std::vector<bool> moved_;  // for each op: it is in a branch, or became one
  std::vector<Group> selects_;
  std::vector<Branch> branches_;
  std::vector<Op> prologue_;
  std::array<Value, static_cast<std::size_t>(Type::kPointer) + 1> zeros_{};
};

}  // namespace

void select_to_branch(Program& program) { SelectToBranch(program).run(); }

}  // namespace rondo::lower
