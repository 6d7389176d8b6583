// Loops, branches, lanes and calls.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "bytecode/instruction.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::bytecode {

using lower::Opcode;
using lower::Status;

const Instruction* Control::halt(const Instruction*, State&) { return nullptr; }

const Instruction* Control::constant(const Instruction* at, State& state) {
  *state.at<std::uint64_t>(at->result) = at->bits;
  return at + 1;
}

const Instruction* Control::base(const Instruction* at, State& state) {
  const lower::Buffer& buffer = state.program->buffers[at->bits];
  const lower::RunFrame& frame = *state.frame;
  std::byte* start = nullptr;
  switch (buffer.storage) {
    case lower::Storage::kArgument:
      start = frame.arguments[buffer.index];
      break;
    case lower::Storage::kResult:
      start = frame.results[buffer.index];
      break;
    case lower::Storage::kConstant:
      start = frame.constants[buffer.index];
      break;
    case lower::Storage::kArena:
      start = frame.arena;
      break;
    case lower::Storage::kFrame:
      start = reinterpret_cast<std::byte*>(state.frame);
      break;
  }
  *state.at<std::byte*>(at->result) = start + buffer.offset;
  return at + 1;
}

const Instruction* Control::call(const Instruction* at, State& state) {
  const lower::Call& call = state.program->calls[at->bits];
  absl::InlinedVector<std::byte*, 8> buffers;
  for (std::uint32_t i = 0; i < at->a; i++)
    buffers.push_back(*state.at<std::byte*>(state.moves[at->c + i].from));
  if (!call.kernel->run(buffers.data(), *state.frame)) {
    state.status = Status::kKernelFailed;
    return nullptr;
  }
  return at + 1;
}

const Instruction* Control::move_scalars(const Instruction* at, State& state) {
  const Move* move = state.moves + at->bits;
  for (const Move* end = move + at->a; move != end; move++)
    *state.at<std::uint64_t>(move->to) = *state.at<std::uint64_t>(move->from);
  return at + 1;
}

const Instruction* Control::move_blocks(const Instruction* at, State& state) {
  const Move* move = state.moves + at->bits;
  for (const Move* end = move + at->a; move != end; move++)
    std::memcpy(state.registers + move->to, state.registers + move->from, kBlockBytes);
  return at + 1;
}

namespace {

template <class T>
void move_where(State& state, std::uint32_t to, std::uint32_t from, const std::uint8_t* active) {
  T* destination = state.at<T>(to);
  const T* source = state.at<T>(from);
  for (int i = 0; i < state.width; i++) destination[i] = active[i] ? source[i] : destination[i];
}

}  // namespace

const Instruction* Control::move_active(const Instruction* at, State& state) {
  const std::uint8_t* active = state.at<std::uint8_t>(at->b);
  switch (at->c) {
    case 1:
      move_where<std::uint8_t>(state, at->result, at->a, active);
      break;
    case 2:
      move_where<std::uint16_t>(state, at->result, at->a, active);
      break;
    case 4:
      move_where<std::uint32_t>(state, at->result, at->a, active);
      break;
    default:
      move_where<std::uint64_t>(state, at->result, at->a, active);
  }
  return at + 1;
}

namespace {

template <class T>
void fill(State& state, std::uint32_t to, std::uint32_t from) {
  const T value = *state.at<T>(from);
  T* block = state.at<T>(to);
  for (int i = 0; i < kBlock; i++) block[i] = value;
}

}  // namespace

const Instruction* Control::broadcast(const Instruction* at, State& state) {
  switch (at->b) {
    case 1:
      fill<std::uint8_t>(state, at->result, at->a);
      break;
    case 2:
      fill<std::uint16_t>(state, at->result, at->a);
      break;
    case 4:
      fill<std::uint32_t>(state, at->result, at->a);
      break;
    default:
      fill<std::uint64_t>(state, at->result, at->a);
  }
  return at + 1;
}

const Instruction* Control::jump(const Instruction* at, State& state) {
  return state.code + at->bits;
}

const Instruction* Control::jump_unless(const Instruction* at, State& state) {
  return *state.at<std::uint8_t>(at->a) ? at + 1 : state.code + at->bits;
}

namespace {

/// The first lane that is active; `active` is 0 if all are.
int first_active(const State& state, std::uint32_t active) {
  int lane = 0;
  if (active == 0) return lane;
  const std::uint8_t* is_active = state.at<std::uint8_t>(active);
  while (lane + 1 < state.lanes && !is_active[lane]) lane++;
  return lane;
}

}  // namespace

const Instruction* Control::jump_unless_lanes(const Instruction* at, State& state) {
  const std::uint8_t* holds = state.at<std::uint8_t>(at->a);
  return holds[first_active(state, at->b)] ? at + 1 : state.code + at->bits;
}

const Instruction* Control::of_active_lane(const Instruction* at, State& state) {
  const std::int64_t* lanes = state.at<std::int64_t>(at->a);
  *state.at<std::int64_t>(at->result) = lanes[first_active(state, at->b)];
  return at + 1;
}

namespace {

/// The bits of a register in the form of RunFrame::state.
std::uint64_t bits_of(const State& state, const Reported::Part& part) {
  const std::byte* from = state.registers + part.place;
  std::uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<std::size_t>(lower::width(part.type)));
  if (part.type == lower::Type::kF16 || part.type == lower::Type::kBF16) {
    const auto half = static_cast<std::uint16_t>(bits);
    return std::bit_cast<std::uint32_t>(part.type == lower::Type::kF16
                                            ? static_cast<float>(std::bit_cast<float16>(half))
                                            : static_cast<float>(std::bit_cast<bfloat16>(half)));
  }
  return bits;
}

void store_state(State& state, std::uint32_t loop) {
  if (!state.frame->state) return;
  std::uint64_t* to = state.frame->state;
  for (const Reported::Part& part : state.reported[loop].state) *to++ = bits_of(state, part);
}

bool is_due(const lower::RunFrame& frame) {
  return frame.poll && frame.poll->load(std::memory_order_relaxed) != 0;
}

/// Before a trip. False if the run has to end.
bool poll(State& state, std::uint32_t loop) {
  lower::RunFrame& frame = *state.frame;
  const bool is_asked = state.program->loops[loop].ends_inside
                            ? std::atomic_ref(frame.outer_poll).load(std::memory_order_relaxed) != 0
                            : is_due(frame);
  if (!is_asked) return true;
  store_state(state, loop);
  if (frame.at_safepoint && frame.at_safepoint(&frame, loop)) return true;
  state.status = Status::kPolled;
  frame.failed_loop = loop;
  return false;
}

/// Inside a trip of `loop`, if that is one.
bool poll_inside(State& state, std::uint32_t loop) {
  lower::RunFrame& frame = *state.frame;
  if (!is_due(frame) || (frame.at_safepoint && frame.at_safepoint(&frame, lower::kNoLoop)))
    return true;
  state.status = loop == lower::kNoLoop ? Status::kPolled : Status::kPolledInside;
  frame.failed_loop = loop;
  return false;
}

}  // namespace

const Instruction* Control::begin_loop(const Instruction* at, State& state) {
  lower::RunFrame& frame = *state.frame;
  if (frame.trips) frame.trips[at->c] = 0;
  if (state.program->loops[at->c].ends_inside)
    std::atomic_ref(frame.outer_poll).store(frame.keeps_state, std::memory_order_relaxed);
  const Reported& reported = state.reported[at->c];
  if (frame.trips_to_come && reported.trips != 0)
    frame.trips_to_come[at->c] = *state.at<std::int64_t>(reported.trips);
  return at + 1;
}

const Instruction* Control::count_trip(const Instruction* at, State& state) {
  lower::RunFrame& frame = *state.frame;
  if (frame.trips) {
    std::int64_t& trip = frame.trips[at->c];
    trip = at->a != 0 ? *state.at<std::int64_t>(at->a) + 1 : trip + 1;
    const lower::LoopInfo& loop = state.program->loops[at->c];
    const bool broken = loop.max_trip_count && trip > *loop.max_trip_count;
    if (broken || trip > frame.max_iterations) {
      // A loop whose trips are added when it ends.
      if (at->a != 0 && !loop.in_lanes) frame.total_trips[at->c] += trip - 1;
      state.status = broken ? Status::kBrokenPromise : Status::kTooManyTrips;
      frame.failed_loop = at->c;
      store_state(state, at->c);
      return nullptr;
    }
    if (!loop.in_lanes)
      frame.total_trips[at->c] += at->a != 0 ? 0 : 1;
    else if (frame.lane_trips)
      frame.lane_trips[std::size_t{2} * at->c]++;
  }
  return poll(state, at->c) ? at + 1 : nullptr;
}

const Instruction* Control::count_trips(const Instruction* at, State& state) {
  if (state.frame->trips) {
    state.frame->trips[at->c] = *state.at<std::int64_t>(at->a);
    const std::int64_t before = at->b != 0 ? *state.at<std::int64_t>(at->b) : 0;
    state.frame->total_trips[at->c] += *state.at<std::int64_t>(at->a) - before;
  }
  return at + 1;
}

const Instruction* Control::for_test(const Instruction* at, State& state) {
  return *state.at<std::int64_t>(at->a) < *state.at<std::int64_t>(at->b) ? at + 1
                                                                         : state.code + at->bits;
}

const Instruction* Control::for_next(const Instruction* at, State& state) {
  *state.at<std::int64_t>(at->a) += static_cast<std::int64_t>(at->bits);
  return at->result && !poll_inside(state, at->c) ? nullptr : at + 1;
}

namespace {

void set_block(State& state, std::int64_t count, std::uint32_t index) {
  state.lanes = static_cast<int>(std::min<std::int64_t>(kBlock, count - state.lane));
  state.width = (state.lanes + kStep - 1) / kStep * kStep;
  if (index == 0) return;
  std::int64_t* lane = state.at<std::int64_t>(index);
  for (int i = 0; i < kBlock; i++) lane[i] = state.lane + std::min(i, state.lanes - 1);
}

}  // namespace

const Instruction* Control::begin_lanes(const Instruction* at, State& state) {
  state.lane = 0;
  const std::int64_t count = *state.at<std::int64_t>(at->a);
  if (count <= 0) return state.code + at->bits;
  set_block(state, count, at->b);
  return at + 1;
}

const Instruction* Control::next_block(const Instruction* at, State& state) {
  state.lane += kBlock;
  const std::int64_t count = *state.at<std::int64_t>(at->a);
  if (state.lane < count) {
    if (at->result && !poll_inside(state, at->c)) return nullptr;
    set_block(state, count, at->b);
    return state.code + at->bits;
  }
  state.lane = 0;
  return at + 1;
}

const Instruction* Control::block_trips(const Instruction* at, State& state) {
  if (!state.frame->lane_trips) return at + 1;
  std::int64_t* trips = state.frame->lane_trips + std::size_t{2} * at->c;
  trips[1] = std::max(trips[1], std::exchange(trips[0], 0));
  return at + 1;
}

const Instruction* Control::lane_trips(const Instruction* at, State& state) {
  if (!state.frame->lane_trips) return at + 1;
  state.frame->total_trips[at->c] += std::exchange(state.frame->lane_trips[2 * at->c + 1], 0);
  return at + 1;
}

const Instruction* Control::begin_active(const Instruction* at, State& state) {
  std::uint8_t* active = state.at<std::uint8_t>(at->result);
  if (at->a != 0) {
    std::memcpy(active, state.at<std::uint8_t>(at->a), kBlock);
  } else {
    for (int i = 0; i < kBlock; i++) active[i] = i < state.lanes;
  }
  return at + 1;
}

const Instruction* Control::test_active(const Instruction* at, State& state) {
  std::uint8_t* active = state.at<std::uint8_t>(at->result);
  const std::uint8_t* go_on = state.at<std::uint8_t>(at->a);
  unsigned any = 0;
  for (int i = 0; i < state.width; i++) any |= active[i] = active[i] & go_on[i];
  return any ? at + 1 : state.code + at->bits;
}

namespace {

template <class F>
void with_combiner(const Reduction& reduction, F&& f) {
  lower::for_binary(reduction.combine, [&]<Opcode code>() {
    lower::for_type(reduction.type, [&]<class T>() {
      if constexpr (code == Opcode::kAdd || code == Opcode::kMultiply || code == Opcode::kMin ||
                    code == Opcode::kMax || code == Opcode::kAnd || code == Opcode::kOr ||
                    code == Opcode::kXor) {
        if constexpr (lower::has_binary<code, T>) f.template operator()<code, T>();
      }
    });
  });
}

}  // namespace

const Instruction* Control::begin_reductions(const Instruction* at, State& state) {
  for (std::uint32_t i = 0; i < at->a; i++) {
    const Reduction& reduction = state.reductions[at->bits + i];
    const std::uint64_t bits = lower::identity(reduction.combine, reduction.type);
    lower::for_type(reduction.type, [&]<class T>() {
      T* partials = state.at<T>(reduction.partials);
      for (int j = 0; j < kBlock; j++) partials[j] = lower::from_bits<T>(bits);
    });
  }
  return at + 1;
}

const Instruction* Control::reduce(const Instruction* at, State& state) {
  for (std::uint32_t i = 0; i < at->a; i++) {
    const Reduction& reduction = state.reductions[at->bits + i];
    with_combiner(reduction, [&]<Opcode code, class T>() {
      T* partials = state.at<T>(reduction.partials);
      const T* values = state.at<T>(reduction.value);
      for (int j = 0; j < state.lanes; j++)
        partials[j] = lower::binary<code, T>(partials[j], values[j]);
    });
  }
  return at + 1;
}

const Instruction* Control::end_reductions(const Instruction* at, State& state) {
  for (std::uint32_t i = 0; i < at->a; i++) {
    const Reduction& reduction = state.reductions[at->bits + i];
    with_combiner(reduction, [&]<Opcode code, class T>() {
      T* partials = state.at<T>(reduction.partials);
      for (int half = kBlock / 2; half > 0; half /= 2) {
        for (int j = 0; j < half; j++)
          partials[j] = lower::binary<code, T>(partials[j], partials[j + half]);
      }
      const T init = *state.at<T>(reduction.init);
      *state.at<T>(reduction.result) = lower::binary<code, T>(init, partials[0]);
    });
  }
  return at + 1;
}

}  // namespace rondo::bytecode
