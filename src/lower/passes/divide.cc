#include "lower/passes/divide.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lower/op_writer.h"
#include "lower/opcodes.h"
#include "lower/passes/large_copies.h"
#include "lower/passes/large_loops.h"
#include "lower/passes/part_writer.h"
#include "lower/passes/pointers.h"

namespace rondo::lower {

namespace {

/// Writes the program that calls the parts.
class Divider {
 public:
  explicit Divider(const Program& whole) : whole_(whole), to_(made_.program) {
    to_ = whole_;
    to_.code.clear();
    to_.fors.clear();
    to_.lanes.clear();
    to_.whiles.clear();
    to_.ifs.clear();
    for (const Op& op : whole_.code) {
      if (op.code == Opcode::kConstant) constants_.emplace(op.result, op.bits);
    }
    bytes_ = bytes_behind(whole_);
    scalars_ = before_.base({Storage::kArena, 0, 0, 0});
    slots_ = before_.base({Storage::kArena, 0, 0, 0});
    bytes_.resize(to_.types.size(), 0);
  }

  Divided run(const std::vector<LargeLoop>& loops, double part_work) {
    std::size_t at = 0;
    for (const LargeLoop& loop : loops) {
      keep(at, loop.begin);
      divide(loop, part_work);
      at = loop.end + 1;
    }
    keep(at, whole_.code.size());
    constexpr std::int64_t kAlignment = 64;
    const auto aligned = [](std::int64_t bytes) {
      return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    Buffer* const places = &to_.buffers[whole_.buffers.size()];
    places[0].offset = aligned(whole_.arena_bytes);
    places[0].bytes = Slots::kBytes * static_cast<std::int64_t>(most_scalars_);
    places[1].offset = places[0].offset + aligned(places[0].bytes);
    places[1].bytes = Slots::offset(most_reductions_);
    to_.arena_bytes = places[1].offset + places[1].bytes;
    to_.code = std::move(ops_before_);
    to_.code.insert(to_.code.end(), ops_.begin(), ops_.end());
    return std::move(made_);
  }

 private:
  /// Copies ops unchanged.
  void keep(std::size_t begin, std::size_t end) {
    const auto opened = [&](auto& table, const auto& entry) {
      open_.push_back(table.size());
      table.push_back(entry);
    };
    for (std::size_t at = begin; at < end; at++) {
      Op op = whole_.code[at];
      if (op.code == Opcode::kFor) opened(to_.fors, whole_.fors[op.bits]);
      if (op.code == Opcode::kLanes) opened(to_.lanes, whole_.lanes[op.bits]);
      if (op.code == Opcode::kRepeat) opened(to_.whiles, whole_.whiles[op.bits]);
      if (op.code == Opcode::kIf) opened(to_.ifs, whole_.ifs[op.bits]);
      if (op.code >= Opcode::kFor) op.bits = open_.back();
      if (op.code == Opcode::kEndFor || op.code == Opcode::kEndLanes ||
          op.code == Opcode::kEndRepeat || op.code == Opcode::kEndIf)
        open_.pop_back();
      ops_.push_back(op);
    }
  }

  void divide(const LargeLoop& large, double part_work) {
    PartWriter writer(whole_, bytes_, constants_, slots_);
    DividedLoop loop = writer.write(large, part_work);
    const std::vector<Value>& scalars = writer.scalars();
    for (std::size_t i = 0; i < scalars.size(); i++)
      here_.store(scalars[i], {scalars_, Slots::kBytes * static_cast<std::int64_t>(i), {}});
    most_scalars_ = std::max(most_scalars_, scalars.size());
    Call call;
    call.name = "parts";
    call.pointers.push_back(scalars_);
    call.pointers.insert(call.pointers.end(), writer.pointers().begin(), writer.pointers().end());
    const Lanes* const lanes =
        large.division == Division::kTrips ? nullptr : &whole_.lanes[whole_.code[large.begin].bits];
    if (large.division == Division::kInOrder) begin_partials(large, *lanes);
    here_.with_entry(Opcode::kCall, to_.calls.size());
    to_.calls.push_back(std::move(call));
    note_inner_safepoint(large.around);
    if (lanes) combine_parts(large, *lanes, loop.parts());
    made_.loops.push_back(std::move(loop));
  }

  /// A call may end a run, so the state of the outermost loop must be saved before.
  void note_inner_safepoint(std::uint32_t loop) {
    if (loop == kNoLoop) return;
    while (to_.loops[loop].outer != kNoLoop) loop = to_.loops[loop].outer;
    if (!to_.loops[loop].state.empty()) to_.loops[loop].ends_inside = true;
  }

  /// For reduction `number`, the result of a part or a partial result.
  Address slot_of(const LargeLoop& large, const Lanes::Reduction& reduction, std::size_t number,
                  Value index) const {
    const bool dense = large.division == Division::kInOrder;
    return {
        slots_, Slots::offset(number), {{index, dense ? width(reduction.type) : Slots::kBytes}}};
  }

  /// The initial value of the partial results of ordered parts.
  void begin_partials(const LargeLoop& large, const Lanes& whole) {
    const Value index = new_value(to_, Type::kS64);
    const std::uint64_t entry = to_.lanes.size();
    to_.lanes.push_back({index, before_.index(Lanes::kPartials), Lanes::kPartials, {}, false, {}});
    here_.with_entry(Opcode::kLanes, entry);
    for (std::size_t r = 0; r < whole.reductions.size(); r++) {
      const Lanes::Reduction& reduction = whole.reductions[r];
      const std::uint64_t bits = identity(reduction.combine, reduction.type);
      here_.store(before_.constant(reduction.type, bits), slot_of(large, reduction, r, index));
    }
    here_.with_entry(Opcode::kEndLanes, entry);
  }

  void combine_parts(const LargeLoop& large, const Lanes& whole, std::int64_t parts) {
    if (whole.reductions.empty()) return;
    most_reductions_ = std::max(most_reductions_, whole.reductions.size());
    const std::int64_t count = large.division == Division::kInOrder ? Lanes::kPartials : parts;
    Lanes last{
        new_value(to_, Type::kS64), before_.index(count), count, whole.reductions, false, {}};
    here_.with_entry(Opcode::kLanes, to_.lanes.size());
    for (std::size_t r = 0; r < last.reductions.size(); r++) {
      Lanes::Reduction& reduction = last.reductions[r];
      reduction.value = here_.load(reduction.type, slot_of(large, reduction, r, last.index));
    }
    here_.with_entry(Opcode::kEndLanes, to_.lanes.size());
    to_.lanes.push_back(std::move(last));
  }

  const Program& whole_;
  Divided made_;
  Program& to_;
  std::vector<Op> ops_before_, ops_;
  OpWriter before_{to_, ops_before_}, here_{to_, ops_};
  std::vector<std::int64_t> bytes_;
  absl::flat_hash_map<Value, std::uint64_t> constants_;
  std::vector<std::uint64_t> open_;
  Value scalars_ = kNone, slots_ = kNone;
  std::size_t most_scalars_ = 0, most_reductions_ = 0;
};

}  // namespace

DividedLoop::Part DividedLoop::part(std::int64_t number) const {
  const std::int64_t first = number * trips_of_part, end = std::min(first + trips_of_part, trips);
  return {first, end - first, end, number};
}

std::optional<Divided> divided(const Program& program, const DivisionCosts& costs) {
  // A byte takes about as long as an op on one lane.
  const Program in_lanes =
      costs.lanes_copy ? with_copies_in_lanes(program, static_cast<std::int64_t>(costs.least_work))
                       : Program();
  const Program& whole = costs.lanes_copy ? in_lanes : program;
  const std::vector<LargeLoop> loops = large_loops(whole, costs.least_work);
  if (loops.empty()) return std::nullopt;
  return Divider(whole).run(loops, costs.part_work);
}

}  // namespace rondo::lower
