// Runs a Program.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "interpreter/program.h"
#include "rondo/execute.h"

namespace rondo::interpreter {

/// The state of one run: counters, limits, and the frames of the programs that kernels call.
class Machine final : public ir::Host {
 public:
  Machine(const Bundle& bundle, const RunOptions& options);

  std::vector<Literal> run(std::span<const Literal> arguments);
  RunStats stats() const;

  void call(const Function& region, std::span<const Literal> arguments,
            std::vector<Literal>& results) override;
  void tap(std::string_view name, const Literal& value) override;
  void print(std::string_view format, const Literal& value) override;
  void progress(std::int64_t i, std::int64_t n) override;

 private:
  struct Frame {
    std::vector<Literal> slots;
    std::vector<std::int64_t> trips;  // of the current execution of each loop
  };
  /// Lends a frame of a program out and takes it back, so that a comparator's slots are allocated
  /// once.
  class FrameLease;

  void execute(const Program& program, Frame& frame);
  void run_kernel(const Program& program, const Instruction& instruction, Literal* slots);
  void assign(const Program& program, const Instruction& instruction, Literal* slots);
  std::uint32_t select_branch(const Program& program, const Instruction& instruction,
                              Literal* slots) const;
  /// Checks the limits before trip number `trip` (from 1) of a loop.
  void watch_trip(const LoopInfo& loop, std::int64_t trip);
  [[noreturn]] void rethrow_located(const Program& program, const Frame& frame,
                                    std::size_t at) const;

  const Bundle& bundle_;
  const RunOptions& options_;
  bool watched_;
  std::int64_t op_evaluations_ = 0;
  std::vector<std::int64_t> total_trips_;
  std::vector<std::vector<Frame>> idle_frames_;  // by program
  std::vector<Literal> scratch_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point next_report_;
  MemoryMeter meter_;
  int depth_ = 0;
};

}  // namespace rondo::interpreter
