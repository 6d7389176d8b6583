#include "lower/passes/vectorize_trips.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "lower/op_writer.h"
#include "lower/opcodes.h"
#include "lower/passes/entries.h"
#include "lower/passes/trip_plan.h"
#include "lower/run_frame.h"

namespace rondo::lower {

namespace {

/// Threshold: Trips between two looks at the limits of a run, by loops of single elements: the cost
/// of a chunk against how soon a run ends. Not measured.
constexpr std::int64_t kTripsOfChunk = 4096;

/// Writes the loops that were found as lanes:
///
///     while trips < upper
///       lanes of a chunk: the ops of a trip
class LaneWriter {
 public:
  explicit LaneWriter(Program& program) : program_(program) {}

  void run(const std::vector<TripPlan>& plans) {
    std::size_t at = 0;
    for (const TripPlan& plan : plans) {
      keep(at, plan.begin);
      write(plan);
      at = plan.end + 1;
    }
    keep(at, program_.code.size());
    program_.code = std::move(code_);
    drop_unused_entries(program_, program_.fors, Opcode::kFor, Opcode::kEndFor);
    drop_unused_entries(program_, program_.ifs, Opcode::kIf, Opcode::kEndIf);
  }

 private:
  void keep(std::size_t begin, std::size_t end) {
    code_.insert(code_.end(), program_.code.begin() + static_cast<std::ptrdiff_t>(begin),
                 program_.code.begin() + static_cast<std::ptrdiff_t>(end));
  }

  Value emit(Opcode code, Type type, Type from, Value a, Value b = kNone, Value c = kNone) {
    const Value result = new_value(program_, type);
    code_.push_back({code, type, from, result, a, b, c, 0});
    return result;
  }
  Value converted(Value value, Type to) {
    const Type from = program_.types[value];
    return from == to ? value : emit(Opcode::kConvert, to, from, value);
  }

  void write(const TripPlan& plan) {
    const For loop = program_.fors[program_.code[plan.begin].bits];
    // A promise about the number of trips is checked before each chunk, as limits are.
    const bool polls = loop.loop == kNoLoop ? loop.polls
                                            : program_.loops[loop.loop].polls ||
                                                  program_.loops[loop.loop].max_trip_count;
    std::vector<Value> identities;
    for (std::size_t i = 0; i < plan.carries.size(); i++) {
      const bool reduces = plan.carries[i].kind == TripCarry::Kind::kReduction;
      const Carry& carry = loop.carries[i];
      identities.push_back(
          reduces ? writer_.constant(carry.type, identity(plan.carries[i].combine, carry.type))
                  : kNone);
    }
    indices_.clear();
    for (const auto& [number, form] : plan.addresses) {
      for (const Address::Term& term : form.terms) {
        if (term.index != loop.index && !plan.values.indices.contains(term.index))
          indices_.emplace(term.index, kNone);
      }
    }
    for (auto& [index, wide] : indices_) wide = converted(index, Type::kS64);

    // The loop over chunks.
    While chunks;
    chunks.loop = loop.loop;
    const Value trips = new_value(program_, Type::kS64);
    chunks.carries.push_back({Type::kS64, loop.lower, trips, kNone, kNone});
    if (loop.loop != kNoLoop) chunks.trips = trips;
    Lanes lanes;
    std::vector<Value> begins;  // of induction variables, in a chunk
    for (std::size_t i = 0; i < plan.carries.size(); i++) {
      Carry carry = loop.carries[i];
      if (plan.carries[i].kind == TripCarry::Kind::kInduction) {
        carry.param = new_value(program_, carry.type);
        if (loop.loop != kNoLoop) rename_state(loop.loop, loop.carries[i].param, carry.param);
      }
      begins.push_back(carry.param);
      chunks.carries.push_back(carry);
    }
    const std::uint64_t of_chunks = program_.whiles.size();
    program_.whiles.push_back({});
    writer_.with_entry(Opcode::kRepeat, of_chunks);
    chunks.predicate = emit(Opcode::kLess, Type::kPred, Type::kS64, trips, loop.upper);
    code_.push_back({Opcode::kTest, Type::kPred, Type::kPred, kNone, chunks.predicate, kNone, kNone,
                     of_chunks});
    lanes.count = polls ? chunk(loop, trips) : loop.upper;
    const bool reversed = goes_down(plan, loop.index);
    lanes.index = polls || reversed ? new_value(program_, Type::kS64) : loop.index;
    lanes.polls = false;
    lanes.ascending = plan.ascending;
    if (!polls && loop.trips) lanes.known_count = loop.trips;
    order_ = {lanes.index, polls ? trips : kNone, kNone, loop.trips};
    if (reversed)
      order_.last = emit(Opcode::kSubtract, Type::kS64, Type::kS64, lanes.count, writer_.index(1));

    const std::uint64_t of_lanes = program_.lanes.size();
    program_.lanes.push_back({});
    writer_.with_entry(Opcode::kLanes, of_lanes);
    // The trip in the chunk, and in the loop.
    const Value number =
        reversed ? emit(Opcode::kSubtract, Type::kS64, Type::kS64, order_.last, lanes.index)
                 : lanes.index;
    if (polls || reversed)
      code_.push_back({Opcode::kAdd, Type::kS64, Type::kS64, loop.index, polls ? trips : loop.lower,
                       number, kNone, 0});
    for (std::size_t i = 0; i < plan.carries.size(); i++) {
      if (plan.carries[i].kind == TripCarry::Kind::kInduction)
        step(loop.carries[i], plan.carries[i], begins[i], number, loop.carries[i].param);
    }
    for (Op op : plan.trip) {
      const auto form = op.code == Opcode::kLoad || op.code == Opcode::kStore
                            ? plan.addresses.find(op.bits)
                            : plan.addresses.end();
      if (form != plan.addresses.end())
        op.bits = address(program_.addresses[op.bits].base, form->second, loop.index);
      code_.push_back(op);
    }
    for (std::size_t i = 0; i < plan.carries.size(); i++) {
      if (plan.carries[i].kind != TripCarry::Kind::kReduction) continue;
      Carry& carry = chunks.carries[i + 1];
      const Value value = contribution(loop.carries[i], plan.carries[i], plan.values, identities[i],
                                       [&](Opcode code, Value a, Value b, Value c) {
                                         return emit(code, carry.type, carry.type, a, b, c);
                                       });
      carry.next = new_value(program_, carry.type);
      lanes.reductions.push_back(
          {plan.carries[i].combine, carry.type, carry.param, value, carry.next});
    }
    writer_.with_entry(Opcode::kEndLanes, of_lanes);
    count_trips(plan, lanes.count);
    chunks.carries[0].next = emit(Opcode::kAdd, Type::kS64, Type::kS64, trips, lanes.count);
    chunks.carries[0].result = new_value(program_, Type::kS64);
    for (std::size_t i = 0; i < plan.carries.size(); i++) {
      Carry& carry = chunks.carries[i + 1];
      if (plan.carries[i].kind == TripCarry::Kind::kInduction)
        carry.next = step(loop.carries[i], plan.carries[i], begins[i], lanes.count, kNone);
    }
    writer_.with_entry(Opcode::kEndRepeat, of_chunks);
    program_.whiles[of_chunks] = std::move(chunks);
    program_.lanes[of_lanes] = std::move(lanes);
    if (loop.loop != kNoLoop) program_.loops[loop.loop].trips_in_lanes = true;
  }

  /// Counts the trips that the loops in the trips have made together: a loop of one trip for each.
  void count_trips(const TripPlan& plan, Value lanes) {
    std::vector<Value> times{lanes};
    for (const Op& op : plan.trip) {
      if (op.code == Opcode::kEndFor) times.pop_back();
      if (op.code != Opcode::kFor) continue;
      For& inner = program_.fors[op.bits];
      const Value all = emit(Opcode::kMultiply, Type::kS64, Type::kS64, times.back(), inner.upper);
      times.push_back(all);
      if (inner.loop == kNoLoop) continue;
      While counts;
      counts.loop = std::exchange(inner.loop, kNoLoop);
      counts.trips = new_value(program_, Type::kS64);
      counts.carries.push_back(
          {Type::kS64, inner.lower, counts.trips, all, new_value(program_, Type::kS64)});
      const std::uint64_t number = program_.whiles.size();
      writer_.with_entry(Opcode::kRepeat, number);
      counts.predicate = emit(Opcode::kLess, Type::kPred, Type::kS64, counts.trips, all);
      code_.push_back(
          {Opcode::kTest, Type::kPred, Type::kPred, kNone, counts.predicate, kNone, kNone, number});
      writer_.with_entry(Opcode::kEndRepeat, number);
      program_.whiles.push_back(std::move(counts));
    }
  }

  /// The value of an induction variable after so many trips; as `result`, if there is one.
  Value step(const Carry& carry, const TripCarry& induction, Value begin, Value trips,
             Value result) {
    const Value count = converted(trips, carry.type);
    const Value moved = emit(Opcode::kMultiply, carry.type, carry.type, count, induction.step);
    if (result == kNone) result = new_value(program_, carry.type);
    code_.push_back({induction.subtracts ? Opcode::kSubtract : Opcode::kAdd, carry.type, carry.type,
                     result, begin, moved, kNone, 0});
    return result;
  }

  /// The trips of a chunk: none after which a limit ends the run.
  Value chunk(const For& loop, Value trips) {
    Value most = writer_.index(kTripsOfChunk);
    const auto ends_at = [&](Value last) {
      const Value left = emit(Opcode::kSubtract, Type::kS64, Type::kS64, last, trips);
      most = emit(Opcode::kMin, Type::kS64, Type::kS64, most, left);
    };
    ends_at(loop.upper);
    if (loop.loop == kNoLoop) return most;
    const Value frame = writer_.base({Storage::kFrame, 0, 0, std::int64_t{sizeof(RunFrame)}});
    ends_at(writer_.load(Type::kS64, {frame, offsetof(RunFrame, max_iterations), {}}));
    if (const auto promised = program_.loops[loop.loop].max_trip_count)
      ends_at(writer_.index(*promised));
    return most;
  }

  std::uint64_t address(Value base, const Affine& form, Value index) {
    Address made{base, form.constant, {}};
    for (const Address::Term& term : form.terms) {
      if (term.index != index) {
        const auto outside = indices_.find(term.index);
        made.terms.push_back(
            {outside == indices_.end() ? term.index : outside->second, term.stride});
        continue;
      }
      if (order_.before != kNone) made.terms.push_back({order_.before, term.stride});
      made.terms.push_back({order_.lane, order_.last == kNone ? term.stride : -term.stride});
      if (order_.last == kNone) continue;
      if (order_.before == kNone && order_.trips)
        made.offset += term.stride * (*order_.trips - 1);
      else
        made.terms.push_back({order_.last, term.stride});
    }
    program_.addresses.push_back(std::move(made));
    return program_.addresses.size() - 1;
  }

  /// Whether lanes are side by side in memory more often from the last trip to the first.
  bool goes_down(const TripPlan& plan, Value index) const {
    if (plan.ascending) return false;
    std::ptrdiff_t up = 0;
    for (const Op& op : plan.trip) {
      if (op.code != Opcode::kLoad && op.code != Opcode::kStore) continue;
      const auto form = plan.addresses.find(op.bits);
      if (form == plan.addresses.end()) continue;
      const std::int64_t stride = form->second.stride_of(index), bytes = width(op.type);
      up += stride == bytes ? 1 : stride == -bytes ? -1 : 0;
    }
    return up < 0;
  }

  void rename_state(std::uint32_t loop, Value from, Value to) {
    for (CarriedLeaf& leaf : program_.loops[loop].state)
      std::replace(leaf.parts.begin(), leaf.parts.end(), from, to);
  }

  Program& program_;
  std::vector<Op> code_;
  OpWriter writer_{program_, code_};
  absl::btree_map<Value, Value> indices_;  // as s64; in order, so that code is the same each time
  /// Trip before + lane, or before + last - lane.
  struct Order {
    Value lane = kNone, before = kNone, last = kNone;
    std::optional<std::int64_t> trips = std::nullopt;  // of the loop, where known
  };
  Order order_;
};

}  // namespace

void vectorize_trips(Program& program) {
  if (program.fors.empty()) return;
  const TripPlans plans = plan_trips(program);
  if (plans.loops.empty()) return;
  program.types.insert(program.types.end(), plans.added.begin(), plans.added.end());
  LaneWriter(program).run(plans.loops);
}

}  // namespace rondo::lower
