// Decides how a lane loop is vectorized, or that it cannot be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/program.h"
#include "native/target.h"

namespace rondo::native_code {

/// Facts about the values of a program while its lane loops are expanded. They are shared by all
/// lane loops, so that each costs only what it touches.
struct LaneFacts {
  explicit LaneFacts(const lower::Program& program);
  std::vector<std::uint8_t> varying;       // one value per lane
  std::vector<std::uint8_t> broadcast;     // uniform, but read by ops on vectors
  std::vector<std::uint32_t> units;        // the first unit, or that of the broadcast
  std::vector<std::int64_t> buffer_bytes;  // for pointers to buffers
  std::vector<std::uint32_t> reads;        // of each value
};

class LanePlan {
 public:
  LanePlan(const lower::Program& program, LaneFacts& facts, std::size_t begin, std::size_t end,
           const Target& target);

  bool has_vectors() const { return lanes_ > 1; }
  int lanes() const { return lanes_; }    // of a vector
  int unroll() const { return unroll_; }  // number of vectors of a block
  /// All lanes are one block, whose last vector may need a mask or be single lanes, and which is
  /// combined in registers.
  bool one_block() const { return one_block_; }
  bool varying(lower::Value v) const { return facts_.varying[v] != 0; }
  /// Registers that inner loops leave free for constants; none without an inner loop.
  int spare_registers() const { return has_loops_ ? spare_registers_ : 0; }
  /// Whether a constant may be in a register just as well: known bounds of it make minima shorter.
  bool gains_by_register(lower::Value v) const;
  LaneFacts& facts() const { return facts_; }
  /// Uniform values that vectors read and that are defined before the loop.
  const std::vector<lower::Value>& broadcast_from_outside() const { return outside_; }
  void forget();

  /// A while whose predicate is the conjunction of a uniform value and one that differs by lane:
  /// these can be tested one after the other.
  struct SplitTest {
    lower::Value predicate, uniform, by_lane;
  };
  const SplitTest* split_test(lower::Value predicate) const;

  /// The s32 of which `v` is the s64, if only addresses use `v`: they take it as it is.
  lower::Value short_index(lower::Value v) const;

 private:
  void find_varying();
  bool pass();
  void find_short_indices();
  bool supported();
  bool supports(std::size_t at);
  bool supports_value(std::size_t at);
  bool supports_carries(const std::vector<lower::Carry>& carries);
  bool supports_load(const lower::Op& op);
  bool supports_store(std::size_t at);
  void need_vector(lower::Value v);
  bool check_address(std::uint64_t number, lower::Type type);
  bool stores_in_while(std::size_t at) const;
  int carried_values() const;
  int vectors_of_one_block(int lanes) const;
  int overlapping_vectors() const;

  const lower::Program& program_;
  const lower::Lanes& loop_;
  LaneFacts& facts_;
  std::size_t begin_, end_;
  const Target& target_;
  int lanes_ = 1, unroll_ = 1;
  bool wide_ = false, has_loops_ = false, one_block_ = false;
  int spare_registers_ = 0;
  std::vector<lower::Value> inside_, outside_, marked_, of_extrema_;
  std::vector<SplitTest> split_tests_;
  absl::flat_hash_map<lower::Value, lower::Value> short_indices_;
};

}  // namespace rondo::native_code
