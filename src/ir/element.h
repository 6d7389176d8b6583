// How a record describes an op to executors that generate loops: the scalar code of one element,
// and the maps by which elements are read from operands or written to results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ir/node.h"
#include "lower/builder.h"

namespace rondo::ir {

/// Computes one element of a node's result.
struct ElementCall {
  const Node& node;
  lower::Builder& builder;
  /// The same element of each operand (of operand 0, the one that the record's access map gives).
  std::span<const lower::Element> operands;
  /// The element's index along an axis of the result, an s64.
  absl::FunctionRef<lower::Value(std::int64_t axis)> index;

  DType dtype(std::size_t i = 0) const { return node.operand_type(i).dtype; }
  lower::Value x(std::size_t i) const { return operands[i][0]; }
};

/// The position along one axis of an operand at which an element is read: start + step * index
/// along `axis` of the result, plus the operand `dynamic`, an integer scalar, clamped to [0, room].
struct AxisRead {
  std::int64_t axis = -1;  // none: the same for all elements
  std::int64_t start = 0;
  std::int64_t step = 0;
  int dynamic = -1;  // none
  std::int64_t room = 0;
};
/// An entry for each axis of operand 0.
using AccessMap = absl::InlinedVector<AxisRead, 4>;

/// An op on a tape, an array that grows by rows while the program runs. Its declared type is that
/// of one row. Rows are contiguous, and rows that were never written are zeros. Operand 0 is the
/// tape. A read has the row number, an integer scalar, as operand 1; a write has the row as operand
/// 1 and its number as operand 2, and its result is the tape with that row.
struct TapeAccess {
  bool writes = false;
  std::string_view loop;  // the loop that owns it, for errors
};

/// A slice of the result that an operand gives: its elements first … first + count - 1 along each
/// axis go to start, start + step, … of the result (plus the clamped operand `dynamic`).
struct AxisWrite {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t start = 0;
  std::int64_t step = 1;
  int dynamic = -1;
  std::int64_t room = 0;
};
struct Part {
  int operand = 0;
  absl::InlinedVector<AxisWrite, 4> axes;
};
/// A result assembled by insertion: a destination, then slices, in order.
struct InsertionMap {
  int kept = -1;  // the destination operand; updated in place if possible
  int fill = -1;  // or a scalar operand that fills the rest; neither: the slices cover it
  std::vector<Part> parts;
};

/// A reduction that loops can compute: axes of operand 0 are combined, starting from operand 1.
struct ElementReduction {
  lower::Opcode combine;
  std::vector<std::int64_t> axes;  // sorted
  lower::Type type;                // in which it is computed
  /// Rows along the innermost axis use partial results (lower::Lanes::Reduction); else the elements
  /// of a result are combined in row-major order.
  bool by_partials = true;
};

/// A prefix scan that loops can compute: along `axis`, each element of the result combines the
/// elements of operand 0 up to its own, in sequence.
struct ElementRunning {
  lower::Opcode combine;
  std::int64_t axis;
  bool reverse;      // from the last element on
  lower::Type type;  // in which they are combined
};

/// A result whose elements are read from operand 0 at positions that operand 1 gives.
struct ElementGather {
  AccessMap table;  // position in operand 0, without what the indices add
  AccessMap
      indices;  // position in operand 1; `axis` is the result's rank along the indices' components
  /// Component i is added along `axis` of operand 0, clamped to [0, room].
  struct Component {
    std::int64_t axis, room;
  };
  absl::InlinedVector<Component, 2> components;
};

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

/// Elements of a result that are sums of products: each term is an element of operand 0 times one
/// of operand 1, in row-major order of the contracted axes.
struct ElementProducts {
  lower::Type type;                            // in which they are multiplied and added
  absl::InlinedVector<std::int64_t, 2> sizes;  // of the contracted axes
  /// Whether the kernel adds in this order, rather than in partial sums.
  bool as_kernel = true;
  /// Where each factor is read: `axis` counts the axes of the result, then the contracted ones.
  AccessMap factors[2];
};

}  // namespace rondo::ir
