#include "lower/run_tapes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/memory.h"

namespace rondo::lower {

namespace {

constexpr std::int64_t kAlignment = 64;
// Threshold: Bytes that a tape begins with: memory of short loops against copies while it grows.
// Not measured; UnknownWhileTape in bench/gradient_bench.cc runs it.
constexpr std::int64_t kFirstBytes = 4096;
// Threshold: Bytes of rows that are set to zero at a time: they must still be in cache when a trip
// writes them. Not measured.
constexpr std::int64_t kClearedBytes = std::int64_t{32} << 10;

/// Of what size the process keeps blocks.
bool is_kept(std::int64_t bytes) noexcept {
  return bytes >= static_cast<std::int64_t>(kSmallestLargeBytes) &&
         bytes <= static_cast<std::int64_t>(kMostLargeBytes);
}

std::byte* aligned(std::byte* block) {
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  return block + ((address + kAlignment - 1) / kAlignment * kAlignment - address);
}

/// Zeros. Large blocks come from the system as pages that take no memory before they are written.
std::byte* zeroed_block(std::int64_t bytes) noexcept {
  return static_cast<std::byte*>(std::calloc(static_cast<std::size_t>(bytes + kAlignment), 1));
}

}  // namespace

RunTapes::RunTapes(const Program& program, RunFrame& frame, LastRows last_rows, bool guarded)
    : program_(program),
      frame_(frame),
      last_rows_(last_rows),
      use_(*frame.tape_use),
      guarded_(guarded),
      rows_(program.tapes.size()),
      memory_(program.tapes.size()) {
  frame.rows = rows_.data();
  frame.tapes = this;
}

RunTapes::~RunTapes() {
  for (std::uint32_t tape = 0; tape < memory_.size(); tape++) {
    if (!last_rows_.empty()) last_rows_[tape].store(memory_[tape].most, std::memory_order_relaxed);
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
  std::byte* const block = std::exchange(memory.block, nullptr);
  if (std::exchange(memory.is_kept, false))
    give_block(block, memory.size_class);
  else
    std::free(block);
  memory.pages.reset();
  memory.capacity = memory.used = 0;
  count(-std::exchange(rows_[tape], {}).count * program_.tapes[tape].row_bytes);
}

void RunTapes::empty(std::uint32_t tape) {
  std::int64_t& rows = rows_[tape].count;
  memory_[tape].used = std::max(memory_[tape].used, rows);
  count(-std::exchange(rows, 0) * program_.tapes[tape].row_bytes);
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
  } else if (is_kept(bytes)) {
    moved.block = first =
        static_cast<std::byte*>(take_block(static_cast<std::size_t>(bytes), moved.size_class));
    moved.is_kept = true;
    if (!first) return false;
  } else {
    moved.block = zeroed_block(bytes);
    if (!moved.block) return false;
    first = aligned(moved.block);
  }
  const TapeRows rows{first, rows_[tape].count};
  count(rows.count * row_bytes);
  if (const std::int64_t kept = rows.count * row_bytes; kept > 0)
    std::memcpy(first, rows_[tape].first, static_cast<std::size_t>(kept));
  Memory& memory = memory_[tape];
  moved.capacity = capacity;
  moved.used = moved.is_kept ? capacity : rows.count;
  moved.most = memory.most;
  moved.zeros = std::exchange(memory.zeros, nullptr);
  moved.zero_pages = std::move(memory.zero_pages);
  release(tape);
  memory = std::move(moved);
  rows_[tape] = rows;
  return true;
}

bool RunTapes::make_room(std::uint32_t tape, std::int64_t rows) {
  const std::int64_t row_bytes = std::max<std::int64_t>(program_.tapes[tape].row_bytes, 1);
  const std::int64_t capacity = memory_[tape].capacity;
  if (rows <= capacity) return true;
  std::int64_t wanted = rows;
  if (!guarded_) {
    wanted = std::max(wanted, kFirstBytes / row_bytes);
    if (capacity <= INT64_MAX / 2) wanted = std::max(wanted, 2 * capacity);
    if (!last_rows_.empty())
      wanted = std::max(wanted, last_rows_[tape].load(std::memory_order_relaxed));
  }
  // Where that many do not fit, as many as do.
  if (const std::int64_t most = (use_.limit - use_.now) / row_bytes; wanted > most)
    wanted = std::max(rows, most);
  return move_to(tape, wanted) || move_to(tape, rows);
}

bool RunTapes::take_rows(std::uint32_t tape, std::int64_t rows) {
  TapeRows& present = rows_[tape];
  Memory& memory = memory_[tape];
  const std::int64_t row_bytes = program_.tapes[tape].row_bytes;
  const std::int64_t least = guarded_ ? 0 : kFirstBytes / std::max<std::int64_t>(row_bytes, 1);
  const std::int64_t some = guarded_ ? 0 : kClearedBytes / std::max<std::int64_t>(row_bytes, 1);
  std::int64_t count_then =
      std::max({rows, least, std::min(2 * present.count, present.count + some)});
  count_then = std::min(count_then, memory.capacity);
  if (row_bytes > 0)
    count_then = std::min(count_then, present.count + (use_.limit - use_.now) / row_bytes);
  if (count_then < rows) return false;
  const std::int64_t old = std::min(count_then, memory.used) - present.count;
  if (old > 0 && row_bytes > 0)
    std::memset(present.first + present.count * row_bytes, 0,
                static_cast<std::size_t>(old * row_bytes));
  count((count_then - present.count) * row_bytes);
  present.count = count_then;
  memory.most = std::max(memory.most, count_then);
  return true;
}

bool RunTapes::reserve(std::uint32_t tape, std::int64_t rows) {
  if (rows <= rows_[tape].count || (make_room(tape, rows) && take_rows(tape, rows))) return true;
  frame_.failed_tape = tape;
  frame_.failed_rows = rows;
  return false;
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
  tapes.empty(set->to);
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
