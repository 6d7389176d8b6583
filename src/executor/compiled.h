// A program of the compiled executor: the lower programs of a function and of the regions that its
// kernels call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/runtime/unit.h"
#include "ir/backend.h"

namespace rondo::executor {

class Compiled final : public ir::Prepared {
 public:
  /// `wants_native`: native code, if this machine has it for the unit, else bytecode. With limits,
  /// runs may be ended or report progress (executor/lane_chunks.cc).
  Compiled(const Function& function, const CompileOptions& options, bool wants_native,
           const ir::Form& form = {});
  ~Compiled() override;

  std::vector<Literal> run(std::span<const Literal> arguments, const RunOptions& options,
                           RunStats& stats) const override;
  bool runs_on_memory() const override { return true; }
  void run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                     const RunOptions& options) const override;
  bool run_alone(const std::byte* const* arguments, std::byte* const* results) const override;
  std::string text() const override;
  std::string loop_report() const override;
  std::string disassembly(std::string_view loop) const override;
  void count_held(HeldBytes& held) const override;
  bool ignores_limits() const override { return ignores_limits_; }
  bool measures() const override { return entry().timed; }
  std::int64_t arena_bytes() const override { return entry().program->arena_bytes; }
  /// The memory limit for tapes, beside the arena.
  std::int64_t tape_limit() const { return tape_limit_; }

  const Unit& entry() const { return *units_.front(); }
  const Unit& unit(const Function& region) const { return *units_[regions_.at(region.identity())]; }

 private:
  /// The code to run on as many threads as these allow.
  const Unit& entry_for(const RunOptions& options) const;

  std::vector<std::unique_ptr<Unit>> units_;
  absl::flat_hash_map<const void*, std::size_t> regions_;
  std::vector<TensorType> result_types_;
  std::optional<std::int64_t> arena_limit_;
  std::int64_t tape_limit_ = INT64_MAX;
  CompileOptions options_;
  bool wants_native_;
  bool ignores_limits_ = false;  // in some loops
  bool alone_ = false;           // no kernel or tape needs the state of a run
  mutable std::once_flag divided_made_;
  mutable std::unique_ptr<const Unit> divided_;  // the entry for several threads, if it gains
};

}  // namespace rondo::executor
