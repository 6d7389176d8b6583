#include "lower/passes/copy_ops.h"

#include <utility>

#include "lower/op_writer.h"
#include "lower/opcodes.h"

namespace rondo::lower {

Value OpCopier::value(Value of) {
  if (of == kNone) return kNone;
  if (of == lane_.index) {
    reads_number_ = true;
    return lane_.number;
  }
  if (const auto found = values_.find(of); found != values_.end()) return found->second;
  const Value from_outside = outside_(of);
  values_.emplace(of, from_outside);
  return from_outside;
}

Value OpCopier::define(Value of) {
  if (of == kNone) return kNone;
  const Value made = values_[of] = new_value(to_, from_.types[of]);
  if (const std::uint32_t location = from_.location(of); location != 0) {
    to_.location_of.resize(made + 1);
    to_.location_of[made] = location;
  }
  return made;
}

void OpCopier::narrow_number(const Op& conversion) {
  const Type type = conversion.type;
  const auto narrow = [&](std::vector<Op>& code, Value made, Value number) {
    code.push_back({Opcode::kConvert, type, Type::kS64, made, number, kNone, kNone, 0});
    return made;
  };
  Value& first = narrow_firsts_[type];
  if (first == kNone) first = narrow(before_, new_value(to_, type), lane_.first);
  const Value lane = narrow(code_, new_value(to_, type), lane_.lane);
  code_.push_back({Opcode::kAdd, type, type, define(conversion.result), first, lane, kNone, 0});
}

std::uint64_t OpCopier::address(std::uint64_t of) {
  const Address& at = from_.addresses[of];
  Address made{value(at.base), at.offset, {}};
  for (const Address::Term& term : at.terms) {
    if (term.index != lane_.index) {
      made.terms.push_back({value(term.index), term.stride});
      continue;
    }
    made.terms.push_back({lane_.lane, term.stride});
    Value& bytes = firsts_[term.stride];
    if (bytes == kNone) {
      OpWriter before(to_, before_);
      const Value stride = before.index(term.stride);
      bytes = before.binary(Opcode::kMultiply, Type::kS64, lane_.first, stride);
    }
    made.terms.push_back({bytes, 1});
  }
  to_.addresses.push_back(std::move(made));
  return to_.addresses.size() - 1;
}

std::uint64_t OpCopier::view(std::uint64_t of) {
  const View& whole = from_.views[of];
  to_.views.push_back({static_cast<std::uint32_t>(address(whole.address)), whole.bytes});
  return to_.views.size() - 1;
}

std::uint64_t OpCopier::call(std::uint64_t of) {
  Call made = from_.calls[of];
  for (Value& pointer : made.pointers) pointer = value(pointer);
  to_.calls.push_back(std::move(made));
  return to_.calls.size() - 1;
}

std::uint64_t OpCopier::move(std::uint64_t of) {
  const Copy& whole = from_.copies[of];
  const auto from = static_cast<std::uint32_t>(address(whole.from));
  const auto to = static_cast<std::uint32_t>(address(whole.to));
  to_.copies.push_back({from, to, whole.bytes});
  return to_.copies.size() - 1;
}

std::uint32_t OpCopier::loop(std::uint32_t of) {
  if (of == kNoLoop) return kNoLoop;
  const auto [found, is_new] =
      loop_numbers_.try_emplace(of, static_cast<std::uint32_t>(to_.loops.size()));
  if (is_new) {
    LoopInfo info = from_.loops[of];
    info.trips = kNone;
    info.state.clear();
    const auto outer = loop_numbers_.find(info.outer);
    info.outer = outer == loop_numbers_.end() ? kNoLoop : outer->second;
    to_.loops.push_back(std::move(info));
    loops_.push_back(of);
  }
  return found->second;
}

void OpCopier::begin_carries(std::vector<Carry>& carries) {
  for (Carry& carry : carries) carry.init = value(carry.init);
  for (Carry& carry : carries) carry.param = define(carry.param);
}

/// They are those of `from` except for init and param.
void OpCopier::end_carries(std::vector<Carry>& carries) {
  for (Carry& carry : carries) carry.next = value(carry.next);
  for (Carry& carry : carries) carry.result = define(carry.result);
}

void OpCopier::control(Op& op) {
  switch (op.code) {
    case Opcode::kFor: {
      For made = from_.fors[op.bits];
      made.lower = value(made.lower);
      made.upper = value(made.upper);
      made.first = made.limit = kNone;
      begin_carries(made.carries);
      made.index = define(made.index);
      made.loop = loop(made.loop);
      open_.push_back(to_.fors.size());
      to_.fors.push_back(std::move(made));
      break;
    }
    case Opcode::kEndFor:
      end_carries(to_.fors[open_.back()].carries);
      for (std::uint32_t& of : to_.fors[open_.back()].lane_loops) of = loop(of);
      break;
    case Opcode::kLanes: {
      Lanes made = from_.lanes[op.bits];
      made.count = value(made.count);
      made.first = made.limit = kNone;
      for (Lanes::Reduction& reduction : made.reductions) reduction.init = value(reduction.init);
      made.index = define(made.index);
      open_.push_back(to_.lanes.size());
      to_.lanes.push_back(std::move(made));
      break;
    }
    case Opcode::kEndLanes: {
      Lanes& made = to_.lanes[open_.back()];
      for (Lanes::Reduction& reduction : made.reductions) {
        reduction.value = value(reduction.value);
        reduction.result = define(reduction.result);
      }
      for (std::uint32_t& of : made.loops) of = loop(of);
      break;
    }
    case Opcode::kRepeat: {
      While made = from_.whiles[op.bits];
      begin_carries(made.carries);
      made.loop = loop(made.loop);
      open_.push_back(to_.whiles.size());
      to_.whiles.push_back(std::move(made));
      break;
    }
    case Opcode::kTest:
      op.a = to_.whiles[open_.back()].predicate = value(op.a);
      to_.whiles[open_.back()].trips = value(to_.whiles[open_.back()].trips);
      break;
    case Opcode::kEndRepeat:
      end_carries(to_.whiles[open_.back()].carries);
      break;
    case Opcode::kIf: {
      If made = from_.ifs[op.bits];
      made.predicate = value(made.predicate);
      open_.push_back(to_.ifs.size());
      to_.ifs.push_back(std::move(made));
      break;
    }
    case Opcode::kElse:
      for (If::Result& result : to_.ifs[open_.back()].results) result.then = value(result.then);
      break;
    default:  // kEndIf
      for (If::Result& result : to_.ifs[open_.back()].results) {
        result.otherwise = value(result.otherwise);
        result.result = define(result.result);
      }
  }
  op.bits = open_.back();
}

void OpCopier::copy(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; at++) {
    Op op = from_.code[at];
    switch (op.code) {
      case Opcode::kFor:
      case Opcode::kLanes:
      case Opcode::kRepeat:
      case Opcode::kTest:
      case Opcode::kIf:
      case Opcode::kElse:
        control(op);
        break;
      case Opcode::kEndFor:
      case Opcode::kEndLanes:
      case Opcode::kEndRepeat:
      case Opcode::kEndIf:
        control(op);
        open_.pop_back();
        break;
      default:
        if (op.code == Opcode::kConvert && op.a == lane_.index && is_integer(op.type) &&
            width(op.type) < width(op.from)) {
          narrow_number(op);
          continue;
        }
        if (op.code == Opcode::kLoad || op.code == Opcode::kStore) op.bits = address(op.bits);
        if (op.code == Opcode::kView) op.bits = view(op.bits);
        if (op.code == Opcode::kCall) op.bits = call(op.bits);
        if (op.code == Opcode::kCopy) op.bits = move(op.bits);
        op.a = value(op.a);
        op.b = value(op.b);
        op.c = value(op.c);
        op.result = define(op.result);
    }
    code_.push_back(op);
  }
}

}  // namespace rondo::lower
