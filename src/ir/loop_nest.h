// The loops that compute a node: which elements of an operand are read, which element of the result
// is written, how elements are combined. The record of an op gives it (OpStructure::loops), so that
// executors, and analyses of how a result depends on its operands, handle a loop nest and no
// specific op.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/node.h"
#include "lower/program.h"

namespace rondo::ir {

/// The position along one axis of an operand at which an element is read: start + step * index
/// along `axis` of the result, plus the operand `dynamic`, an integer scalar, clamped to [0, room].
struct AxisRead {
  std::int64_t axis = -1;  // none: the same for all elements
  std::int64_t start = 0;
  std::int64_t step = 0;
  int dynamic = -1;  // none
  std::int64_t room = 0;
  /// Whether the position depends on `dynamic`.
  bool moves() const { return dynamic >= 0 && room != 0; }
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
  bool moves() const { return dynamic >= 0 && room != 0; }
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

/// The result is a bitcast of operand 0, to another type.
struct SameBytes {};

/// Axes of operand 0 are combined, starting from operand 1.
struct Reduction {
  lower::Opcode combine;
  std::vector<std::int64_t> axes;  // sorted
  lower::Type type;                // dtype of the computation
  /// Rows along the innermost axis use partial results (lower::Lanes::Reduction); else the elements
  /// are combined into each result in row-major order.
  bool by_partials = true;
};

/// Axes of the operands are combined by region 0, of scalars. It computes the next totals from the
/// totals so far and an element of each operand, in row-major order; the last operands are the
/// first totals.
struct CustomReduction {
  std::vector<std::int64_t> axes;
};

/// Along `axis`, each element of the result combines the
/// elements of operand 0 up to its own, in sequence.
struct PrefixScan {
  lower::Opcode combine;
  std::int64_t axis;
  bool reverse;      // from the last element on
  lower::Type type;  // dtype in which they are combined
};

/// Elements of the result are read from operand 0 at positions that operand 1 gives.
struct Gather {
  AccessMap table;  // position in operand 0, without what the indices add
  AccessMap
      indices;  // position in operand 1; `axis` is the result's rank along the indices' components
  /// Component i is added along `axis` of operand 0, clamped to [0, room].
  struct Component {
    std::int64_t axis, room;
  };
  absl::InlinedVector<Component, 2> components;
};

/// Elements of operand 2 are combined by region 0 with those of operand 0 at positions that operand
/// 1 gives, one update after the other. Updates that do not fit are dropped.
struct Scatter {
  Gather places;  // with operand 2 in place of the result
};

/// Elements of the result are sums of products: each term is an element of operand 0 times one
/// of operand 1, in row-major order of the contracted axes.
struct Contraction {
  lower::Type type;                            // dtype in which they are multiplied and added
  absl::InlinedVector<std::int64_t, 2> sizes;  // of the contracted axes
  /// Whether the kernel adds in this order, rather than in partial sums.
  bool as_kernel = true;
  /// Where each factor is read: `axis` counts the axes of the result, then the contracted ones.
  AccessMap factors[2];
};

/// Holds std::monostate if only the kernel computes the node, in the kernel's order.
struct LoopNest : std::variant<std::monostate, SameBytes, AccessMap, InsertionMap, Gather, Scatter,
                               Reduction, CustomReduction, PrefixScan, Contraction, TapeAccess> {
  using variant::variant;
};

LoopNest loop_nest(const Node& node);

/// The sums of products that a node is, also those that only a kernel computes elsewhere.
std::optional<Contraction> contraction(const Node& node);

/// The loops of a node if they are of this kind.
template <class Loops>
std::optional<Loops> loops_as(const Node& node) {
  LoopNest nest = loop_nest(node);
  Loops* loops = std::get_if<Loops>(&nest);
  return loops ? std::optional<Loops>(std::move(*loops)) : std::nullopt;
}
template <class Loops>
bool has_loops(const Node& node) {
  return std::holds_alternative<Loops>(loop_nest(node));
}

}  // namespace rondo::ir
