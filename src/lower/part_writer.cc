#include "lower/part_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

std::int64_t trips_of_part(const LargeLoop& loop, std::int64_t trips, double part_work) {
  const auto parts = static_cast<std::int64_t>(std::clamp<double>(
      std::floor(loop.work / part_work), 2, static_cast<double>(Slots::kMostParts)));
  // No two parts write to one line of the cache, and no block of lanes is in two.
  constexpr std::int64_t kBlock = 256, kFewest = 16;
  std::int64_t multiple = 1;
  if (loop.division == Division::kLanes) multiple = trips >= 4 * kBlock ? kBlock : kFewest;
  return ((trips + parts - 1) / parts + multiple - 1) / multiple * multiple;
}

}  // namespace

PartWriter::PartWriter(const Program& whole, const std::vector<std::int64_t>& bytes,
                       const absl::flat_hash_map<Value, std::uint64_t>& constants, Value slots)
    : whole_(whole), bytes_(bytes), constants_(constants), slots_(slots) {
  made_.program.types.push_back(Type::kPred);  // value 0 is none
  part_ = argument(sizeof(DividedLoop::Part));
  scalars_of_call_ = argument(0);
}

DividedLoop PartWriter::write(const LargeLoop& loop, double part_work) {
  const auto outside = [this](Value value) { return from_outside(value); };
  OpCopier copier(whole_, made_.program, ops_, ops_before_, outside);
  switch (loop.division) {
    case Division::kTrips:
      trips(loop, copier);
      break;
    case Division::kLanes:
      lanes(loop, copier);
      break;
    case Division::kPartials:
      partials(loop, copier);
      break;
  }
  if (made_.trips_of_part == 0) made_.trips_of_part = trips_of_part(loop, made_.trips, part_work);
  made_.program.buffers[1].bytes = Slots::kBytes * static_cast<std::int64_t>(scalars_.size());
  made_.program.code = std::move(ops_before_);
  made_.program.code.insert(made_.program.code.end(), ops_.begin(), ops_.end());
  made_.loops = copier.loops();
  made_.around = loop.around;
  return std::move(made_);
}

Value PartWriter::argument(std::int64_t bytes) {
  const auto index = static_cast<std::uint32_t>(made_.program.buffers.size());
  return before_.base({Storage::kArgument, index, 0, bytes});
}

Value PartWriter::from_outside(Value value) {
  const Type type = whole_.types[value];
  if (const auto found = constants_.find(value); found != constants_.end())
    return before_.constant(type, found->second);
  if (type == Type::kPointer) {
    pointers_.push_back(value);
    return argument(bytes_[value]);
  }
  scalars_.push_back(value);
  const auto slot = static_cast<std::int64_t>(scalars_.size()) - 1;
  return before_.load(type, {scalars_of_call_, Slots::kBytes * slot, {}});
}

Value PartWriter::identity_of(const Lanes::Reduction& reduction) {
  return before_.constant(reduction.type, identity(reduction.combine, reduction.type));
}

/// Where the parts leave what they have combined.
Value PartWriter::results_of(std::size_t reductions) {
  pointers_.push_back(slots_);
  return argument(Slots::offset(reductions));
}

void PartWriter::trips(const LargeLoop& loop, OpCopier& copier) {
  const For& whole = whole_.fors[whole_.code[loop.begin].bits];
  made_.trips = *whole.trips;
  made_.adds_trips = true;
  For some;
  some.lower = first();
  some.upper = end();
  some.index = copier.define(whole.index);
  some.polls = whole.polls;
  made_.program.fors.push_back(std::move(some));
  here_.with_entry(Opcode::kFor, 0);
  copier.copy(loop.begin + 1, loop.end);
  here_.with_entry(Opcode::kEndFor, 0);
}

/// Copies what stands in the lanes, and gives what the reductions combine. `number` writes the
/// number of a lane, which is left out where nobody reads it.
template <class F>
std::vector<Value> PartWriter::copy_body(const LargeLoop& loop, OpCopier& copier, LaneNumber lane,
                                         F&& number) {
  const auto begin = static_cast<std::ptrdiff_t>(ops_.size());
  lane.number = number();
  const auto end = static_cast<std::ptrdiff_t>(ops_.size());
  copier.set_lane(std::move(lane));
  copier.copy(loop.begin + 1, loop.end);
  std::vector<Value> values;
  for (const Lanes::Reduction& reduction : whole_.lanes[whole_.code[loop.begin].bits].reductions)
    values.push_back(copier.value(reduction.value));
  if (!copier.reads_number()) ops_.erase(ops_.begin() + begin, ops_.begin() + end);
  return values;
}

void PartWriter::lanes(const LargeLoop& loop, OpCopier& copier) {
  const Lanes& whole = whole_.lanes[whole_.code[loop.begin].bits];
  made_.trips = *whole.known_count;
  Program& to = made_.program;
  const Value first_lane = first(), index = new_value(to, Type::kS64);
  to.lanes.push_back({index, count(), std::nullopt, {}, whole.polls, {}});
  here_.with_entry(Opcode::kLanes, 0);
  const std::vector<Value> values =
      copy_body(loop, copier, {whole.index, kNone, 0, first_lane, {{index, 1}}},
                [&] { return here_.binary(Opcode::kAdd, Type::kS64, index, first_lane); });
  for (std::size_t r = 0; r < values.size(); r++) {
    const Lanes::Reduction& reduction = whole.reductions[r];
    const Value init = identity_of(reduction);
    to.lanes[0].reductions.push_back(
        {reduction.combine, reduction.type, init, values[r], copier.define(reduction.result)});
  }
  // Each loop that stands in the lanes has been copied.
  for (std::uint32_t inner = 0; inner < whole.loops.size(); inner++)
    to.lanes[0].loops.push_back(inner);
  here_.with_entry(Opcode::kEndLanes, 0);
  if (values.empty()) return;
  const Value results = results_of(values.size()), part = number();
  for (std::size_t r = 0; r < values.size(); r++) {
    here_.store(to.lanes[0].reductions[r].result,
                {results, Slots::offset(r), {{part, Slots::kBytes}}});
  }
}

/// Lanes that are partial results, around a loop over the lanes that each of them combines.
void PartWriter::partials(const LargeLoop& loop, OpCopier& copier) {
  constexpr std::int64_t kAtOnce = Lanes::kPartials / 4;
  const Lanes& whole = whole_.lanes[whole_.code[loop.begin].bits];
  const std::int64_t blocks = *whole.known_count / Lanes::kPartials;
  made_.trips = Lanes::kPartials;
  made_.trips_of_part = kAtOnce;
  Program& to = made_.program;
  const Value first_partial = first(), index = new_value(to, Type::kS64);
  to.lanes.push_back({index, before_.index(kAtOnce), kAtOnce, {}, false, {}});
  here_.with_entry(Opcode::kLanes, 0);
  For each;
  each.lower = before_.index(0);
  each.upper = before_.index(blocks);
  each.index = new_value(to, Type::kS64);
  each.trips = blocks;
  each.polls = true;
  for (const Lanes::Reduction& reduction : whole.reductions) {
    const Value so_far = new_value(to, reduction.type);
    each.carries.push_back({reduction.type, identity_of(reduction), so_far, kNone, kNone});
  }
  const Value block = each.index, size = before_.index(Lanes::kPartials);
  to.fors.push_back(std::move(each));
  here_.with_entry(Opcode::kFor, 0);
  const LaneNumber lane{
      whole.index, kNone, 0, first_partial, {{index, 1}, {block, Lanes::kPartials}}};
  const std::vector<Value> values = copy_body(loop, copier, lane, [&] {
    const Value before = here_.binary(Opcode::kMultiply, Type::kS64, block, size);
    const Value first_lane = here_.binary(Opcode::kAdd, Type::kS64, before, first_partial);
    return here_.binary(Opcode::kAdd, Type::kS64, index, first_lane);
  });
  for (std::size_t r = 0; r < values.size(); r++) {
    Carry& carry = to.fors[0].carries[r];
    carry.next = here_.binary(whole.reductions[r].combine, carry.type, carry.param, values[r]);
    carry.result = new_value(to, carry.type);
  }
  here_.with_entry(Opcode::kEndFor, 0);
  const Value results = results_of(values.size());
  for (std::size_t r = 0; r < values.size(); r++) {
    const Carry& carry = to.fors[0].carries[r];
    const std::int64_t width = lower::width(carry.type);
    here_.store(carry.result,
                {results, Slots::offset(r), {{index, width}, {first_partial, width}}});
  }
  here_.with_entry(Opcode::kEndLanes, 0);
}

}  // namespace rondo::lower
