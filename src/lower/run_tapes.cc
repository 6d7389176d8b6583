#include "lower/run_tapes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace rondo::lower {

namespace {

constexpr std::int64_t kAlignment = 64;
// The least that a tape begins with.
constexpr std::int64_t kFirstBytes = 4096;

std::byte* aligned(std::byte* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return block + ((address + kAlignment - 1) / kAlignment * kAlignment - address);
}

/// Zeros. Large blocks come from the system as pages that take no memory before they are written.
std::byte* zeroed_block(std::int64_t bytes) noexcept {
  return static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(bytes + kAlignment), 1));
}

}  // namespace

RunTapes::RunTapes(const Program& program, RunFrame& frame, bool guarded)
    : program_(program),
      frame_(frame),
      use_(*frame.tape_use),
      guarded_(guarded),
      rows_(program.tapes.size()),
      memory_(program.tapes.size()) {
  frame.rows = rows_.data();
  frame.tapes = this;
}

RunTapes::~RunTapes() {
  for (std::uint32_t tape = 0; tape < memory_.size(); tape++) {
    release(tape);
    std::free(memory_[tape].zeros);
  }
}

void RunTapes::count(std::int64_t bytes) {
  use_.now += bytes;
  use_.peak = std::max(use_.peak, use_.now);
}

void RunTapes::release(std::uint32_t tape) {
  Memory& memory = memory_[tape];
  std::free(std::exchange(memory.block, nullptr));
  memory.pages.reset();
  memory.used = 0;
  count(-std::exchange(memory.capacity, 0) * program_.tapes[tape].row_bytes);
  rows_[tape] = {};
}

bool RunTapes::move_to(std::uint32_t tape, std::int64_t capacity) {
  const std::int64_t row_bytes = program_.tapes[tape].row_bytes;
  if (row_bytes > 0 && capacity > (INT64_MAX - kAlignment) / row_bytes) return false;
  const std::int64_t bytes = capacity * row_bytes;
  if (bytes > use_.limit - use_.now) return false;
  Memory moved;
  std::byte* first = nullptr;
  if (guarded_) {
    try {
      moved.pages = std::make_unique<GuardedMemory>(bytes);
    } catch (const std::bad_alloc&) {
      return false;
    }
    first = moved.pages->data();
  } else {
    moved.block = zeroed_block(bytes);
    if (!moved.block) return false;
    first = aligned(moved.block);
  }
  moved.capacity = capacity;
  count(bytes);
  TapeRows& rows = rows_[tape];
  if (const std::int64_t kept = rows.count * row_bytes; kept > 0)
    std::memcpy(first, rows.first, static_cast<std::size_t>(kept));
  Memory& memory = memory_[tape];
  moved.zeros = std::exchange(memory.zeros, nullptr);
  moved.zero_pages = std::move(memory.zero_pages);
  moved.used = rows.count;
  release(tape);
  memory = std::move(moved);
  rows = {first, moved.used};
  return true;
}

bool RunTapes::reserve(std::uint32_t tape, std::int64_t rows) {
  const std::int64_t row_bytes = program_.tapes[tape].row_bytes;
  TapeRows& stand = rows_[tape];
  const std::int64_t least = guarded_ ? 0 : kFirstBytes / std::max<std::int64_t>(row_bytes, 1);
  if (const std::int64_t capacity = memory_[tape].capacity; rows > capacity) {
    std::int64_t wanted = std::max(rows, least);
    if (!guarded_ && capacity <= INT64_MAX / 2) wanted = std::max(wanted, 2 * capacity);
    // Where that many do not fit, as many as do.
    if (row_bytes > 0 && wanted > (use_.limit - use_.now) / row_bytes)
      wanted = std::max(rows, (use_.limit - use_.now) / row_bytes);
    if (!move_to(tape, wanted) && !move_to(tape, rows)) {
      frame_.failed_tape = tape;
      frame_.failed_rows = rows;
      return false;
    }
  }
  // Rows below `used` may hold what stood there before the tape began anew; they are made zeros by
  // as many as there are, so that few rows cost little. Those behind are zeros.
  const Memory& memory = memory_[tape];
  const std::int64_t cleared = std::max({rows, 2 * stand.count, least});
  const std::int64_t count = cleared < memory.used ? cleared : memory.capacity;
  const std::int64_t old = std::min(count, memory.used) - stand.count;
  if (old > 0 && row_bytes > 0)
    std::memset(stand.first + stand.count * row_bytes, 0,
                static_cast<std::size_t>(old * row_bytes));
  stand.count = std::max(stand.count, count);
  return true;
}

std::byte* RunTapes::zero_row(std::uint32_t tape) {
  Memory& memory = memory_[tape];
  const std::int64_t bytes = program_.tapes[tape].row_bytes;
  if (guarded_) {
    if (!memory.zero_pages) memory.zero_pages = std::make_unique<GuardedMemory>(bytes);
    return memory.zero_pages->data();
  }
  if (!memory.zeros) memory.zeros = zeroed_block(bytes);
  return memory.zeros ? aligned(memory.zeros) : nullptr;
}

std::byte* RunTapes::missing_row(RunFrame* frame, std::uint64_t tape_and_loop, std::int64_t row,
                                 bool writes) noexcept {
  const auto tape = static_cast<std::uint32_t>(tape_and_loop);
  RunTapes& tapes = *frame->tapes;
  frame->failed_tape = tape;
  frame->failed_rows = row;
  std::byte* found = nullptr;
  if (!writes && row >= 0) {
    try {
      found = tapes.zero_row(tape);
    } catch (const std::bad_alloc&) {
      found = nullptr;  // said below
    }
  } else if (row >= 0 && row < INT64_MAX && tapes.reserve(tape, row + 1)) {
    found = frame->rows[tape].first + row * tapes.program_.tapes[tape].row_bytes;
  }
  if (!found) frame->failed_loop = static_cast<std::uint32_t>(tape_and_loop >> 32);
  return found;
}

bool RunTapes::set(RunFrame* frame, const TapeSet* set) noexcept {
  RunTapes& tapes = *frame->tapes;
  if (set->releases) {
    tapes.release(set->to);
    return true;
  }
  TapeRows& to = tapes.rows_[set->to];
  Memory& memory = tapes.memory_[set->to];
  memory.used = std::max(memory.used, std::exchange(to.count, 0));
  if (set->from == kNoTape) return true;
  const TapeRows& from = tapes.rows_[set->from];
  if (!tapes.reserve(set->to, from.count)) {
    frame->failed_loop = set->loop;
    return false;
  }
  if (const std::int64_t bytes = from.count * tapes.program_.tapes[set->to].row_bytes; bytes > 0)
    std::memcpy(to.first, from.first, static_cast<std::size_t>(bytes));
  return true;
}

}  // namespace rondo::lower
