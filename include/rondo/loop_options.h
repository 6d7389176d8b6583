// Options of the loops (rondo/loops.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rondo/checkpoint.h"
#include "rondo/dtype.h"

namespace rondo {

/// For `.unroll`: unrolls the loop completely.
inline constexpr std::int64_t kUnrollAll = -1;

/// Options of while_loop.
struct WhileOptions {
  /// A promise: more trips are an ExecutionError, and NaN in emitted text.
  std::optional<std::int64_t> max_trip_count = std::nullopt;
  Checkpoint checkpoint = {};
  std::string name = {};
};

/// Options of fori_loop.
struct ForiOptions {
  std::int64_t step = 1;    // positive
  std::int64_t unroll = 1;  // bodies per trip, or kUnrollAll
  bool reverse = false;     // the same indices, from the last to the first
  Checkpoint checkpoint = {};
  std::string name = {};
  /// The index's dtype, an integer one, to which the bounds are converted. Default: that of bounds
  /// that are tensors; for C++ integers, whatever their type, s32 if both fit, else s64.
  std::optional<DType> index = std::nullopt;
};

/// Options of scan.
struct ScanOptions {
  std::optional<std::int64_t> length = std::nullopt;  // needed without xs
  bool reverse = false;                               // from the end; ys[i] still belongs to xs[i]
  std::int64_t unroll = 1;                            // bodies per trip, or kUnrollAll
  std::int64_t axis = 0;                              // of xs and ys
  Checkpoint checkpoint = {};
  std::string name = {};
};

/// Options of map.
struct MapOptions {
  std::optional<std::int64_t> batch_size = std::nullopt;  // elements per trip, as lanes of a vmap
  std::string name = {};
};

/// Options of associative_scan: along which axis of the elems, and whether from its end, so that
/// element i combines elements i to the last.
struct AssociativeScanOptions {
  bool reverse = false;
  std::int64_t axis = 0;
};

/// Options of while_scan.
struct WhileScanOptions {
  std::int64_t max_trip_count = -1;  // the most trips, and the leading size of ys; required
  Checkpoint checkpoint = {};
  std::string name = {};
};

}  // namespace rondo
