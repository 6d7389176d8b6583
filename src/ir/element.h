// What a record says to executors that write loops: the code of one element, and from where in an
// operand, or to where in a result, elements go.
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

/// One element of a node's result, to be written.
struct ElementCall {
  const Node& node;
  lower::Builder& builder;
  /// The same element of each operand (operand 0 at the place that the record's index map gives).
  std::span<const lower::Element> operands;
  /// The element's index along an axis of the result, an s64.
  absl::FunctionRef<lower::Value(std::int64_t axis)> index;

  DType dtype(std::size_t i = 0) const { return node.operand_type(i).dtype; }
  lower::Value x(std::size_t i) const { return operands[i][0]; }
};

/// Where along one axis of an operand an element is read: start + step * index along `axis` of the
/// result, + the operand `dynamic`, an integer scalar, clamped to [0, room].
struct AxisRead {
  std::int64_t axis = -1;  // none: the same for all elements
  std::int64_t start = 0;
  std::int64_t step = 0;
  int dynamic = -1;  // none
  std::int64_t room = 0;
};
/// For each axis of operand 0.
using AccessMap = absl::InlinedVector<AxisRead, 4>;

/// An op on a tape, an array that grows by rows while the program runs. Its declared type is that
/// of one row; a row lies dense behind the one before it, and rows that were never written are
/// zeros. Operand 0 is the tape. A read has the number of the row, an integer scalar, as operand 1;
/// a write has the row as operand 1 and its number as operand 2, and its result is the tape with
/// that row.
struct TapeAccess {
  bool writes = false;
  std::string_view loop;  // whose tape it is, for errors
};

/// A part of a result that an operand gives: its elements first … first + count - 1 along each axis
/// go to start, start + step, … of the result (+ the clamped operand `dynamic`).
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
/// A result that is put together: what is there before, then parts, in order.
struct InsertionMap {
  int kept = -1;  // the operand that has the rest; updated in place where it may be
  int fill = -1;  // or a scalar operand that the rest is filled with; neither: the parts are all
  std::vector<Part> parts;
};

/// A reduction that loops can do: axes of operand 0 are combined, starting from operand 1.
struct ElementReduction {
  lower::Opcode combine;
  std::vector<std::int64_t> axes;  // sorted
  lower::Type type;                // that it is computed in
  /// Rows along the innermost axis go by partial results (lower::Lanes::Reduction); else the
  /// elements of a result are combined in row-major order.
  bool by_partials = true;
};

/// Running totals that loops can do: along `axis` each element of the result combines the elements
/// of operand 0 up to its own, one after the other.
struct ElementRunning {
  lower::Opcode combine;
  std::int64_t axis;
  bool reverse;      // from the last element on
  lower::Type type;  // that they are combined in
};

/// A result each element of which is read from operand 0 at a place that operand 1 names.
struct ElementGather {
  AccessMap table;  // where in operand 0, but for what the indices add
  AccessMap
      indices;  // where in operand 1; `axis` is the result's rank along the indices' components
  /// Component i is added along `axis` of operand 0, clamped to [0, room].
  struct Component {
    std::int64_t axis, room;
  };
  absl::InlinedVector<Component, 2> components;
};

/// In the place of an axis: an index that counts branches, or indices along more than one axis.
inline constexpr std::int64_t kBranches = -1, kSeveralAxes = -2;

/// Indices in an operand, and the places that they may name.
struct IndexRange {
  std::string_view op;  // in the user's words
  std::size_t operand = 0;
  /// Along this axis of the operand the components of an index vector are placed, of which this
  /// describes one; -1: each element is a separate index.
  std::int64_t vector_dim = -1, component = 0;
  std::int64_t axis = 0;  // that the index counts along; kBranches, kSeveralAxes
  std::int64_t size = 0;  // of the axis, or the number of branches
  std::int64_t room = 0;  // the last place, where a part that lies there still fits
  int room_operand = -1;  // or the operand that has the last place of each index
  bool drops = false;     // what is out of range is left out; else the index is clamped
};

/// Elements of a result that are sums of products: of each term an element of operand 0 times one
/// of operand 1, in row-major order of the axes that vanish.
struct ElementProducts {
  lower::Type type;                            // that they are multiplied and added up in
  absl::InlinedVector<std::int64_t, 2> sizes;  // of the axes that vanish
  /// Whether the kernel adds up in this order, and not in partial sums.
  bool as_kernel = true;
  /// Where each factor is read: `axis` counts the axes of the result, then those that vanish.
  AccessMap factors[2];
};

}  // namespace rondo::ir
