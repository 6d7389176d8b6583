// The body of a lane loop, for the vectors of one block.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "lower/opcodes.h"
#include "native/lane_blocks.h"

namespace rondo::native_code {

using lower::Opcode;
using lower::Type;
using lower::Value;

Unit LaneBlocks::new_vectors(Type type) {
  const Unit first = e_.new_unit(type, plan_.lanes());
  for (int u = 1; u < unroll_; u++) e_.new_unit(type, plan_.lanes());
  return first;
}

Unit LaneBlocks::vector_unit(Value v, int u) {
  const Unit first = plan_.facts().units[v];
  return varying(v) ? first + static_cast<Unit>(u) : first;
}

void LaneBlocks::broadcast_if_needed(Value v) {
  if (v == lower::kNone || !plan_.facts().broadcast[v]) return;
  const UnitInfo unit = e_.out_.units[e_.unit_of(v)];
  if (unit.constant) {
    plan_.facts().units[v] = e_.constant(unit.type, unit.bits, plan_.lanes());
    return;
  }
  Instruction i;
  i.kind = Kind::kBroadcast;
  i.type = unit.type;
  i.lanes = static_cast<std::uint8_t>(plan_.lanes());
  i.a = e_.unit_of(v);
  i.result = plan_.facts().units[v] = e_.new_unit(unit.type, plan_.lanes());
  e_.add(i);
}

MachineAddress LaneBlocks::vector_address(std::uint64_t number, int u) {
  const lower::Address& from = program_.addresses[number];
  MachineAddress to;
  to.base = e_.unit_of(from.base);
  to.offset = from.offset;
  std::int64_t stride = 0;
  for (const lower::Address::Term& term : from.terms) {
    if (term.index == lanes_.index) {
      stride += term.stride;
    } else if (varying(term.index)) {
      const Value shorter = plan_.short_index(term.index);
      to.lane_index = vector_unit(shorter != lower::kNone ? shorter : term.index, u);
      to.lane_stride = term.stride;
    } else {
      to.terms.push_back({e_.unit_of(term.index), term.stride});
    }
  }
  if (to.lane_index == 0) {
    to.lane_stride = stride;
    to.offset += stride * u * plan_.lanes();
    to.terms.push_back({first_lane_, stride});
  }
  return to;
}

void LaneBlocks::expand_body() {
  std::size_t run = begin_ + 1;
  for (std::size_t at = run; at <= end_; at++) {
    const lower::Op& op = program_.code[at];
    if (op.code < Opcode::kFor) continue;
    expand_run(run, at);
    run = at + 1;
    switch (op.code) {
      case Opcode::kFor:
      case Opcode::kRepeat:
        begin_loop(op);
        break;
      case Opcode::kTest:
        test(op);
        break;
      case Opcode::kEndFor:
      case Opcode::kEndRepeat:
        end_loop(op);
        break;
      case Opcode::kIf:
        e_.expand(op);
        break;
      case Opcode::kElse:
        otherwise(op);
        break;
      case Opcode::kEndIf:
        end_branch(op);
        break;
      default:
        break;  // kEndLanes
    }
  }
}

void LaneBlocks::expand_run(std::size_t begin, std::size_t end) {
  for (int u = 0; u < unroll_; u++) {
    for (std::size_t at = begin; at < end; at++) {
      const lower::Op& op = program_.code[at];
      if (op.code == Opcode::kAnd && plan_.split_test(op.result)) {
        continue;
      } else if (plan_.short_index(op.result) != lower::kNone) {
        continue;
      } else if (op.code == Opcode::kStore || varying(op.result)) {
        expand_vector(op, u);
      } else if (u == 0) {
        e_.expand(op);
        broadcast_if_needed(op.result);
      }
    }
  }
}

void LaneBlocks::expand_vector(const lower::Op& op, int u) {
  e_.locate(op);
  Instruction i;
  i.op = op.code, i.type = op.type, i.from = op.from;
  i.lanes = static_cast<std::uint8_t>(plan_.lanes());
  i.bits = op.bits;
  if (op.result != lower::kNone) {
    Unit& first = plan_.facts().units[op.result];
    if (u == 0) first = new_vectors(op.type);
    i.result = first + static_cast<Unit>(u);
  }
  const Unit mask = active_[static_cast<std::size_t>(u)];
  const bool maskable = e_.target_.has_masks();
  switch (op.code) {
    case Opcode::kLoad:
      i.kind = Kind::kLoad;
      i.bits = e_.add_address(vector_address(op.bits, u));
      i.mask = maskable ? mask : 0;
      // Once for each cache line.
      i.streams = streams_.loads && mask == 0 &&
                  u * plan_.lanes() * width_of(op.type) % e_.target_.cache_line_bytes == 0;
      e_.add(i);
      return;
    case Opcode::kStore:
      i.kind = Kind::kStore;
      i.type = program_.types[op.a];
      i.a = vector_unit(op.a, u);
      i.bits = e_.add_address(vector_address(op.bits, u));
      i.mask = maskable ? mask : 0;
      if (i.mask != 0 && mask == tail_.mask) i.first = static_cast<std::uint8_t>(tail_.lanes);
      i.streams = streams_.stores && mask == 0;
      e_.add(i);
      return;
    case Opcode::kMathCall:
      i.kind = Kind::kMathCall;
      break;
    default:
      break;
  }
  auto lane_number = [&](Type type) {
    Instruction number;
    number.kind = Kind::kLaneIndex;
    number.type = type;
    number.lanes = i.lanes;
    number.a = first_lane_;
    if (const int before = u * plan_.lanes(); before != 0)
      number.a = s64_op(Opcode::kAdd, first_lane_, before);
    number.result = e_.new_unit(type, plan_.lanes());
    return e_.add(number).result;
  };
  if (op.code == Opcode::kConvert && op.a == lanes_.index && width_of(op.type) == 4 &&
      (op.type == Type::kS32 || op.type == Type::kU32)) {
    i.kind = Kind::kMove;
    i.a = lane_number(op.type);
    e_.add(i);
    return;
  }
  auto operand = [&](Value v) {
    if (v == lower::kNone) return Unit{0};
    return v == lanes_.index ? lane_number(Type::kS64) : vector_unit(v, u);
  };
  i.a = operand(op.a), i.b = operand(op.b), i.c = operand(op.c);
  // A constant second operand is read from memory directly.
  if (lower::info(op.code).commutative && known(op.a) && !known(op.b)) std::swap(i.a, i.b);
  if (op.code == Opcode::kMultiply && known(op.a) != known(op.b))
    multiply_by_shift(i, *(known(op.a) ? known(op.a) : known(op.b)));
  e_.add_computation(i);
}

std::optional<std::uint64_t> LaneBlocks::known(Value v) const {
  if (v == lower::kNone || varying(v)) return std::nullopt;
  const UnitInfo& unit = e_.out_.units[e_.unit_of(v)];
  return unit.constant ? std::optional(unit.bits) : std::nullopt;
}

/// Multiplication of integers by 2^k or 2^k + 1, as vector products take many cycles. The factor is
/// b.
void LaneBlocks::multiply_by_shift(Instruction& i, std::uint64_t factor) {
  if (floating(i.type) || width_of(i.type) < 4) return;
  const bool plus_one = factor > 2 && (factor & 1) != 0;
  const std::uint64_t power = plus_one ? factor - 1 : factor;
  if (!std::has_single_bit(power) || power == 1) return;
  const Unit count =
      e_.constant(i.type, static_cast<std::uint64_t>(std::countr_zero(power)), plan_.lanes());
  if (!plus_one) {
    i.op = Opcode::kShiftLeft;
    i.b = count;
    return;
  }
  i.b = i.a;
  i.a = e_.compute(Opcode::kShiftLeft, i.type, plan_.lanes(), i.a, count);
  i.op = Opcode::kAdd;
}

void LaneBlocks::begin_loop(const lower::Op& op) {
  const bool is_for = op.code == Opcode::kFor;
  OpenWhile open;
  MachineLoop loop;
  const lower::For* counted = is_for ? &program_.fors[op.bits] : nullptr;
  const lower::While* tested = is_for ? nullptr : &program_.whiles[op.bits];
  const auto& carries = is_for ? counted->carries : tested->carries;
  if (is_for) {
    loop.lower = e_.unit_of(counted->lower), loop.upper = e_.unit_of(counted->upper);
    loop.index = e_.define(counted->index);
    loop.step = counted->step;
  }
  for (const lower::Carry& carry : carries) {
    if (!varying(carry.param)) {
      loop.carries.push_back({e_.unit_of(carry.init), e_.define(carry.param), 0, 0});
      continue;
    }
    std::vector<Unit> init;
    for (int u = 0; u < unroll_; u++) init.push_back(vector_unit(carry.init, u));
    const Unit first = plan_.facts().units[carry.param] = new_vectors(carry.type);
    for (int u = 0; u < unroll_; u++)
      loop.carries.push_back(
          {init[static_cast<std::size_t>(u)], first + static_cast<Unit>(u), 0, 0});
  }
  if (!is_for && varying(tested->predicate)) {
    open.by_lane = true;
    open.active_before = active_;
    const Unit all = e_.constant(Type::kPred, 1, plan_.lanes());
    const Unit first = new_vectors(Type::kPred);
    for (int u = 0; u < unroll_; u++) {
      const Unit before = active_[static_cast<std::size_t>(u)];
      open.active_params.push_back(first + static_cast<Unit>(u));
      loop.carries.push_back({before != 0 ? before : all, first + static_cast<Unit>(u), 0, 0});
    }
  }
  open_.push_back(std::move(open));
  e_.open_loop(op.code, std::move(loop), is_for ? counted->loop : tested->loop);
  if (is_for && counted->polls) e_.poll();
  if (is_for) broadcast_if_needed(counted->index);
  for (const lower::Carry& carry : carries) {
    if (!varying(carry.param)) broadcast_if_needed(carry.param);
  }
}

void LaneBlocks::test(const lower::Op& op) {
  const OpenWhile& open = open_.back();
  if (!open.by_lane) return e_.expand(op);
  Value predicate = program_.whiles[op.bits].predicate;
  if (const LanePlan::SplitTest* split = plan_.split_test(predicate)) {
    predicate = split->by_lane;
    Instruction first;
    first.kind = Kind::kTest;
    first.bits = e_.open_.back().number;
    first.a = e_.unit_of(split->uniform);
    e_.add(first);
  }
  Unit any = 0;
  for (int u = 0; u < unroll_; u++) {
    const auto index = static_cast<std::size_t>(u);
    const Unit now = e_.compute(Opcode::kAnd, Type::kPred, plan_.lanes(), open.active_params[index],
                                vector_unit(predicate, u));
    active_[index] = now;
    any = any == 0 ? now : e_.compute(Opcode::kOr, Type::kPred, plan_.lanes(), any, now);
  }
  Instruction i;
  i.kind = Kind::kTest;
  i.bits = e_.open_.back().number;
  i.a = any;
  e_.add(i);
  e_.add_trip();
}

void LaneBlocks::end_loop(const lower::Op& op) {
  const bool is_for = op.code == Opcode::kEndFor;
  const auto& carries = is_for ? program_.fors[op.bits].carries : program_.whiles[op.bits].carries;
  const OpenWhile open = std::move(open_.back());
  open_.pop_back();
  const std::uint32_t number = e_.open_.back().number;
  std::size_t c = 0;
  for (const lower::Carry& carry : carries) {
    if (!varying(carry.param)) {
      e_.out_.loops[number].carries[c].next = e_.unit_of(carry.next);
      e_.out_.loops[number].carries[c++].result = e_.define(carry.result);
      continue;
    }
    // Inactive lanes keep their values, if these are used.
    const bool is_read = carry.result != lower::kNone && plan_.facts().reads[carry.result] != 0;
    const bool keeps = open.by_lane && is_read;
    std::vector<Unit> next;
    for (int u = 0; u < unroll_; u++) {
      next.push_back(vector_unit(carry.next, u));
      if (!keeps) continue;
      next.back() = e_.compute(Opcode::kSelect, carry.type, plan_.lanes(),
                               active_[static_cast<std::size_t>(u)], next.back(),
                               vector_unit(carry.param, u));
    }
    const Unit first = is_read ? new_vectors(carry.type) : 0;
    if (is_read) plan_.facts().units[carry.result] = first;
    for (int u = 0; u < unroll_; u++, c++) {
      e_.out_.loops[number].carries[c].next = next[static_cast<std::size_t>(u)];
      if (is_read) e_.out_.loops[number].carries[c].result = first + static_cast<Unit>(u);
    }
  }
  if (open.by_lane) {
    for (int u = 0; u < unroll_; u++, c++) {
      e_.out_.loops[number].carries[c].next = active_[static_cast<std::size_t>(u)];
    }
    active_ = open.active_before;
  }
  e_.end_loop();
  for (const lower::Carry& carry : carries) {
    if (!varying(carry.param)) broadcast_if_needed(carry.result);
  }
}

void LaneBlocks::otherwise(const lower::Op& op) {
  Instruction i;
  i.kind = Kind::kElse;
  i.bits = e_.open_.back().number;
  MachineBranch& branch = e_.out_.branches[i.bits];
  for (const lower::If::Result& result : program_.ifs[op.bits].results) {
    if (!varying(result.result)) {
      branch.results.push_back({e_.unit_of(result.then), 0, 0});
      continue;
    }
    for (int u = 0; u < unroll_; u++) branch.results.push_back({vector_unit(result.then, u), 0, 0});
  }
  e_.add(i);
}

void LaneBlocks::end_branch(const lower::Op& op) {
  Instruction i;
  i.kind = Kind::kEndIf;
  i.bits = e_.open_.back().number;
  std::size_t r = 0;
  for (const lower::If::Result& result : program_.ifs[op.bits].results) {
    auto& results = e_.out_.branches[i.bits].results;
    if (!varying(result.result)) {
      results[r].otherwise = e_.unit_of(result.otherwise);
      results[r++].result = e_.define(result.result);
      continue;
    }
    const Unit first = plan_.facts().units[result.result] = new_vectors(result.type);
    for (int u = 0; u < unroll_; u++, r++) {
      results[r].otherwise = vector_unit(result.otherwise, u);
      results[r].result = first + static_cast<Unit>(u);
    }
  }
  e_.open_.pop_back();
  e_.add(i);
  for (const lower::If::Result& result : program_.ifs[op.bits].results) {
    if (!varying(result.result)) broadcast_if_needed(result.result);
  }
}

}  // namespace rondo::native_code
