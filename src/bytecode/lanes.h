// Analysis of the values inside lanes, before they get registers.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "lower/program.h"

namespace rondo::bytecode {

/// For each op that begins a construct, the position of its end.
std::vector<std::size_t> lower_ends(const lower::Program& program);

class LaneValues {
 public:
  LaneValues() = default;
  /// For the lanes whose ops are between `begin` and `end`.
  LaneValues(const lower::Program& program, std::size_t begin, std::size_t end,
             const std::vector<std::size_t>& ends);

  /// Whether it has one value per lane. Other values are computed once per block.
  bool varies(lower::Value value) const { return varying_.contains(value); }
  /// Whether it is the same for all lanes, and read by an op that takes one value per lane.
  bool must_spread(lower::Value value) const { return spread_.contains(value); }
  /// Those of them that come from outside, in the order of their numbers.
  const std::vector<lower::Value>& spread_at_entry() const { return at_entry_; }
  bool reads_index() const { return reads_index_; }
  /// The last position at which the block of a value is needed.
  std::size_t last_use(lower::Value value) const {
    const auto found = last_.find(value);
    return found == last_.end() ? 0 : found->second;
  }

 private:
  void read(lower::Value value, std::size_t at);
  void define(lower::Value value, std::size_t at, bool varying);

  absl::flat_hash_set<lower::Value> varying_;
  absl::flat_hash_set<lower::Value> spread_;
  std::vector<lower::Value> at_entry_;
  bool reads_index_ = false;
  absl::flat_hash_map<lower::Value, std::size_t> last_;
  // During the analysis.
  absl::flat_hash_map<lower::Value, std::size_t> defined_;
  std::vector<std::pair<std::size_t, std::size_t>> loops_;  // the open ones: begin, end
  lower::Value index_ = lower::kNone;
  std::size_t begin_ = 0;
};

}  // namespace rondo::bytecode
