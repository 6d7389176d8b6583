// Programs that run as several processes at once, replicas and partitions, which exchange values by
// collectives: one program for all of them, whose lanes are the processes.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "text/read_operation.h"

namespace rondo::text {

/// The name of the axis whose lanes are processes: a program with collectives can be read within a
/// vmap that has it as axis_name.
inline constexpr std::string_view kProcessAxis = "processes";

inline constexpr std::int64_t kMostProcesses = 1024;

/// The processes that run an operation. Process `replica * partitions + partition` is that lane of
/// the vmap around with the name kProcessAxis; without one there is one process, `only`.
struct Processes {
  std::int64_t replicas = 1, partitions = 1;
  std::int64_t only = 0;
  /// Whether each process runs a program of its own, one after the other, so that they can only
  /// send and receive.
  bool in_turn = false;
  absl::flat_hash_map<std::int64_t, std::deque<Tensor>> channels = {};
  std::deque<std::vector<Tensor>> infeed = {};

  std::int64_t count() const { return replicas * partitions; }
};

}  // namespace rondo::text
