// Loads and stores.
#include "bytecode/instruction.h"
#include "lower/opcodes.h"
#include "lower/run_tapes.h"

namespace rondo::bytecode {

namespace {

/// The address for the first lane of the block (or the only value).
std::byte* place(const Access& access, const State& state) {
  std::int64_t offset = access.offset + access.lane_stride * state.lane;
  for (std::uint32_t i = 0; i < access.terms; i++) {
    const Term& term = state.terms[access.first_term + i];
    if (!term.by_lane) offset += *state.at<std::int64_t>(term.index) * term.stride;
  }
  return *state.at<std::byte*>(access.base) + offset;
}

std::int64_t lane_offset(const Access& access, const State& state, int lane) {
  std::int64_t offset = access.lane_stride * lane;
  for (std::uint32_t i = 0; access.gathers && i < access.terms; i++) {
    const Term& term = state.terms[access.first_term + i];
    if (term.by_lane) offset += state.at<std::int64_t>(term.index)[lane] * term.stride;
  }
  return offset;
}

template <bool lanes, class T>
const Instruction* load(const Instruction* at, State& state) {
  const Access& access = state.accesses[at->bits];
  const std::byte* from = place(access, state);
  T* result = state.at<T>(at->result);
  if constexpr (!lanes) {
    std::memcpy(result, from, sizeof(T));
  } else {
    if (!access.gathers && access.lane_stride == sizeof(T)) {
      std::memcpy(result, from, static_cast<std::size_t>(state.lanes) * sizeof(T));
    } else {
      for (int i = 0; i < state.lanes; i++)
        std::memcpy(&result[i], from + lane_offset(access, state, i), sizeof(T));
    }
    for (int i = state.lanes; i < state.width; i++) result[i] = 0;
  }
  return at + 1;
}

template <bool lanes, class T>
const Instruction* store(const Instruction* at, State& state) {
  const Access& access = state.accesses[at->bits];
  std::byte* to = place(access, state);
  const T* value = state.at<T>(at->a);
  if constexpr (!lanes) {
    std::memcpy(to, value, sizeof(T));
  } else if (at->b != 0) {
    const std::uint8_t* active = state.at<std::uint8_t>(at->b);
    for (int i = 0; i < state.lanes; i++) {
      if (active[i]) std::memcpy(to + lane_offset(access, state, i), &value[i], sizeof(T));
    }
  } else if (!access.gathers && access.lane_stride == sizeof(T)) {
    std::memcpy(to, value, static_cast<std::size_t>(state.lanes) * sizeof(T));
  } else {
    for (int i = 0; i < state.lanes; i++)
      std::memcpy(to + lane_offset(access, state, i), &value[i], sizeof(T));
  }
  return at + 1;
}

template <bool lanes>
Run memory_of(const lower::Op& op) {
  const bool loads = op.code == lower::Opcode::kLoad;
  switch (lower::width(op.type)) {
    case 1:
      return loads ? load<lanes, std::uint8_t> : store<lanes, std::uint8_t>;
    case 2:
      return loads ? load<lanes, std::uint16_t> : store<lanes, std::uint16_t>;
    case 4:
      return loads ? load<lanes, std::uint32_t> : store<lanes, std::uint32_t>;
    default:
      return loads ? load<lanes, std::uint64_t> : store<lanes, std::uint64_t>;
  }
}

}  // namespace

Run memory(const lower::Op& op, bool lanes) {
  return lanes ? memory_of<true>(op) : memory_of<false>(op);
}

const Instruction* Control::view(const Instruction* at, State& state) {
  *state.at<std::byte*>(at->result) = place(state.accesses[at->bits], state);
  return at + 1;
}

const Instruction* Control::copy(const Instruction* at, State& state) {
  const lower::Copy& copy = state.program->copies[at->bits];
  // The decoded addresses are in the order of the program's.
  const std::byte* from = place(state.accesses[copy.from], state);
  std::memcpy(place(state.accesses[copy.to], state), from, static_cast<std::size_t>(copy.bytes));
  return at + 1;
}

const Instruction* Control::tape_row(const Instruction* at, State& state) {
  const auto tape = static_cast<std::uint32_t>(at->bits);
  const std::int64_t row = *state.at<std::int64_t>(at->a);
  const lower::TapeRows& rows = state.frame->rows[tape];
  std::byte* place = nullptr;
  if (row >= 0 && row < rows.count) {
    place = rows.first + row * state.program->tapes[tape].row_bytes;
  } else {
    place = lower::RunTapes::missing_row(state.frame, at->bits, row, at->b != 0);
    if (!place) {
      state.status = lower::Status::kTapeFailed;
      return nullptr;
    }
  }
  *state.at<std::byte*>(at->result) = place;
  return at + 1;
}

const Instruction* Control::tape_set(const Instruction* at, State& state) {
  if (lower::RunTapes::set(state.frame, &state.program->tape_sets[at->bits])) return at + 1;
  state.status = lower::Status::kTapeFailed;
  return nullptr;
}

}  // namespace rondo::bytecode
