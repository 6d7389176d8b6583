// The indices that an op takes at run time, and their valid range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rondo::ir {

/// In place of an axis: an index that counts branches, or indices along more than one axis.
inline constexpr std::int64_t kBranches = -1, kSeveralAxes = -2;

/// Indices in an operand, and their valid range.
struct IndexRange {
  std::string_view op;  // as the user wrote it
  std::size_t operand = 0;
  /// The axis of the operand along which an index vector has its components, of which this
  /// describes one; -1: each element is a separate index.
  std::int64_t vector_dim = -1, component = 0;
  std::int64_t axis = 0;  // along which the index counts; kBranches, kSeveralAxes
  std::int64_t size = 0;  // of the axis, or the number of branches
  std::int64_t room = 0;  // the last position at which a slice still fits
  int room_operand = -1;  // or the operand that holds the last position of each index
  bool drops = false;     // an index out of range drops the element; else it is clamped
};

}  // namespace rondo::ir
