// One run of a compiled program: the state that its kernels reach, and calls of regions.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "executor/compiled.h"
#include "executor/runtime/kernels.h"
#include "executor/runtime/safepoints.h"
#include "ir/run_limits.h"
#include "lower/run_frame.h"

namespace rondo::executor {

/// Counts of the trips of a program's loops in a run.
class TripCounts {
 public:
  TripCounts(const lower::Program& program, lower::RunFrame& frame);
  TripCounts(const TripCounts&) = delete;
  TripCounts& operator=(const TripCounts&) = delete;

 private:
  std::int64_t few_[16];
  std::vector<std::int64_t> many_;
};

class Run final : public RunHost {
 public:
  /// `for_state`: a run that is repeated to obtain the state in which it ends.
  Run(const Compiled& compiled, const RunOptions& options, bool for_state = false);
  ~Run() override;

  /// Runs the program that the user called. Adds to `total_trips` of its loops, if that is not
  /// null. Throws the reason that ends the run.
  void run_entry(const Unit& unit, std::byte* const* arguments, std::byte* const* results,
                 std::int64_t* total_trips);

  std::int64_t tape_bytes() const { return tapes_.peak; }
  /// For all calls of a region by a kernel, loop by loop; null if there were none.
  const std::int64_t* total_trips(const Unit& region) const;

  ir::RegionCall& region(const Function& function) override;
  void poll() override { safepoints_.poll(); }
  void poll_part(const lower::LoopInfo* loop, std::int64_t trip) override {
    safepoints_.poll_part(loop, trip);
  }
  std::unique_ptr<RunHost> for_part() override;
  void add_counts(const RunHost& part) override;
  int threads() const override { return options_.threads.value_or(1); }
  void tap(std::string_view name, const TensorType& type, const std::byte* value) override;
  void print(std::string_view format, const TensorType& type, const std::byte* value) override;
  void progress(std::int64_t i, std::int64_t n) override;
  void progress_of_lane(std::string_view lane, std::int64_t i, std::int64_t n) override;

 private:
  class Region;
  /// Measures the run, if a profile is asked for, and fills it in.
  class Measured;
  void run_unit(const Unit& unit, std::byte* const* arguments, std::byte* const* results,
                std::int64_t* total_trips, bool is_entry);
  void add_state(ir::Interrupt& interrupt, const Unit& unit, std::byte* const* arguments,
                 std::byte* const* results) const;

  const Compiled& compiled_;
  const RunOptions& options_;
  const bool for_state_;
  SafepointHandler safepoints_;
  absl::flat_hash_map<const void*, std::unique_ptr<Region>> regions_;
  int depth_ = 0;
  lower::TapeUse tapes_;
};

}  // namespace rondo::executor
