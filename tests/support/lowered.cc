#include "support/lowered.h"

#include "absl/container/flat_hash_map.h"

namespace rondo::testing {

namespace {

using lower::Op;
using lower::Opcode;

/// Calls visit(op, around) with each op of a program and its enclosing loops and branches,
/// outermost first. In the second side of a branch, that is its kElse.
template <class F>
void walk(const lower::Program& program, F&& visit) {
  std::vector<const Op*> around;
  for (const Op& op : program.code) {
    switch (op.code) {
      case Opcode::kElse:
        around.back() = &op;
        break;
      case Opcode::kEndFor:
      case Opcode::kEndLanes:
      case Opcode::kEndRepeat:
      case Opcode::kEndIf:
        around.pop_back();
        break;
      case Opcode::kFor:
      case Opcode::kLanes:
      case Opcode::kRepeat:
      case Opcode::kIf:
        visit(op, around);
        around.push_back(&op);
        break;
      default:
        visit(op, around);
    }
  }
}

const Op* innermost(const std::vector<const Op*>& around, Opcode code) {
  const auto found = std::ranges::find(around.rbegin(), around.rend(), code, &Op::code);
  return found == around.rend() ? nullptr : *found;
}

}  // namespace

std::ptrdiff_t Lowered::count_inside(Opcode around, Opcode code) const {
  std::ptrdiff_t found = 0;
  walk(program(), [&](const Op& op, const std::vector<const Op*>& outer) {
    if (op.code == code && innermost(outer, around)) found++;
  });
  return found;
}

std::ptrdiff_t Lowered::exchanged_pointers() const {
  const lower::Program& all = program();
  const auto in = [](const auto& loops) {
    std::ptrdiff_t found = 0;
    for (const auto& loop : loops)
      found += std::ranges::count_if(loop.carries, [](const lower::Carry& carry) {
        return carry.type == lower::Type::kPointer && carry.next != carry.param;
      });
    return found;
  };
  return in(all.fors) + in(all.whiles);
}

bool Lowered::begins_loop(const Op& op) const {
  if (op.code == Opcode::kFor) return program().fors[op.bits].loop != lower::kNoLoop;
  return op.code == Opcode::kRepeat && program().whiles[op.bits].loop != lower::kNoLoop;
}

std::ptrdiff_t Lowered::count_in_loops(Opcode code) const {
  std::ptrdiff_t found = 0;
  walk(program(), [&](const Op& op, const std::vector<const Op*>& outer) {
    const auto begins = [this](const Op* loop) { return begins_loop(*loop); };
    if (op.code == code && std::ranges::any_of(outer, begins)) found++;
  });
  return found;
}

Lowered::LaneLoads Lowered::loads_in_lanes() const {
  const lower::Program& all = program();
  std::vector<bool> made_in_lanes(all.types.size(), false);
  LaneLoads loads;
  walk(all, [&](const Op& op, const std::vector<const Op*>& outer) {
    if (!innermost(outer, Opcode::kLanes)) return;
    if (op.result != lower::kNone) made_in_lanes[op.result] = true;
    if (op.code != Opcode::kLoad) return;
    const bool is_gathered = std::ranges::any_of(
        all.addresses[op.bits].terms,
        [&](const lower::Address::Term& term) { return made_in_lanes[term.index]; });
    (is_gathered ? loads.gathered : loads.in_order)++;
  });
  return loads;
}

std::vector<std::int64_t> Lowered::lanes_of_elements() const {
  std::vector<std::int64_t> lanes;
  for (const lower::Lanes& loop : program().lanes) lanes.push_back(loop.known_count.value_or(0));
  return lanes;
}

bool Lowered::is_vectorized() const {
  std::ptrdiff_t loops = 0, in_lanes = 0;
  walk(program(), [&](const Op& op, const std::vector<const Op*>& outer) {
    if (op.code != Opcode::kRepeat && !begins_loop(op)) return;
    loops++;
    if (innermost(outer, Opcode::kLanes)) in_lanes++;
  });
  return loops > 0 && in_lanes == loops;
}

std::ptrdiff_t Lowered::count_before_loops(Opcode code) const {
  const auto& ops = program().code;
  const auto begins = [this](const Op& op) { return begins_loop(op); };
  return std::ranges::count(ops.begin(), std::ranges::find_if(ops, begins), code, &Op::code);
}

std::ptrdiff_t Lowered::loads_from(lower::Storage storage) const {
  absl::flat_hash_map<lower::Value, lower::Storage> bases;
  std::ptrdiff_t found = 0;
  for (const Op& op : program().code) {
    if (op.code == Opcode::kBase) bases[op.result] = program().buffers[op.bits].storage;
    if (op.code != Opcode::kLoad) continue;
    const auto base = bases.find(program().addresses[op.bits].base);
    if (base != bases.end() && base->second == storage) found++;
  }
  return found;
}

std::vector<std::int64_t> Lowered::lane_strides() const {
  std::vector<std::int64_t> strides;
  walk(program(), [&](const Op& op, const std::vector<const Op*>& outer) {
    if (op.code != Opcode::kLoad && op.code != Opcode::kStore) return;
    const Op* lanes = innermost(outer, Opcode::kLanes);
    const auto begins = [this](const Op* loop) { return begins_loop(*loop); };
    if (!lanes || !std::ranges::any_of(outer, begins)) return;
    for (const lower::Address::Term& term : program().addresses[op.bits].terms)
      if (term.index == program().lanes[lanes->bits].index) strides.push_back(term.stride);
  });
  return strides;
}

std::vector<std::int64_t> Lowered::lanes_of_loops() const {
  std::vector<std::int64_t> lanes;
  for (const auto& [loop, obstacle] : forms_.loops())
    if (const executor::Interchange* form = forms_.of(loop)) lanes.push_back(form->lanes);
  return lanes;
}

std::vector<native_code::Instruction> Lowered::native_steps(const native_code::Target* target,
                                                            std::string_view loop) const {
  if (loop.empty()) return native_code::steps(program(), target);
  std::vector<native_code::Instruction> steps;
  for (std::size_t i = 0; i < program().loops.size(); i++) {
    if (program().loops[i].name != loop) continue;
    const auto of_loop = native_code::steps(program(), target, static_cast<std::uint32_t>(i));
    steps.insert(steps.end(), of_loop.begin(), of_loop.end());
  }
  return steps;
}

}  // namespace rondo::testing
