#include "lower/passes/ranges.h"

#include <algorithm>
#include <utility>

#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

/// Threshold: Depth of arithmetic that is evaluated again under a condition: compile time against
/// tighter ranges. Not measured.
constexpr int kDeepest = 4;
/// Threshold: Depth of nested loops that are analysed: compile time against tighter ranges. Not
/// measured.
constexpr std::size_t kDeepestLoop = 8;
/// Threshold: Steps of the analysis for each op of the program: compile time against tighter
/// ranges. Not measured.
constexpr std::size_t kMostSteps = 64;

bool is_comparison(Opcode code) { return code >= Opcode::kEqual && code <= Opcode::kGreaterEqual; }

Opcode opposite(Opcode compare) {
  switch (compare) {
    case Opcode::kEqual:
      return Opcode::kNotEqual;
    case Opcode::kNotEqual:
      return Opcode::kEqual;
    case Opcode::kLess:
      return Opcode::kGreaterEqual;
    case Opcode::kLessEqual:
      return Opcode::kGreater;
    case Opcode::kGreater:
      return Opcode::kLessEqual;
    default:
      return Opcode::kLess;
  }
}

Opcode mirrored(Opcode compare) {
  switch (compare) {
    case Opcode::kLess:
      return Opcode::kGreater;
    case Opcode::kLessEqual:
      return Opcode::kGreaterEqual;
    case Opcode::kGreater:
      return Opcode::kLess;
    case Opcode::kGreaterEqual:
      return Opcode::kLessEqual;
    default:
      return compare;
  }
}

/// Widens the bounds of `range` that `next` exceeds: to where a few sums and products of the type
/// still do not wrap, or to the type's bounds.
Range widened(const Range& range, const Range& next, const Range& whole, bool to_end) {
  // Threshold: Range that a widened carry leaves unused, so that a few sums and products of it do
  // not wrap. Not measured.
  constexpr std::int64_t kRoom = 8;
  Range out = range;
  const std::int64_t low = to_end ? whole.low : whole.low / kRoom;
  const std::int64_t high = to_end ? whole.high : whole.high / kRoom;
  if (next.low < range.low) out.low = next.low < low ? whole.low : low;
  if (next.high > range.high) out.high = next.high > high ? whole.high : high;
  return out;
}

bool all_within(const std::vector<Range>& inner, const std::vector<Range>& outer) {
  for (std::size_t i = 0; i < inner.size(); i++) {
    if (!outer[i].contains(inner[i])) return false;
  }
  return true;
}

}  // namespace

Ranges::Ranges(const Program& program)
    : program_(program),
      ranges_(program.types.size()),
      maker_(program.types.size(), nullptr),
      ends_(program.code.size(), 0),
      steps_left_(kMostSteps * program.code.size()) {
  for (Value v = 0; v < ranges_.size(); v++) ranges_[v] = range_of(program.types[v]);
  for (const For& loop : program.fors) {
    if (loop.first != kNone) counters_.emplace(loop.index, Limits{loop.first, loop.limit});
  }
  for (const Lanes& lanes : program.lanes) {
    if (lanes.first != kNone) counters_.emplace(lanes.index, Limits{lanes.first, lanes.limit});
  }
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Op& op = program.code[at];
    if (op.result != kNone) maker_[op.result] = &op;
    if (op.code == Opcode::kFor || op.code == Opcode::kRepeat) open.push_back(at);
    if (op.code == Opcode::kEndFor || op.code == Opcode::kEndRepeat) {
      ends_[open.back()] = at;
      open.pop_back();
    }
  }
}

void Ranges::walk(absl::FunctionRef<void(std::size_t)> visit) {
  walk(0, program_.code.size(), nullptr);
  walk(0, program_.code.size(), &visit);
}

void Ranges::walk(std::size_t begin, std::size_t end, const Visit* visit) {
  for (std::size_t at = begin; at < end; at++) {
    if (visit) (*visit)(at);
    step(at, visit == nullptr);
  }
}

const std::vector<Carry>& Ranges::carries_of(const Op& op) const {
  return op.code == Opcode::kFor || op.code == Opcode::kEndFor ? program_.fors[op.bits].carries
                                                               : program_.whiles[op.bits].carries;
}

void Ranges::step(std::size_t at, bool settles) {
  const Op& op = program_.code[at];
  switch (op.code) {
    case Opcode::kLanes:
    case Opcode::kEndLanes:
      in_lanes_ = op.code == Opcode::kLanes;
      return;
    case Opcode::kFor:
    case Opcode::kRepeat:
      return begin_loop(at, settles);
    case Opcode::kTest:
      return assume(program_.whiles[op.bits].predicate, true);
    case Opcode::kEndFor:
      return end_loop(carries_of(op), kNone);
    case Opcode::kEndRepeat:
      return end_loop(carries_of(op), program_.whiles[op.bits].predicate);
    case Opcode::kIf:
    case Opcode::kElse:
    case Opcode::kEndIf:
      return branch(op);
    default:
      if (op.result != kNone) define(op);
  }
}

void Ranges::define(const Op& op) {
  if (!is_followed(op.type) && op.type != Type::kU64) return;
  const auto range = op.code == Opcode::kSelect ? std::optional(chosen(op, 0))
                                                : computed(op, of(op.a), of(op.b), of(op.c));
  ranges_[op.result] = range.value_or(range_of(op.type));
  if (op.code == Opcode::kAdd && op.type == Type::kS64 && !counters_.empty())
    ranges_[op.result] = common(ranges_[op.result], counted(op));
}

void Ranges::forget_branches(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; at++) {
    const Op& op = program_.code[at];
    if (op.result != kNone && op.code < Opcode::kFor) define(op);
  }
}

/// That of a loop's first index and its index together.
Range Ranges::counted(const Op& op) const {
  for (const auto& [index, first] : {std::pair(op.a, op.b), std::pair(op.b, op.a)}) {
    const auto found = counters_.find(index);
    if (found == counters_.end() || found->second.first != first) continue;
    const Range least = of(first), limit = of(found->second.limit);
    if (limit.high > least.low) return {least.low, limit.high - 1};
  }
  return {};
}

Range Ranges::evaluate(Value value, int depth) const {
  const Op* const op = maker_[value];
  const Range& known = ranges_[value];
  if (op == nullptr || depth == kDeepest || known.low == known.high || !is_followed(op->type))
    return known;
  if (op->code == Opcode::kSelect) return common(known, chosen(*op, depth + 1));
  if (info(op->code).operands == 0) return known;
  const auto range = computed(*op, evaluate(op->a, depth + 1), evaluate(op->b, depth + 1), Range());
  return range ? common(known, *range) : known;
}

Range Ranges::chosen(const Op& select, int depth) const {
  if (in_lanes_) return join(ranges_[select.b], ranges_[select.c]);
  return join(where(select.b, select.a, true, depth), where(select.c, select.a, false, depth));
}

Range Ranges::where(Value value, Value predicate, bool holds, int depth) const {
  const Range known = evaluate(value, depth);
  const Op* const op = maker_[predicate];
  if (op == nullptr || depth >= kDeepest) return known;
  if (op->code == (holds ? Opcode::kAnd : Opcode::kOr)) {
    return common(where(value, op->a, holds, depth + 1), where(value, op->b, holds, depth + 1));
  }
  if (op->code == Opcode::kNot) return where(value, op->a, !holds, depth + 1);
  if (!is_comparison(op->code) || !is_followed(op->from)) return known;
  const Opcode compare = holds ? op->code : opposite(op->code);
  if (op->a == value) return where_compared(compare, known, evaluate(op->b, depth + 1));
  if (op->b == value) return where_compared(mirrored(compare), known, evaluate(op->a, depth + 1));
  return known;
}

void Ranges::narrow(Value value, const Range& range) {
  if (range == ranges_[value]) return;
  refined_.push_back({value, ranges_[value]});
  ranges_[value] = range;
  // A value that was widened is the same.
  const Op* const op = maker_[value];
  if (op != nullptr && op->code == Opcode::kConvert && is_followed(op->from) &&
      range_of(op->type).contains(range_of(op->from)))
    narrow(op->a, common(ranges_[op->a], range));
}

void Ranges::forget(std::size_t known) {
  while (refined_.size() > known) {
    ranges_[refined_.back().value] = refined_.back().before;
    refined_.pop_back();
  }
}

void Ranges::assume(Value predicate, bool holds, int depth) {
  const Op* const op = maker_[predicate];
  if (op == nullptr || in_lanes_ || depth == kDeepest) return;
  if (op->code == (holds ? Opcode::kAnd : Opcode::kOr) && op->type == Type::kPred) {
    assume(op->a, holds, depth + 1);
    return assume(op->b, holds, depth + 1);
  }
  if (op->code == Opcode::kNot) return assume(op->a, !holds, depth + 1);
  if (!is_comparison(op->code) || !is_followed(op->from)) return;
  const Opcode compare = holds ? op->code : opposite(op->code);
  const Range a = of(op->a), b = of(op->b);
  narrow(op->a, where_compared(compare, a, b));
  narrow(op->b, where_compared(mirrored(compare), b, a));
}

void Ranges::begin_loop(std::size_t at, bool settles) {
  const Op& op = program_.code[at];
  const std::vector<Carry>& carries = carries_of(op);
  if (op.code == Opcode::kFor) {
    const For& loop = program_.fors[op.bits];
    const Range lower = of(loop.lower);
    Range upper = of(loop.upper);
    if (loop.first != kNone) {
      std::int64_t most = 0;
      if (!__builtin_sub_overflow(of(loop.limit).high, of(loop.first).low, &most))
        upper.high = std::min(upper.high, std::max<std::int64_t>(most, 0));
    }
    const bool known = loop.step > 0 && upper.high > lower.low;
    ranges_[loop.index] = known ? Range{lower.low, upper.high - 1} : Range();
  }
  if (settles) settle(at, carries);
  open_.push_back({refined_.size()});
}

/// The ranges of the params at the beginning of the next trip.
std::vector<Range> Ranges::after_trip(std::size_t at, const std::vector<Carry>& carries,
                                      const std::vector<Range>& params) {
  const std::size_t known = refined_.size();
  for (std::size_t i = 0; i < carries.size(); i++) ranges_[carries[i].param] = params[i];
  open_.push_back({known});
  walk(at + 1, ends_[at], nullptr);
  std::vector<Range> next;
  for (std::size_t i = 0; i < carries.size(); i++)
    next.push_back(is_followed(carries[i].type) ? of(carries[i].next) : Range());
  open_.pop_back();
  forget(known);
  return next;
}

/// The result of an earlier pass of the enclosing loop, or the range of a counter below a limit.
std::vector<Range> Ranges::first_guess(std::size_t at, const std::vector<Carry>& carries,
                                       const std::vector<Range>& init) const {
  const auto found = settled_.find(at);
  std::vector<Range> guess = init;
  const Op& begin = program_.code[at];
  for (std::size_t i = 0; i < carries.size(); i++) {
    if (found != settled_.end()) {
      guess[i] = join(init[i], found->second[i]);
      continue;
    }
    const Op* const next = maker_[carries[i].next];
    if (begin.code != Opcode::kRepeat || next == nullptr || next->code != Opcode::kAdd) continue;
    const Op* const test = maker_[program_.whiles[begin.bits].predicate];
    const bool counts = test != nullptr && test->code == Opcode::kLess &&
                        test->a == carries[i].param && (next->a == test->a || next->b == test->a);
    if (!counts) continue;
    const Op* const by = maker_[next->a == test->a ? next->b : next->a];
    const Op* const limit = maker_[test->b];
    if (by == nullptr || by->code != Opcode::kConstant || limit == nullptr) continue;
    const Range last = where_compared(Opcode::kLess, range_of(carries[i].type), of(test->b));
    const auto end = computed(*next, last, of(by->result), Range());
    if (end) guess[i].high = std::max(guess[i].high, end->high);
  }
  return guess;
}

/// Finds ranges of the params that every trip preserves: tries some, and widens those that do not
/// contain the trip's results.
void Ranges::settle(std::size_t at, const std::vector<Carry>& carries) {
  // Threshold: Times that a loop's ranges are widened before they are given up: compile time
  // against tighter ranges. Not measured.
  constexpr int kMostTries = 4;
  std::vector<Range> init, whole;
  for (const Carry& carry : carries) {
    whole.push_back(range_of(carry.type));
    init.push_back(is_followed(carry.type) ? of(carry.init) : Range());
  }
  std::vector<Range> params = whole;
  if (!in_lanes_ && !carries.empty()) {
    params = first_guess(at, carries, init);
    const std::size_t size = ends_[at] - at;
    const auto tried = [&](std::vector<Range>& next) {
      if (open_.size() >= kDeepestLoop || steps_left_ < size) return false;
      steps_left_ -= size;
      next = after_trip(at, carries, params);
      for (std::size_t i = 0; i < next.size(); i++) next[i] = join(init[i], next[i]);
      return true;
    };
    std::vector<Range> next;
    for (int t = 0;; t++) {
      if (t == kMostTries || !tried(next)) {
        params = whole;
        break;
      }
      if (all_within(next, params)) {
        if (t == 0) break;
        // Perhaps a smaller range suffices.
        std::vector<Range> wider = std::exchange(params, next);
        if (!tried(next) || !all_within(next, params)) params = std::move(wider);
        break;
      }
      for (std::size_t i = 0; i < next.size(); i++)
        params[i] = widened(params[i], next[i], whole[i], t > 0);
    }
  }
  for (std::size_t i = 0; i < carries.size(); i++) ranges_[carries[i].param] = params[i];
  settled_[at] = std::move(params);
}

void Ranges::end_loop(const std::vector<Carry>& carries, Value predicate) {
  forget(open_.back().known);
  open_.pop_back();
  for (const Carry& carry : carries) {
    if (carry.result == kNone || !is_followed(carry.type)) continue;
    const bool refines = predicate != kNone && !in_lanes_;
    ranges_[carry.result] =
        refines ? where(carry.param, predicate, false, 0) : ranges_[carry.param];
  }
}

void Ranges::branch(const Op& op) {
  const If& branches = program_.ifs[op.bits];
  if (op.code == Opcode::kIf) {
    open_.push_back({refined_.size()});
    return assume(branches.predicate, true);
  }
  Open& open = open_.back();
  if (op.code == Opcode::kElse) {
    for (const If::Result& result : branches.results) open.then.push_back(of(result.then));
    forget(open.known);
    return assume(branches.predicate, false);
  }
  for (std::size_t i = 0; i < branches.results.size(); i++) {
    const If::Result& result = branches.results[i];
    if (is_followed(result.type)) ranges_[result.result] = join(open.then[i], of(result.otherwise));
  }
  forget(open.known);
  open_.pop_back();
}

}  // namespace rondo::lower
