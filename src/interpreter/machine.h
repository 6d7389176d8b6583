// Runs a Program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "base/memory.h"
#include "interpreter/program.h"
#include "ir/run_limits.h"
#include "ir/time_tree.h"
#include "rondo/execute.h"

namespace rondo::interpreter {

/// The state of one run: counters, limits, and the frames of the programs that kernels call.
class Machine final : public ir::Host {
 public:
  Machine(const Bundle& bundle, const RunOptions& options);

  std::vector<Literal> run(std::span<const Literal> arguments);
  RunStats stats() const;
  /// Only if the options ask for one. Ends what is still open in it.
  Profile profile();

  ir::RegionCall& region(const Function& region) override;
  void poll() override;
  void tap(std::string_view name, const TensorType& type, const std::byte* value) override;
  void print(std::string_view format, const TensorType& type, const std::byte* value) override;
  void progress(std::int64_t i, std::int64_t n) override;
  int threads() const override { return options_.threads.value_or(1); }
  void progress_of_lane(std::string_view lane, std::int64_t i, std::int64_t n) override;

 private:
  struct Frame {
    std::vector<Literal> slots;
    // Of the current execution of each loop.
    std::vector<std::int64_t> trips;
    std::vector<std::optional<std::int64_t>> of;  // their total number, if it is known
  };
  /// What a profile knows of the program: made for a run that measures one.
  struct Times {
    explicit Times(const Bundle& bundle);
    std::vector<ir::TimedPlace> loops;
    absl::node_hash_map<const ir::Node*, ir::TimedPlace> kernels;
    ir::TimeTree tree;
  };
  /// Takes a frame of a program and returns it at the end, so that a comparator's slots are
  /// allocated once.
  /// once.
  class FrameLease;
  /// A program that kernels call.
  class Region final : public ir::RegionCall {
   public:
    Region(Machine& machine, std::uint32_t program) : machine_(machine), program_(program) {}
    void run(ir::OperandPlaces operands, ir::ResultPlaces results) override;

   private:
    Machine& machine_;
    std::uint32_t program_;
  };

  void execute(const Program& program, Frame& frame);
  void run_kernel(const Program& program, const Instruction& instruction, Literal* slots);
  void run_kernel_on(const Instruction& instruction, std::span<Literal* const> inputs,
                     Literal* slots);
  /// Storage for a result: that of an operand which is not used again and may be overwritten, or
  /// which the kernel forwards; else new.
  static Literal result_storage(const Instruction& instruction, std::size_t result,
                                std::span<Literal* const> inputs);
  void assign(const Program& program, const Instruction& instruction, Literal* slots);
  std::uint32_t select_branch(const Program& program, const Instruction& instruction,
                              Literal* slots) const;
  /// The number of trips that a loop will make, if it is known.
  std::optional<std::int64_t> trips_to_come(const Program& program, const Instruction& enter,
                                            const Literal* slots) const;
  /// For the next trip of a counted loop: writes its index. False after the last one.
  bool begin_index(const Program& program, const Instruction& test, Frame& frame) const;
  static const Literal& value_at(const Program& program, Reference from, const Literal* slots) {
    return from & kConstantBit ? program.constants[from & ~kConstantBit] : slots[from];
  }
  /// Checks the limits before trip number `trip` (from 1) of a loop, and reports its progress.
  void begin_trip(std::uint32_t index, std::int64_t trip, Frame& frame);
  /// Keeps the state of an outermost loop whose trips can be interrupted.
  void keep_state(std::uint32_t index, std::int64_t trips, const Frame& frame);
  void release_state();
  void add_state(ir::Interrupt& interrupt, const Program& program, const Frame& frame,
                 std::size_t at) const;
  void report_progress(std::uint32_t innermost, const Frame& frame);
  [[noreturn]] void rethrow_located(const Program& program, const Frame& frame,
                                    std::size_t at) const;

  const Bundle& bundle_;
  const RunOptions& options_;
  ir::RunLimits watch_;
  std::int64_t op_evaluations_ = 0;
  std::int64_t work_ = 0;  // since the clock was last checked, in elements
  std::vector<std::int64_t> total_trips_;
  std::vector<std::int64_t> reported_trips_;     // at the last report
  std::vector<std::vector<Frame>> idle_frames_;  // by program
  std::vector<Region> regions_;                  // by program
  std::vector<Literal> scratch_;
  // The last state of an outermost loop between two trips.
  std::uint32_t kept_loop_ = kNoLoop;
  std::int64_t kept_trips_ = 0;
  std::vector<Literal> kept_;
  ir::RunLimits::Clock::time_point kept_at_;
  MemoryMeter meter_;
  std::optional<Times> times_;
  int depth_ = 0;
};

}  // namespace rondo::interpreter
