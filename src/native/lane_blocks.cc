#include "native/lane_blocks.h"

#include <algorithm>
#include <bit>

#include "lower/opcodes.h"

namespace rondo::native_code {

using lower::Opcode;
using lower::Type;

LaneBlocks::LaneBlocks(Expander& expander, std::size_t begin, std::size_t end)
    : e_(expander),
      program_(expander.program_),
      lanes_(program_.lanes[program_.code[begin].bits]),
      begin_(begin),
      end_(end),
      plan_(program_, expander.lane_facts(), begin, end, expander.target_) {
  // Threshold: Lanes from which an inner lane loop may stream: shorter rows are likely to be read
  // again from cache. Not measured.
  constexpr std::int64_t kLongRow = std::int64_t{1} << 16;
  const bool goes_once = std::all_of(e_.open_.begin(), e_.open_.end(),
                                     [](const auto& open) { return open.independent; });
  if (goes_once && (e_.open_.empty() || lanes_.known_count.value_or(0) >= kLongRow))
    streams_ = lane_streams(program_, plan_.facts(), begin, end);
  streams_.stores = streams_.stores && e_.target_.streams_stores;
}

void LaneBlocks::run() {
  begin_partials();
  if (plan_.has_vectors()) {
    run_vectors();
  } else {
    run_scalar(s64(0), e_.unit_of(lanes_.count));
  }
  if (!lanes_.trips_later) e_.report_trips(Kind::kLaneTrips, lanes_.loops);
  end_partials();
  plan_.forget();
}

Unit LaneBlocks::s64_op(Opcode op, Unit a, std::int64_t b) {
  const UnitInfo& unit = e_.out_.units[a];
  if (unit.constant) {
    const auto value = static_cast<std::int64_t>(unit.bits);
    return s64(op == Opcode::kAdd ? value + b : op == Opcode::kSubtract ? value - b : value & b);
  }
  return e_.compute(op, Type::kS64, 1, a, s64(b));
}

void LaneBlocks::poll() {
  if (lanes_.polls) e_.poll();
}

Unit LaneBlocks::load(Type type, Unit area, std::int64_t offset, Unit index, std::int64_t stride,
                      int lanes) {
  MachineAddress address;
  address.base = area;
  address.offset = offset;
  if (index != 0) address.terms.push_back({index, stride});
  if (lanes > 1) address.lane_stride = width_of(type);
  Instruction i;
  i.kind = Kind::kLoad;
  i.type = type;
  i.lanes = static_cast<std::uint8_t>(lanes);
  i.bits = e_.add_address(std::move(address));
  i.result = e_.new_unit(type, lanes);
  return e_.add(i).result;
}

void LaneBlocks::store(Unit value, Unit area, std::int64_t offset, Unit index,
                       std::int64_t stride) {
  MachineAddress address;
  address.base = area;
  address.offset = offset;
  if (index != 0) address.terms.push_back({index, stride});
  Instruction i;
  i.kind = Kind::kStore;
  i.type = e_.out_.units[value].type;
  i.lanes = e_.out_.units[value].lanes;
  if (i.lanes > 1) address.lane_stride = width_of(i.type);
  i.bits = e_.add_address(std::move(address));
  i.a = value;
  e_.add(i);
}

int LaneBlocks::widest(Type type) const { return e_.target_.lanes_of(type); }

// Partial results that no lane reaches are skipped: combining with the identity does not change a
// partial result.
void LaneBlocks::begin_partials() {
  const int block = plan_.has_vectors() ? plan_.lanes() * plan_.unroll() : 1;
  for (const lower::Lanes::Reduction& reduction : lanes_.reductions) {
    const std::int64_t width = width_of(reduction.type);
    Partials partials;
    partials.count = lower::Lanes::kPartials;
    if (lanes_.known_count && *lanes_.known_count < partials.count)
      partials.count = static_cast<int>(std::bit_ceil(
          static_cast<std::uint64_t>(std::max<std::int64_t>(*lanes_.known_count, 1))));
    if (plan_.one_block() && !has_last_lanes())
      partials.count = std::min(partials.count, plan_.lanes());
    else if (plan_.one_block())
      partials.count = block;
    partials.in_registers = plan_.one_block() || (block == partials.count && block > 1);
    Instruction i;
    i.kind = Kind::kStackSlot;
    i.type = Type::kPointer;
    i.bits = e_.out_.area_bytes;
    i.result = partials.area = e_.new_unit(Type::kPointer);
    e_.out_.area_bytes += static_cast<std::size_t>(lower::Lanes::kPartials * width);
    e_.add(i);
    partials_.push_back(partials);
    if (partials.in_registers) continue;  // they are stored after the blocks
    const std::uint64_t bits = lower::identity(reduction.combine, reduction.type);
    const int lanes = std::min(partials.count, widest(reduction.type));
    if (lanes >= std::min(4, widest(reduction.type))) {
      const Unit start = e_.constant(reduction.type, bits, lanes);
      for (int at = 0; at < partials.count; at += lanes)
        store(start, partials.area, at * width, 0, 0);
    } else {
      const Unit start = e_.constant(reduction.type, bits);
      for (int at = 0; at < partials.count; at++) store(start, partials.area, at * width, 0, 0);
    }
  }
}

void LaneBlocks::combine_scalar(Unit index) {
  if (lanes_.reductions.empty()) return;
  const Unit partial = s64_op(Opcode::kAnd, index, lower::Lanes::kPartials - 1);
  for (std::size_t r = 0; r < partials_.size(); r++) {
    const lower::Lanes::Reduction& reduction = lanes_.reductions[r];
    const std::int64_t width = width_of(reduction.type);
    const Unit before = load(reduction.type, partials_[r].area, 0, partial, width);
    const Unit after =
        e_.compute(reduction.combine, reduction.type, 1, before, e_.unit_of(reduction.value));
    store(after, partials_[r].area, 0, partial, width);
  }
}

/// Combines each vector of the block into its partials, which are in the frame.
void LaneBlocks::combine_block() {
  if (lanes_.reductions.empty()) return;
  const Unit partial = s64_op(Opcode::kAnd, first_lane_, lower::Lanes::kPartials - 1);
  for (std::size_t r = 0; r < partials_.size(); r++) {
    const lower::Lanes::Reduction& reduction = lanes_.reductions[r];
    const std::int64_t width = width_of(reduction.type);
    for (int u = 0; u < unroll_; u++) {
      const std::int64_t offset = width * u * plan_.lanes();
      const Unit before =
          load(reduction.type, partials_[r].area, offset, partial, width, plan_.lanes());
      Unit after = e_.compute(reduction.combine, reduction.type, plan_.lanes(), before,
                              vector_unit(reduction.value, u));
      // A whole vector: loads of its parts would wait for a masked store.
      if (const Unit active = active_[static_cast<std::size_t>(u)]; active != 0)
        after = e_.compute(Opcode::kSelect, reduction.type, plan_.lanes(), active, after, before);
      store(after, partials_[r].area, offset, partial, width);
    }
  }
}

void LaneBlocks::end_partials() {
  for (std::size_t r = 0; r < partials_.size(); r++) {
    const lower::Lanes::Reduction& reduction = lanes_.reductions[r];
    const Unit partial = fold(reduction, partials_[r]);
    e_.units_[reduction.result] =
        e_.compute(reduction.combine, reduction.type, 1, e_.unit_of(reduction.init), partial);
  }
}

Unit LaneBlocks::fold(const lower::Lanes::Reduction& reduction, const Partials& partials) {
  const Unit area = partials.area;
  const std::int64_t width = width_of(reduction.type);
  const bool vectors = e_.target_.vectors.has(reduction.combine, reduction.type, reduction.type);
  // Threshold: Partial results from which on vectors combine them; fewer are combined as scalars.
  // Not measured.
  constexpr int kFew = 4;
  int count = partials.count;
  for (; partials.last.empty() && count > kFew; count /= 2) {
    const int half = count / 2;
    const int lanes = std::min(half, widest(reduction.type));
    if (vectors) {
      for (int at = 0; at < half; at += lanes) {
        const Unit a = load(reduction.type, area, at * width, 0, 0, lanes);
        const Unit b = load(reduction.type, area, (at + half) * width, 0, 0, lanes);
        store(e_.compute(reduction.combine, reduction.type, lanes, a, b), area, at * width, 0, 0);
      }
      continue;
    }
    const Unit index = e_.new_unit(Type::kS64);
    e_.begin_counted(index, s64(0), s64(half), 1);
    const Unit a = load(reduction.type, area, 0, index, width);
    const Unit b = load(reduction.type, area, half * width, index, width);
    store(e_.compute(reduction.combine, reduction.type, 1, a, b), area, 0, index, width);
    e_.end_loop();
  }
  std::vector<Unit> left;
  for (int at = 0; at < count; at++) left.push_back(load(reduction.type, area, at * width, 0, 0));
  left.insert(left.end(), partials.last.begin(), partials.last.end());
  combine_pairwise(reduction, left, 1);
  return left[0];
}

void LaneBlocks::combine_pairwise(const lower::Lanes::Reduction& reduction,
                                  std::vector<Unit>& partials, int lanes) {
  for (auto half = static_cast<std::size_t>(lower::Lanes::kPartials / lanes) / 2; half > 0;
       half /= 2) {
    for (std::size_t j = 0; j < half && j + half < partials.size(); j++) {
      partials[j] =
          e_.compute(reduction.combine, reduction.type, lanes, partials[j], partials[j + half]);
    }
    partials.resize(std::min(partials.size(), half));
  }
}

bool LaneBlocks::has_last_lanes() const {
  return !e_.target_.has_masks() && *lanes_.known_count % plan_.lanes() != 0;
}

void LaneBlocks::run_one_block() {
  const int lanes = plan_.lanes();
  unroll_ = plan_.unroll();
  first_lane_ = s64(0);
  poll();
  active_.assign(static_cast<std::size_t>(unroll_), 0);
  const std::int64_t rest = *lanes_.known_count % lanes;
  if (rest != 0 && !has_last_lanes()) active_.back() = begin_tail(rest);
  expand_body();
  if (has_last_lanes())
    expand_last(*lanes_.known_count - rest);
  else
    fold_block();
  e_.report_trips(Kind::kBlockTrips, lanes_.loops);
}

void LaneBlocks::expand_last(std::int64_t first) {
  const int lanes = plan_.lanes();
  for (std::size_t r = 0; r < partials_.size(); r++) {
    const lower::Lanes::Reduction& reduction = lanes_.reductions[r];
    for (int u = 0; u < unroll_; u++) {
      store(vector_unit(reduction.value, u), partials_[r].area,
            std::int64_t{width_of(reduction.type)} * u * lanes, 0, 0);
    }
  }
  for (std::int64_t lane = first; lane < *lanes_.known_count; lane++) {
    expand_lane(lane);
    for (std::size_t r = 0; r < partials_.size(); r++)
      partials_[r].last.push_back(e_.unit_of(lanes_.reductions[r].value));
  }
}

void LaneBlocks::fold_block() {
  const int lanes = plan_.lanes();
  for (std::size_t r = 0; r < partials_.size(); r++) {
    const lower::Lanes::Reduction& reduction = lanes_.reductions[r];
    std::vector<Unit> vectors;
    for (int u = 0; u < unroll_; u++) vectors.push_back(vector_unit(reduction.value, u));
    if (active_.back() != 0) {
      const Unit none =
          e_.constant(reduction.type, lower::identity(reduction.combine, reduction.type), lanes);
      vectors.back() =
          e_.compute(Opcode::kSelect, reduction.type, lanes, active_.back(), vectors.back(), none);
    }
    combine_pairwise(reduction, vectors, lanes);
    store(vectors[0], partials_[r].area, 0, 0, 0);
  }
}

/// One lane a trip: for ops without vector code, and for the last lanes without masks.
void LaneBlocks::run_scalar(Unit lower, Unit upper) {
  const Unit index = e_.define(lanes_.index);
  e_.begin_counted(index, lower, upper, 1);
  poll();
  for (std::size_t at = begin_ + 1; at < end_; at++) e_.expand(program_.code[at]);
  e_.report_trips(Kind::kBlockTrips, lanes_.loops);
  combine_scalar(index);
  e_.end_loop();
}

void LaneBlocks::run_vectors() {
  int spare = plan_.spare_registers();
  for (lower::Value v : plan_.broadcast_from_outside()) {
    broadcast_if_needed(v);
    Unit& unit = plan_.facts().units[v];
    if (spare == 0 || !plan_.gains_by_register(v) || !e_.out_.units[unit].constant ||
        e_.out_.units[unit].type == Type::kPred)
      continue;
    // Loops read it from a register.
    spare--;
    Instruction i;
    i.kind = Kind::kMove;
    i.type = e_.out_.units[unit].type;
    i.lanes = static_cast<std::uint8_t>(plan_.lanes());
    i.a = unit;
    i.result = unit = e_.new_unit(i.type, plan_.lanes());
    e_.add(i);
  }
  if (plan_.one_block()) return run_one_block();
  const bool is_plain =
      std::none_of(program_.code.begin() + static_cast<std::ptrdiff_t>(begin_) + 1,
                   program_.code.begin() + static_cast<std::ptrdiff_t>(end_),
                   [](const lower::Op& op) { return op.code >= Opcode::kFor; });
  if (is_plain && is_written_out(lanes_)) return write_out(*lanes_.known_count);
  run_blocks_and_rest(is_plain);
  if (!streams_.stores) return;
  Instruction i;
  i.kind = Kind::kFence;
  e_.add(i);
}

void LaneBlocks::run_blocks_and_rest(bool is_plain) {
  const Unit count = e_.unit_of(lanes_.count);
  const std::optional<std::int64_t> known = lanes_.known_count;
  const int lanes = plan_.lanes(), block = lanes * plan_.unroll();
  // Blocks store the partial results that they hold in registers, even if there are none.
  if (!known || *known >= block || !partials_.empty())
    run_blocks(s64(0), count, plan_.unroll(), false);
  if (known && *known % block == 0) return;
  if (known && is_plain && e_.target_.has_masks())
    return write_rest(*known / block * block, *known);
  const Unit done = s64_op(Opcode::kAnd, count, -block);
  if (e_.target_.has_masks()) return run_blocks(done, count, 1, true);
  if (plan_.unroll() > 1) run_blocks(done, count, 1, false);
  if (known && *known % lanes == 0) return;
  run_scalar(s64_op(Opcode::kAnd, count, -lanes), count);
}

bool LaneBlocks::is_written_out(const lower::Lanes& lanes) {
  // Threshold: Lanes of a loop that is unrolled completely: code size against a loop with a masked
  // rest. Not measured alone; nbody in bench/anchors runs it (bench/README.md).
  constexpr std::int64_t kMost = 32;
  return lanes.known_count && *lanes.known_count <= kMost && lanes.reductions.empty() &&
         lanes.loops.empty();
}

void LaneBlocks::write_out(std::int64_t count) {
  const std::int64_t lanes = plan_.lanes(), block = lanes * plan_.unroll();
  std::int64_t at = 0;
  for (; at + block <= count; at += block) write_block(at, plan_.unroll(), 0);
  for (; at + lanes <= count; at += lanes) write_block(at, 1, 0);
  if (count - at > 1 && e_.target_.has_masks()) return write_block(at, 1, count - at);
  if (count - at > 1) return run_scalar(s64(at), s64(count));
  if (at < count) expand_lane(at);
}

void LaneBlocks::expand_lane(std::int64_t lane) {
  Instruction i;
  i.kind = Kind::kMove;
  i.type = Type::kS64;
  i.a = s64(lane);
  i.result = e_.define(lanes_.index);
  e_.add(i);
  for (std::size_t at = begin_ + 1; at < end_; at++) e_.expand(program_.code[at]);
}

/// `left`: so many lanes of one vector, or 0 for all.
void LaneBlocks::write_block(std::int64_t first, int unroll, std::int64_t left) {
  unroll_ = unroll;
  first_lane_ = s64(first);
  active_.assign(static_cast<std::size_t>(unroll), 0);
  if (left != 0) active_[0] = begin_tail(left);
  expand_body();
}

void LaneBlocks::write_rest(std::int64_t first, std::int64_t count) {
  const std::int64_t end = count - count % plan_.lanes();
  if (end > first) run_blocks(s64(first), s64(end), 1, false);
  if (end == count) return;
  write_block(end, 1, count - end);
  e_.report_trips(Kind::kBlockTrips, lanes_.loops);
  combine_block();
}

Unit LaneBlocks::begin_tail(std::int64_t lanes) {
  tail_ = {e_.tail_mask(plan_.lanes(), s64(lanes)), static_cast<int>(lanes)};
  return tail_.mask;
}

void LaneBlocks::run_blocks(Unit lower, Unit upper, int unroll, bool masked) {
  unroll_ = unroll;
  const int lanes = plan_.lanes(), block = lanes * unroll;
  const bool in_registers =
      !masked && unroll == plan_.unroll() && !partials_.empty() && partials_[0].in_registers;
  MachineLoop loop;
  loop.index = first_lane_ = e_.new_unit(Type::kS64);
  loop.lower = lower;
  loop.upper = masked ? upper : s64_op(Opcode::kSubtract, upper, block - 1);
  loop.step = block;
  if (in_registers) {
    for (const lower::Lanes::Reduction& reduction : lanes_.reductions) {
      const Unit start =
          e_.constant(reduction.type, lower::identity(reduction.combine, reduction.type), lanes);
      for (int u = 0; u < unroll; u++)
        loop.carries.push_back({start, e_.new_unit(reduction.type, lanes), 0, 0});
    }
  }
  const std::uint32_t number = e_.open_loop(Opcode::kFor, std::move(loop), lower::kNoLoop);
  poll();
  active_.assign(static_cast<std::size_t>(unroll), 0);
  if (masked) {
    active_[0] =
        e_.tail_mask(lanes, e_.compute(Opcode::kSubtract, Type::kS64, 1, upper, first_lane_));
  }
  expand_body();
  e_.report_trips(Kind::kBlockTrips, lanes_.loops);
  if (!in_registers) {
    combine_block();
    return e_.end_loop();
  }
  std::vector<Unit> sums;
  for (std::size_t r = 0, c = 0; r < partials_.size(); r++) {
    const lower::Lanes::Reduction& reduction = lanes_.reductions[r];
    for (int u = 0; u < unroll; u++, c++) {
      const Unit next =
          e_.compute(reduction.combine, reduction.type, lanes,
                     e_.out_.loops[number].carries[c].param, vector_unit(reduction.value, u));
      sums.push_back(e_.new_unit(reduction.type, lanes));
      e_.out_.loops[number].carries[c].next = next;
      e_.out_.loops[number].carries[c].result = sums.back();
    }
  }
  e_.end_loop();
  for (std::size_t r = 0, c = 0; r < partials_.size(); r++) {
    for (int u = 0; u < unroll; u++, c++)
      store(sums[c], partials_[r].area,
            std::int64_t{width_of(lanes_.reductions[r].type)} * u * lanes, 0, 0);
  }
}

}  // namespace rondo::native_code
