// The tapes of a run: arrays that grow by rows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/guard_pages.h"
#include "lower/program.h"
#include "lower/run_frame.h"

namespace rondo::lower {

/// The memory of a program's tapes, while it runs. The rows of a tape are contiguous; a
/// row beyond the end doubles the capacity, so that the cost of n rows is linear. Large tapes
/// have blocks that the process keeps: those of the system would cost more than what is written to
/// them, page by page. With guard pages (base/guard_pages.h) each new row moves them all, to end
/// before an inaccessible page.
class RunTapes {
 public:
  /// The rows that each tape had in the last run of the program, in any thread. A tape begins with
  /// room for as many, so that a run like the last one moves no rows.
  using LastRows = std::span<std::atomic<std::int64_t>>;
  /// Gives the frame its tapes, which count in its tape_use. Program and frame outlive it, and
  /// `last_rows`, which may be empty.
  RunTapes(const Program& program, RunFrame& frame, LastRows last_rows,
           bool guarded = guard_pages_wanted());
  RunTapes(const RunTapes&) = delete;
  RunTapes& operator=(const RunTapes&) = delete;
  ~RunTapes();

  /// Where row `row` is that is not there: made, or zeros to read. Null where there is no memory
  /// for it: the frame says which tape, how many rows and the loop around.
  static std::byte* missing_row(RunFrame* frame, std::uint64_t tape_and_loop, std::int64_t row,
                                bool writes) noexcept;
  /// False where there is no memory.
  static bool set(RunFrame* frame, const TapeSet* set) noexcept;

 private:
  struct Memory {
    std::byte* block = nullptr;  // as it was given
    bool is_kept = false;        // a block that the process keeps, of `size_class`
    std::uint32_t size_class = 0;
    std::unique_ptr<GuardedMemory> pages;
    std::int64_t capacity = 0;   // rows
    std::int64_t used = 0;       // rows that may not be zeros
    std::int64_t most = 0;       // rows at a time in this run
    std::byte* zeros = nullptr;  // one row
    std::unique_ptr<GuardedMemory> zero_pages;
  };
  /// Room for `rows` rows or more; existing rows keep their contents, new ones are zeros.
  bool reserve(std::uint32_t tape, std::int64_t rows);
  bool move_to(std::uint32_t tape, std::int64_t capacity);
  bool make_room(std::uint32_t tape, std::int64_t rows);
  /// Of those that there is room for, `rows` or a few more are there then, and count as used. Where
  /// they may hold what was there before, they are made zeros.
  bool take_rows(std::uint32_t tape, std::int64_t rows);
  void empty(std::uint32_t tape);
  void release(std::uint32_t tape);
  void count(std::int64_t bytes);
  std::byte* zero_row(std::uint32_t tape);

  const Program& program_;
  RunFrame& frame_;
  LastRows last_rows_;
  TapeUse& use_;
  bool guarded_;
  std::vector<TapeRows> rows_;
  std::vector<Memory> memory_;
};

}  // namespace rondo::lower
