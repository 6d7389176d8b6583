// A program of the compiled executor: the lower programs of a function and of the regions that its
// kernels call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
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
  Compiled(const Function& function, const CompileOptions& options, bool wants_native);

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
  std::vector<std::unique_ptr<Unit>> units_;
  absl::flat_hash_map<const void*, std::size_t> regions_;
  std::vector<TensorType> result_types_;
  std::int64_t tape_limit_ = INT64_MAX;
};

}  // namespace rondo::executor
