#include "lower/passes/part_writer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

std::int64_t trips_of_part(const LargeLoop& loop, std::int64_t trips, double part_work) {
  constexpr auto kMostParts = static_cast<double>(Slots::kMostParts);
  const auto parts = static_cast<std::int64_t>(
      loop.known_work ? std::clamp<double>(std::floor(loop.work / part_work), 2, kMostParts)
                      : kMostParts);
  // Threshold: Lanes of a part are a multiple of a block of lanes or, below four blocks, of a cache
  // line, so that no two parts write to one line. Not measured.
  constexpr std::int64_t kBlock = 256, kFewest = 16;
  std::int64_t multiple = 1;
  if (loop.division == Division::kLanes) multiple = trips >= 4 * kBlock ? kBlock : kFewest;
  return ((trips + parts - 1) / parts + multiple - 1) / multiple * multiple;
}

/// As many as have their values in the cache until these are combined.
std::int64_t lanes_in_order(const Lanes& whole) {
  // Threshold: Lanes of a part of an ordered sum: their values must stay in cache until they are
  // combined, and several parts must overlap. Not measured; SeveralLoops in bench/rondo_bench.cc
  // runs it.
  constexpr std::int64_t kBlock = 256, kMostBytes = 32 << 10, kFewestParts = 8;
  const auto reductions = static_cast<std::int64_t>(whole.reductions.size());
  const std::int64_t most = kMostBytes / (Slots::kBytes * reductions);
  const std::int64_t lanes = std::min(most, *whole.known_count / kFewestParts);
  return std::max<std::int64_t>(lanes / kBlock, 1) * kBlock;
}

Address at_lane(Address first, Value lane, Type type) {
  first.terms.push_back({lane, width(type)});
  return first;
}

}  // namespace

PartWriter::PartWriter(const Program& whole, const std::vector<std::int64_t>& bytes,
                       const absl::flat_hash_map<Value, std::uint64_t>& constants, Value slots)
    : whole_(whole), bytes_(bytes), constants_(constants), slots_(slots) {
  made_.program.types.push_back(Type::kPred);  // value 0 is none
  made_.program.locations = whole.locations;
  part_ = argument(sizeof(DividedLoop::Part));
  scalars_of_call_ = argument(0);
}

void PartWriter::find_private(const LargeLoop& loop) {
  absl::flat_hash_map<Value, const Buffer*> buffers;
  for (const Op& op : whole_.code) {
    if (op.code == Opcode::kBase && whole_.buffers[op.bits].storage == Storage::kArena)
      buffers.emplace(op.result, &whole_.buffers[op.bits]);
  }
  for (std::size_t at = 0; at < whole_.code.size(); at++) {
    if (at == loop.begin) at = loop.end;
    for_each_read(whole_, whole_.code[at], [&](Value value) { buffers.erase(value); });
  }
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), end = 0;
  for (const auto& [pointer, buffer] : buffers) {
    first = std::min(first, buffer->offset);
    end = std::max(end, buffer->offset + buffer->bytes);
  }
  // Offsets within a page stay the same, as guarded memory is aligned to pages.
  constexpr std::int64_t kPage = 4096;
  first = first / kPage * kPage;
  for (const auto& [pointer, buffer] : buffers) {
    Buffer& own = private_[pointer] = *buffer;
    own.offset -= first;
  }
  if (!buffers.empty()) made_.program.arena_bytes = end - first;
}

DividedLoop PartWriter::write(const LargeLoop& loop, double part_work) {
  const auto outside = [this](Value value) { return from_outside(value); };
  OpCopier copier(whole_, made_.program, ops_, ops_before_, outside);
  switch (loop.division) {
    case Division::kTrips:
      find_private(loop);
      trips(loop, copier);
      break;
    case Division::kLanes:
      lanes(loop, copier);
      break;
    case Division::kInOrder:
      in_order(loop, copier);
      break;
  }
  if (made_.trips_of_part == 0) made_.trips_of_part = trips_of_part(loop, made_.trips, part_work);
  made_.program.buffers[1].bytes = Slots::kBytes * static_cast<std::int64_t>(scalars_.size());
  made_.program.code = std::move(ops_before_);
  made_.program.code.insert(made_.program.code.end(), ops_.begin(), ops_.end());
  made_.loops = copier.loops();
  made_.around = loop.around;
  made_.known_work = loop.known_work;
  return std::move(made_);
}

Value PartWriter::argument(std::int64_t bytes) {
  return before_.base({Storage::kArgument, arguments_++, 0, bytes});
}

Value PartWriter::from_outside(Value value) {
  const Type type = whole_.types[value];
  if (const auto found = constants_.find(value); found != constants_.end())
    return before_.constant(type, found->second);
  if (const auto found = private_.find(value); found != private_.end())
    return before_.base(found->second);
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

/// The memory of the parts' reduction results.
Value PartWriter::results_of(std::size_t reductions) {
  pointers_.push_back(slots_);
  return argument(Slots::offset(reductions));
}

void PartWriter::trips(const LargeLoop& loop, OpCopier& copier) {
  const For& whole = whole_.fors[whole_.code[loop.begin].bits];
  made_.trips = *whole.trips;
  made_.adds_trips = whole.lane_loops.empty();
  made_.is_users = whole.loop != kNoLoop;
  For some;
  some.lower = first();
  some.upper = end();
  some.index = copier.define(whole.index);
  some.polls = whole.polls;
  some.loop = copier.loop(whole.loop);
  some.independent = true;
  made_.program.fors.push_back(std::move(some));
  here_.with_entry(Opcode::kFor, 0);
  copier.copy(loop.begin + 1, loop.end);
  for (const std::uint32_t inner : whole.lane_loops)
    made_.program.fors[0].lane_loops.push_back(copier.loop(inner));
  here_.with_entry(Opcode::kEndFor, 0);
}

/// Opens lanes from the first one of the part on, with their contributions to the reductions; the
/// lanes are left open.
std::vector<Value> PartWriter::open_lanes(const LargeLoop& loop, OpCopier& copier) {
  const Lanes& whole = whole_.lanes[whole_.code[loop.begin].bits];
  Program& to = made_.program;
  const Value first_lane = first(), index = new_value(to, Type::kS64);
  to.lanes.push_back({index, count(), std::nullopt, {}, whole.polls, {}});
  here_.with_entry(Opcode::kLanes, 0);
  const auto begin = static_cast<std::ptrdiff_t>(ops_.size());
  const Value number = here_.binary(Opcode::kAdd, Type::kS64, index, first_lane);
  copier.set_lane({whole.index, number, first_lane, index});
  copier.copy(loop.begin + 1, loop.end);
  std::vector<Value> values;
  for (const Lanes::Reduction& reduction : whole.reductions)
    values.push_back(copier.value(reduction.value));
  if (!copier.reads_number()) ops_.erase(ops_.begin() + begin);
  // Each loop inside the lanes has been copied.
  for (std::uint32_t inner = 0; inner < whole.loops.size(); inner++)
    to.lanes[0].loops.push_back(inner);
  return values;
}

void PartWriter::lanes(const LargeLoop& loop, OpCopier& copier) {
  const Lanes& whole = whole_.lanes[whole_.code[loop.begin].bits];
  made_.trips = *whole.known_count;
  Program& to = made_.program;
  const std::vector<Value> values = open_lanes(loop, copier);
  for (std::size_t r = 0; r < values.size(); r++) {
    const Lanes::Reduction& reduction = whole.reductions[r];
    const Value init = identity_of(reduction);
    to.lanes[0].reductions.push_back(
        {reduction.combine, reduction.type, init, values[r], copier.define(reduction.result)});
  }
  here_.with_entry(Opcode::kEndLanes, 0);
  if (values.empty()) return;
  const Value results = results_of(values.size()), part = number();
  for (std::size_t r = 0; r < values.size(); r++) {
    here_.store(to.lanes[0].reductions[r].result,
                {results, Slots::offset(r), {{part, Slots::kBytes}}});
  }
}

/// The values of the part's lanes are stored; when earlier parts have ended, they are combined with
/// the partial results so far.
void PartWriter::in_order(const LargeLoop& loop, OpCopier& copier) {
  const Lanes& whole = whole_.lanes[whole_.code[loop.begin].bits];
  made_.trips = *whole.known_count;
  made_.trips_of_part = lanes_in_order(whole);
  Program& to = made_.program;
  const auto reductions = static_cast<std::int64_t>(whole.reductions.size());
  to.arena_bytes = reductions * made_.trips_of_part * Slots::kBytes;
  const Value memory = before_.base({Storage::kArena, 0, 0, to.arena_bytes});
  const std::vector<Value> values = open_lanes(loop, copier);
  std::vector<Address> places;  // of lane 0
  for (std::size_t r = 0; r < values.size(); r++) {
    const auto before = static_cast<std::int64_t>(r) * made_.trips_of_part;
    Address& place = places.emplace_back();
    place.base = memory;
    place.offset = before * Slots::kBytes;
    here_.store(values[r], at_lane(place, to.lanes[0].index, to.types[values[r]]));
  }
  here_.with_entry(Opcode::kEndLanes, 0);
  to.calls.push_back({nullptr, {}, "wait"});
  here_.with_entry(Opcode::kCall, 0);
  const Value results = results_of(values.size()), count = to.lanes[0].count;
  const Value of_block = before_.index(Lanes::kPartials - 1);
  const Value left = here_.binary(Opcode::kAnd, Type::kS64, count, of_block);
  const Value whole_blocks = here_.binary(Opcode::kSubtract, Type::kS64, count, left);
  combine_blocks(whole, places, results, whole_blocks);
  // The lanes after the last block.
  const Value index = new_value(to, Type::kS64);
  to.lanes.push_back({index, left, std::nullopt, {}, false, {}});
  here_.with_entry(Opcode::kLanes, 2);
  for (std::size_t r = 0; r < values.size(); r++) {
    const Lanes::Reduction& reduction = whole.reductions[r];
    const Address slot = at_lane({results, Slots::offset(r), {}}, index, reduction.type);
    const Address place = at_lane(places[r], index, reduction.type);
    const Value so_far = here_.load(reduction.type, slot),
                value = here_.load(reduction.type, at_lane(place, whole_blocks, reduction.type));
    here_.store(here_.binary(reduction.combine, reduction.type, so_far, value), slot);
  }
  here_.with_entry(Opcode::kEndLanes, 2);
}

/// Lanes that are the partial results, around a loop over the blocks.
void PartWriter::combine_blocks(const Lanes& whole, const std::vector<Address>& places,
                                Value results, Value end) {
  Program& to = made_.program;
  const Value index = new_value(to, Type::kS64);
  to.lanes.push_back({index, before_.index(Lanes::kPartials), Lanes::kPartials, {}, false, {}});
  here_.with_entry(Opcode::kLanes, 1);
  For blocks;
  blocks.lower = before_.index(0);
  blocks.upper = end;
  blocks.index = new_value(to, Type::kS64);
  blocks.step = Lanes::kPartials;
  std::vector<Address> slots;
  for (std::size_t r = 0; r < places.size(); r++) {
    const Type type = whole.reductions[r].type;
    slots.push_back(at_lane({results, Slots::offset(r), {}}, index, type));
    const Value init = here_.load(type, slots[r]), so_far = new_value(to, type);
    blocks.carries.push_back({type, init, so_far, kNone, new_value(to, type)});
  }
  const Value block = blocks.index;
  to.fors.push_back(std::move(blocks));
  const std::uint64_t entry = to.fors.size() - 1;
  here_.with_entry(Opcode::kFor, entry);
  for (std::size_t r = 0; r < places.size(); r++) {
    const Lanes::Reduction& reduction = whole.reductions[r];
    const Address place = at_lane(places[r], index, reduction.type);
    const Value value = here_.load(reduction.type, at_lane(place, block, reduction.type));
    Carry& carry = to.fors[entry].carries[r];
    carry.next = here_.binary(reduction.combine, reduction.type, carry.param, value);
  }
  here_.with_entry(Opcode::kEndFor, entry);
  for (std::size_t r = 0; r < places.size(); r++)
    here_.store(to.fors[entry].carries[r].result, slots[r]);
  here_.with_entry(Opcode::kEndLanes, 1);
}

}  // namespace rondo::lower
