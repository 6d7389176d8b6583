// One compiled function, and the memory of its runs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "base/guard_pages.h"
#include "bytecode/code.h"
#include "lower/program.h"
#include "lower/run_frame.h"
#include "native/compile.h"
#include "rondo/function.h"

namespace rondo::executor {

/// Programs only read their arguments and constants.
inline std::byte* const* only_read(const std::byte* const* places) {
  return const_cast<std::byte* const*>(reinterpret_cast<const std::byte* const*>(places));
}

/// Memory for a run's arena and registers, reused by the next one.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  std::byte* bytes() const { return bytes_; }

 private:
  std::byte* bytes_;
};

/// Some idle workspaces; taking one and giving it back take no lock.
class WorkspacePool {
 public:
  ~WorkspacePool();
  std::unique_ptr<Workspace> take(std::size_t bytes);
  void give(std::unique_ptr<Workspace> workspace);
  std::size_t size() const;

 private:
  // Threshold: Idle workspaces kept for each executable: memory against allocation when several
  // threads run it at once. Not measured.
  static constexpr std::size_t kMost = 16;
  std::atomic<Workspace*> idle_[kMost] = {};
};

struct Unit {
  Function function;
  std::shared_ptr<const lower::Program> program;
  std::unique_ptr<const native_code::NativeCode> native;  // or else
  std::unique_ptr<const bytecode::Code> code;
  std::vector<const std::byte*> constants;
  mutable WorkspacePool pool;
  /// For the last run (lower::RunTapes::LastRows).
  std::unique_ptr<std::atomic<std::int64_t>[]> tape_rows;

  /// If its loops are split: the arena of the largest part, of which each thread has one.
  std::int64_t part_bytes = 0;
  bool divides_users_loops = false;  // which then report no progress

  bool timed = false;  // for runs that measure a profile: its loops have timers
  /// Where passes that know the run have changed `program` (timers, lanes that are split): the
  /// program before that, which is divided for threads.
  std::shared_ptr<const lower::Program> undivided;
  native_code::Observers observers = {};  // of its native code
  bool guarded = guard_pages_wanted();    // each run: executor/guarded_run.h
  std::size_t workspace_bytes = 0;        // the arena, then the registers of bytecode

  /// Compiles the program, as native code if `wants_native` and the target has any.
  void prepare(lower::Program lowered, bool wants_native);
  /// Adds what it owns: the function, the program and its code, and memory that is reused by the
  /// next run.
  void count_held(HeldBytes& held) const;

  /// Called if a run ends early, while its memory is allocated.
  using Stopped = absl::FunctionRef<void(lower::Status)>;
  /// Runs it; `frame` has the arguments, results and limits.
  lower::Status run(lower::RunFrame& frame, Stopped stopped) const;

 private:
  lower::Status run_in_place(lower::RunFrame& frame, Stopped stopped) const;
  lower::Status run_in(std::byte* workspace, lower::RunFrame& frame, Stopped stopped) const;
};

}  // namespace rondo::executor
