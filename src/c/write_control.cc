// Loops and branches as C.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "c/types.h"
#include "c/writer.h"
#include "lower/opcodes.h"
#include "lower/reduction_order.h"

namespace rondo::c {

using lower::Carry;
using lower::Lanes;
using lower::Opcode;
using lower::Value;

namespace {

/// What several partial results are combined from: none if the order does not matter.
std::int64_t partials_of(const Lanes& lanes, const Lanes::Reduction& sum) {
  if (lower::is_in_any_order(sum.combine, sum.type)) return 0;
  return std::min<std::int64_t>(lanes.known_count.value_or(Lanes::kPartials), Lanes::kPartials);
}

}  // namespace

std::string Writer::index_name() const {
  std::size_t depth = 0;
  for (const Open& open : open_)
    depth += open.opened == Opcode::kFor || open.opened == Opcode::kLanes ? 1u : 0u;
  return index_name(depth);
}

std::string Writer::index_name(std::size_t depth) {
  static constexpr std::string_view kLetters = "ijklmn";
  if (depth < kLetters.size()) return std::string(kLetters.substr(depth, 1));
  return fmt::format("i{}", depth);
}

void Writer::control(const Op& op) {
  switch (op.code) {
    case Opcode::kFor:
      return begin_for(op);
    case Opcode::kLanes:
      return begin_lanes(op);
    case Opcode::kEndLanes:
      return end_lanes(op);
    case Opcode::kRepeat:
      return begin_while(op);
    case Opcode::kTest:
      return test(op);
    case Opcode::kEndFor:
      assign_carries(program_.fors[op.bits].carries);
      return close();
    case Opcode::kEndRepeat:
      assign_carries(program_.whiles[op.bits].carries);
      return close();
    case Opcode::kIf:
      return begin_if(op);
    case Opcode::kElse: {
      end_branch(program_.ifs[op.bits], true);
      depth_--;
      open_.back().head = lines_.size();
      line("} else {");
      depth_++;
      open_.back().block = ++blocks_;
      return;
    }
    default: {  // kEndIf
      end_branch(program_.ifs[op.bits], false);
      const std::size_t head = open_.back().head;
      if (lines_.size() == head + 1) lines_.pop_back();
      return close();
    }
  }
}

void Writer::comment(std::uint32_t loop) {
  if (loop == lower::kNoLoop) return;
  const lower::LoopInfo& info = program_.loops[loop];
  line(
      comment_line(fmt::format("{} at {}", info.name.empty() ? "loop" : info.name, info.at.str())));
}

void Writer::open(const Op& op, std::string head) {
  open_.push_back({op.code, static_cast<std::uint32_t>(op.bits), ++blocks_, lines_.size()});
  if (head.empty()) return;
  line(std::move(head));
  depth_++;
}

void Writer::close() {
  open_.pop_back();
  depth_--;
  line("}");
}

bool Writer::is_needed(const Carry& carry) const {
  return values_[carry.param].uses > 0 || values_[carry.result].uses > 0;
}

void Writer::declare_carries(const std::vector<Carry>& carries) {
  std::vector<std::pair<const Carry*, Expression>> first;
  for (const Carry& carry : carries) {
    const bool needed = is_needed(carry);
    Expression init = use(carry.init);
    if (needed) first.emplace_back(&carry, std::move(init));
  }
  flush_loads();
  for (const auto& [carry, init] : first) {
    const std::string type = declared_type(carry->param);
    const std::string name = variable(carry->param, type.back() == '*' ? "p" : "x");
    state(carry->param).expression.carried = {carry->param};
    state(carry->result).expression = {name};
    state(carry->result).inlined = true;
    line(fmt::format("{}{} = {};", type, name, init.text));
  }
}

void Writer::assign_carries(const std::vector<Carry>& carries) {
  struct Step {
    const Carry* carry;
    std::string name;
    Expression next;
  };
  std::vector<Step> steps;
  for (const Carry& carry : carries) {
    Expression next = use(carry.next);
    if (!is_needed(carry)) continue;
    std::string name = state(carry.param).expression.text;
    if (next.text != name) steps.push_back({&carry, std::move(name), std::move(next)});
  }
  // All at once: one is assigned when no other one reads it any more, the first of those first.
  absl::flat_hash_map<Value, std::size_t> step_of;
  for (std::size_t i = 0; i < steps.size(); i++) step_of.emplace(steps[i].carry->param, i);
  std::vector<std::vector<std::size_t>> reads(steps.size());  // steps whose carry this one reads
  std::vector<std::size_t> readers(steps.size());
  for (std::size_t i = 0; i < steps.size(); i++) {
    for (const Value param : steps[i].next.carried) {
      const auto read = step_of.find(param);
      if (read != step_of.end() && read->second != i) reads[i].push_back(read->second);
    }
    for (const std::size_t read : reads[i]) readers[read]++;
  }
  std::set<std::size_t> waiting, ready;
  for (std::size_t i = 0; i < steps.size(); i++) (readers[i] == 0 ? ready : waiting).insert(i);
  const auto reads_no_more = [&](std::size_t i) {
    for (const std::size_t read : reads[i]) {
      if (--readers[read] > 0) continue;
      waiting.erase(read);
      ready.insert(read);
    }
    reads[i].clear();
  };
  while (!ready.empty() || !waiting.empty()) {
    const bool is_free = !ready.empty();
    const std::size_t next = is_free ? *ready.begin() : *waiting.begin();
    Step& step = steps[next];
    if (is_free) {
      line(fmt::format("{} = {};", step.name, step.next.text));
      ready.erase(next);
    } else {
      const std::string saved = names_.unique(step.name + "_next", "next");
      line(fmt::format("{} = {};", constant_variable(step.carry->param, saved), step.next.text));
      step.next = {saved};
      waiting.erase(next);
    }
    reads_no_more(next);
  }
}

void Writer::begin_for(const Op& op) {
  const lower::For& loop = program_.fors[op.bits];
  const lower::Range low = range(loop.lower), high = range(loop.upper);
  const bool narrow = low.low >= INT32_MIN && high.high < INT32_MAX - loop.step && loop.step > 0;
  Expression lower = use(loop.lower), upper = use(loop.upper);
  comment(loop.loop);
  declare_carries(loop.carries);
  if (loop.loop != lower::kNoLoop && !loop.trips) {
    if (const auto most = program_.loops[loop.loop].max_trip_count) {
      may_fail_ = true;
      line(fmt::format("if ({} > {}) return 1;", upper.text, *most));
    }
  }
  const bool plain = upper.precedence == kPrimary && !upper.loads && upper.carried.empty() &&
                     upper.text.find_first_of("([") == std::string::npos;
  if (!plain) {
    const std::string end = names_.unique("end", "end");
    line(fmt::format("const {} {} = {};", is_narrow(loop.upper) ? "int32_t" : "int64_t", end,
                     upper.text));
    upper.text = end;
  }
  const std::string index = index_name();
  state(loop.index).expression = {index};
  state(loop.index).inlined = state(loop.index).narrow = true;
  if (!narrow) state(loop.index).narrow = false;
  if (narrow && low.low < high.high) indices_[loop.index] = {low.low, high.high - 1};
  if (narrow && !is_narrow(loop.lower)) lower = cast("int32_t", std::move(lower));
  const std::string step =
      loop.step == 1 ? fmt::format("++{}", index) : fmt::format("{} += {}", index, loop.step);
  open(op, fmt::format("for ({} {} = {}; {} < {}; {}) {{", narrow ? "int32_t" : "int64_t", index,
                       lower.text, index, upper.text, step));
}

void Writer::begin_lanes(const Op& op) {
  const Lanes& lanes = program_.lanes[op.bits];
  const lower::Range count = range(lanes.count);
  const bool narrow = count.high < INT32_MAX;
  Expression end = use(lanes.count);
  std::vector<std::string> partials;
  for (const Lanes::Reduction& sum : lanes.reductions) {
    partials.emplace_back();
    if (values_[sum.result].uses == 0) continue;
    const std::string_view type = helpers_.type(sum.type);
    const std::int64_t many = partials_of(lanes, sum);
    if (many == 0) {
      const std::string name = variable(sum.result, "total");
      line(fmt::format("{} {} = {};", type, name, use(sum.init).text));
      continue;
    }
    partials.back() = names_.unique("partial", "partial");
    line(fmt::format("{} {}[{}];", type, partials.back(), many));
    if (lanes.known_count && *lanes.known_count <= Lanes::kPartials) continue;
    const std::string k = index_name();
    line(fmt::format("for (int32_t {0} = 0; {0} < {1}; ++{0}) {2}[{0}] = {3};", k, many,
                     partials.back(),
                     helpers_.constant(sum.type, lower::identity(sum.combine, sum.type))));
  }
  flush_loads();
  if (end.precedence != kPrimary || end.loads || !end.carried.empty()) {
    const std::string name = names_.unique("end", "end");
    line(fmt::format("const {} {} = {};", is_narrow(lanes.count) ? "int32_t" : "int64_t", name,
                     end.text));
    end.text = name;
  }
  const std::string index = index_name();
  state(lanes.index).expression = {index};
  state(lanes.index).inlined = true;
  state(lanes.index).narrow = narrow;
  if (count.high > 0) indices_[lanes.index] = {0, count.high - 1};
  open(op, fmt::format("for ({} {} = 0; {} < {}; ++{}) {{", narrow ? "int32_t" : "int64_t", index,
                       index, end.text, index));
  open_.back().partials = std::move(partials);
}

void Writer::end_lanes(const Op& op) {
  const Lanes& lanes = program_.lanes[op.bits];
  const std::vector<std::string> partials = open_.back().partials;
  const std::string index = state(lanes.index).expression.text;
  for (std::size_t i = 0; i < partials.size(); i++) {
    const Lanes::Reduction& sum = lanes.reductions[i];
    if (values_[sum.result].uses == 0) continue;
    if (partials[i].empty()) {
      const std::string name = state(sum.result).expression.text;
      line(fmt::format("{} = {};", name,
                       combined(sum.combine, sum.type, name, text(sum.value, kUnary))));
    } else if (lanes.known_count && *lanes.known_count <= Lanes::kPartials) {
      line(fmt::format("{}[{}] = {};", partials[i], index, use(sum.value).text));
    } else {
      const std::string at = fmt::format("{}[{} % {}]", partials[i], index, Lanes::kPartials);
      line(fmt::format("{} = {};", at,
                       combined(sum.combine, sum.type, at, text(sum.value, kUnary))));
    }
  }
  close();
  for (std::size_t i = 0; i < partials.size(); i++) {
    const Lanes::Reduction& sum = lanes.reductions[i];
    if (partials[i].empty()) continue;
    const std::int64_t many = partials_of(lanes, sum);
    const std::string fold =
        helpers_.fold(lower::info(sum.combine).name, sum.type,
                      combined(sum.combine, sum.type, "partial[k]", "partial[k + half]"));
    const std::string all = many == 1 ? fmt::format("{}[0]", partials[i])
                                      : fmt::format("{}({}, {})", fold, partials[i], many);
    define(sum.result,
           {combined(sum.combine, sum.type, text(sum.init, kUnary), all), kChoice, true});
  }
}

void Writer::begin_while(const Op& op) {
  const lower::While& loop = program_.whiles[op.bits];
  comment(loop.loop);
  declare_carries(loop.carries);
  std::string counter;
  if (loop.loop != lower::kNoLoop && program_.loops[loop.loop].max_trip_count) {
    may_fail_ = true;
    counter = names_.unique("trips", "trips");
    line(fmt::format("int64_t {} = 0;", counter));
  }
  open(op, loop.predicated ? "" : "for (;;) {");
  open_.back().counter = std::move(counter);
}

void Writer::test(const Op& op) {
  const Open& loop = open_.back();
  const Expression condition = use(op.a);
  if (program_.whiles[loop.index].predicated) {
    line(fmt::format("if ({}) {{", condition.text));
    depth_++;
    return;
  }
  if (lines_.size() == loop.head + 1) {
    lines_.pop_back();
    depth_--;
    line(fmt::format("while ({}) {{", condition.text));
    depth_++;
  } else {
    line(fmt::format("if (!{}) break;", parenthesized(condition, kUnary)));
  }
  if (!loop.counter.empty())
    line(fmt::format("if ({}++ == {}) return 1;", loop.counter,
                     *program_.loops[program_.whiles[loop.index].loop].max_trip_count));
}

void Writer::begin_if(const Op& op) {
  const lower::If& branch = program_.ifs[op.bits];
  const Expression condition = use(branch.predicate);
  flush_loads();
  for (const lower::If::Result& result : branch.results) {
    if (values_[result.result].uses == 0) continue;
    const std::string type = declared_type(result.result);
    line(fmt::format("{}{};", type, variable(result.result, "y")));
  }
  open(op, fmt::format("if ({}) {{", condition.text));
}

void Writer::end_branch(const lower::If& branch, bool then) {
  for (const lower::If::Result& result : branch.results) {
    if (values_[result.result].uses == 0) continue;
    line(fmt::format("{} = {};", values_[result.result].expression.text,
                     use(then ? result.then : result.otherwise).text));
  }
}

}  // namespace rondo::c
