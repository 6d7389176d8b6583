// Expands a lane loop to loops of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "native/expand.h"
#include "native/lane_plan.h"
#include "native/lane_streams.h"

namespace rondo::native_code {

/// Expands the ops from kLanes at `begin` to kEndLanes at `end`.
///
/// A block is `unroll` vectors of `lanes` lanes. Code without control flow is written for one
/// vector after the other, so that only values that are live afterwards take a register for each
/// vector; the processor overlaps them. The remainder is done in vectors with a mask if the target
/// has masks, else in whole vectors and then single lanes. If lanes are few and their number is
/// known, the vectors are unrolled, with constant offsets and masks.
class LaneBlocks {
 public:
  LaneBlocks(Expander& expander, std::size_t begin, std::size_t end);
  void run();
  /// Whether lanes of a known number are so few that their vectors are unrolled, without loops.
  static bool is_written_out(const lower::Lanes& lanes);

 private:
  struct Partials {
    Unit area = 0;                // pointer to the partial results in the frame
    int count = 0;                // number of those that lanes reach, a power of two
    bool in_registers = false;    // while blocks run: each trip covers all of them
    std::vector<Unit> last = {};  // lanes after the vectors of the only block
  };

  void run_scalar(Unit lower, Unit upper);
  void run_blocks(Unit lower, Unit upper, int unroll, bool masked);
  /// The mask of the last lanes of a vector.
  Unit begin_tail(std::int64_t lanes);
  void run_vectors();
  /// `is_plain`: no loops or branches in a lane.
  void run_blocks_and_rest(bool is_plain);
  void write_out(std::int64_t count);
  void write_block(std::int64_t first, int unroll, std::int64_t left);
  /// After blocks, lanes of a known number: whole vectors, then the rest.
  void write_rest(std::int64_t first, std::int64_t count);
  /// A single lane.
  void expand_lane(std::int64_t lane);

  void begin_partials();
  void combine_scalar(Unit index);
  void combine_block();
  void end_partials();
  /// Loads the first of the partial results in the frame, once all are combined.
  Unit fold(const lower::Lanes::Reduction& reduction, const Partials& partials);
  void run_one_block();
  /// The lanes from `first` on, one at a time.
  void expand_last(std::int64_t first);
  /// Whether the only block ends with single lanes.
  bool has_last_lanes() const;
  /// Combines partial results, in vectors of `lanes` or single ones, into the first of them.
  void combine_pairwise(const lower::Lanes::Reduction& reduction, std::vector<Unit>& partials,
                        int lanes);
  /// Combines the vectors of the only block.
  void fold_block();

  void expand_body();
  void expand_run(std::size_t begin, std::size_t end);
  void expand_vector(const lower::Op& op, int u);
  void multiply_by_shift(Instruction& i, std::uint64_t factor);
  /// The bits of a constant.
  std::optional<std::uint64_t> known(lower::Value v) const;
  void begin_loop(const lower::Op& op);
  void test(const lower::Op& op);
  void end_loop(const lower::Op& op);
  void otherwise(const lower::Op& op);
  void end_branch(const lower::Op& op);

  bool varying(lower::Value v) const { return v != lower::kNone && plan_.varying(v); }
  /// The unit of a value for vector u of the block.
  Unit vector_unit(lower::Value v, int u);
  int widest(lower::Type type) const;  // lanes of a vector
  Unit new_vectors(lower::Type type);
  void broadcast_if_needed(lower::Value v);
  MachineAddress vector_address(std::uint64_t number, int u);

  Unit load(lower::Type type, Unit area, std::int64_t offset, Unit index, std::int64_t stride,
            int lanes = 1);
  void store(Unit value, Unit area, std::int64_t offset, Unit index, std::int64_t stride);
  Unit s64(std::int64_t value) {
    return e_.constant(lower::Type::kS64, static_cast<std::uint64_t>(value));
  }
  Unit s64_op(lower::Opcode op, Unit a, std::int64_t b);
  void poll();

  struct OpenWhile {
    std::vector<Unit> active_before;  // for each vector, if lanes end at different trips
    std::vector<Unit> active_params;
    bool by_lane = false;
  };

  Expander& e_;
  const lower::Program& program_;
  const lower::Lanes& lanes_;
  std::size_t begin_, end_;
  LanePlan plan_;
  LaneStreams streams_;
  int unroll_ = 1;
  Unit first_lane_ = 0;       // of the block
  std::vector<Unit> active_;  // the mask of each vector, or 0
  // The mask of a last vector of which the number of lanes is known. Stores write them in pieces: a
  // load that follows would wait for a masked store whose excluded lanes it reads, as those of the
  // next row do.
  struct Tail {
    Unit mask = 0;
    int lanes = 0;
  } tail_;
  std::vector<OpenWhile> open_;
  std::vector<Partials> partials_;  // for each reduction
};

}  // namespace rondo::native_code
