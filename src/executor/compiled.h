// A program of the compiled executor: the lower programs of a function and of the regions that its
// kernels call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "base/guard_pages.h"
#include "bytecode/code.h"
#include "ir/backend.h"
#include "lower/program.h"
#include "native/compile.h"

namespace rondo::executor {

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

 private:
  static constexpr std::size_t kMost = 16;
  std::atomic<Workspace*> idle_[kMost] = {};
};

/// One function, compiled.
struct Unit {
  Function function;
  std::shared_ptr<const lower::Program> program;
  std::unique_ptr<const native_code::NativeCode> native;  // or else
  std::unique_ptr<const bytecode::Code> code;
  std::vector<const std::byte*> constants;
  mutable WorkspacePool pool;

  bool guarded = guard_pages_wanted();  // each run: executor/guarded_run.h
  std::size_t workspace_bytes = 0;      // the arena, then the registers of bytecode

  /// Takes the program, as native code if that is wanted and there is any.
  void prepare(lower::Program lowered, bool wants_native);
  /// Of the program and its code.
  std::int64_t bytes() const;

  /// Called where a run ends before its end, while its memory stands.
  using Stopped = absl::FunctionRef<void(lower::Status)>;
  /// Runs it; `frame` has the arguments, results and limits.
  lower::Status run(lower::RunFrame& frame, Stopped stopped) const;

 private:
  lower::Status run_in_place(lower::RunFrame& frame, Stopped stopped) const;
  lower::Status run_in(std::byte* workspace, lower::RunFrame& frame, Stopped stopped) const;
};

class Compiled final : public ir::Prepared {
 public:
  /// `wants_native`: where this machine has native code for a unit, that; else bytecode.
  /// `has_limits`: its runs may be ended or report (executor/lane_chunks.cc).
  Compiled(const Function& function, const CompileOptions& options, bool wants_native,
           bool has_limits = false);
  ~Compiled() override;

  std::vector<Literal> run(std::span<const Literal> arguments, const RunOptions& options,
                           RunStats& stats) const override;
  bool runs_on_memory() const override { return true; }
  void run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                     const RunOptions& options) const override;
  std::string text() const override;
  std::string disassembly(std::string_view loop) const override;
  std::int64_t bytes() const override;
  std::int64_t arena_bytes() const override { return entry().program->arena_bytes; }
  /// What tapes may take beside the arena.
  std::int64_t tape_limit() const { return tape_limit_; }

  const Unit& entry() const { return *units_.front(); }
  const Unit& unit(const Function& region) const { return *units_[regions_.at(region.identity())]; }

 private:
  /// What runs with these options. A run that may end or report needs a state between trips of all
  /// lanes.
  const Compiled& form_for(const RunOptions& options) const;
  /// What runs on so many threads as these allow.
  const Unit& entry_for(const RunOptions& options) const;
  /// A plain run of a program that runs alone.
  void run_alone(const std::byte* const* arguments, std::byte* const* results) const;

  std::vector<std::unique_ptr<Unit>> units_;
  absl::flat_hash_map<const void*, std::size_t> regions_;
  std::vector<TensorType> result_types_;
  std::int64_t tape_limit_ = INT64_MAX;
  CompileOptions options_;
  bool wants_native_;
  bool ignores_limits_ = false;  // in loops that run lane by lane
  bool alone_ = false;           // no kernel or tape asks for the state of a run
  mutable std::once_flag limited_made_;
  mutable std::unique_ptr<const Compiled> limited_;  // in chunks of trips
  mutable std::once_flag divided_made_;
  mutable std::unique_ptr<const Unit> divided_;  // the entry for several threads, if it gains
};

}  // namespace rondo::executor
