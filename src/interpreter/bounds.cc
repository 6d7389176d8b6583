#include "interpreter/bounds.h"

#include <cstdint>
#include <string>

#include "fmt/format.h"
#include "ir/index_range.h"
#include "ops/dynamic_slice.h"

namespace rondo::interpreter {

namespace {

using ir::IndexRange;

/// Calls visit(element) for the indices of the range; consecutive ones are one step of the
/// components' axis apart.
template <class Visit>
void for_each_index(const IndexRange& range, const Shape& indices, Visit&& visit) {
  std::int64_t stride = 1, components = 1;
  if (range.vector_dim >= 0) {
    components = indices[range.vector_dim];
    for (std::int64_t axis = range.vector_dim + 1; axis < indices.rank(); axis++)
      stride *= indices[axis];
  }
  for (std::int64_t i = 0; i < indices.elements(); i++) {
    if (i / stride % components == range.component) visit(i);
  }
}

std::string index_text(const Literal& indices, std::int64_t element) {
  if (indices.dtype() == DType::kU64)
    return fmt::format("{}", indices.data<std::uint64_t>()[static_cast<std::size_t>(element)]);
  return fmt::format("{}", ops::index_at(indices, element));
}

[[noreturn]] void fail(const ir::Node& node, const IndexRange& range, const Literal& indices,
                       std::int64_t element, std::int64_t room) {
  std::string text =
      fmt::format("check_bounds: {}: index {}", range.op, index_text(indices, element));
  if (indices.type().rank() > 0)
    text += fmt::format(" (element {} of the indices {})", element, indices.type().str());
  if (range.axis == ir::kBranches) {
    text += fmt::format(" of {} branches is out of range: 0 to {}", range.size, room);
  } else if (range.axis == ir::kSeveralAxes) {
    text += fmt::format(" is out of range: 0 to {}", room);
  } else {
    text += fmt::format(" along axis {} of size {} is out of range: 0 to {}", range.axis,
                        range.size, room);
    if (const std::int64_t part = range.size - room; part > 1)
      text += fmt::format(", where {} elements fit", part);
  }
  throw ExecutionError(
      fmt::format("{}\n  at {}\n  {}. Compute the index anew, choose with rondo::where before "
                  "the op, or leave check_bounds out.",
                  text, node.location().str(),
                  range.drops ? "What it updates would be left out" : "It would be clamped"),
      node.location());
}

}  // namespace

void check_indices(const ir::Node& node, std::span<Literal* const> operands) {
  if (!node.op->structure.indices) return;
  for (const IndexRange& range : node.op->structure.indices(node)) {
    const Literal& indices = *operands[range.operand];
    for_each_index(range, indices.type().shape, [&](std::int64_t i) {
      const std::int64_t index = ops::index_at(indices, i);
      const std::int64_t room =
          range.room_operand < 0
              ? range.room
              : ops::index_at(*operands[static_cast<std::size_t>(range.room_operand)], i);
      if (index >= 0 && index <= room) return;
      const bool on_purpose = range.drops && is_signed_integer(indices.dtype()) &&
                              index == ops::no_place(indices.dtype());
      if (!on_purpose) fail(node, range, indices, i, room);
    });
  }
}

}  // namespace rondo::interpreter
