// One function, compiled, and the memory that its runs work in.
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

/// Programs read their arguments and constants only.
inline std::byte* const* only_read(const std::byte* const* places) {
  return const_cast<std::byte* const*>(reinterpret_cast<const std::byte* const*>(places));
}

/// Memory for a run's arena and registers, kept for the next one.
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
  /// Of the last run (lower::RunTapes::LastRows).
  std::unique_ptr<std::atomic<std::int64_t>[]> tape_rows;

  /// Where its loops are in pieces: the arena of the largest part, of which each thread has one.
  std::int64_t part_bytes = 0;
  bool divides_users_loops = false;  // they report no progress then

  bool guarded = guard_pages_wanted();  // each run: executor/guarded_run.h
  std::size_t workspace_bytes = 0;      // the arena, then the registers of bytecode

  /// Takes the program, as native code if that is wanted and there is any.
  void prepare(lower::Program lowered, bool wants_native);
  /// Adds what it holds: the function, the program and its code, and memory that a run leaves for
  /// the next one.
  void count_held(HeldBytes& held) const;

  /// Called where a run ends before its end, while its memory stands.
  using Stopped = absl::FunctionRef<void(lower::Status)>;
  /// Runs it; `frame` has the arguments, results and limits.
  lower::Status run(lower::RunFrame& frame, Stopped stopped) const;

 private:
  lower::Status run_in_place(lower::RunFrame& frame, Stopped stopped) const;
  lower::Status run_in(std::byte* workspace, lower::RunFrame& frame, Stopped stopped) const;
};

}  // namespace rondo::executor
