#include "rondo/shape.h"

#include <algorithm>
#include <limits>
#include <new>

#include "rondo/error.h"

namespace rondo {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;

std::string dims_text(std::span<const std::int64_t> dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(dims[i]);
  }
  return text += ']';
}

/// The product of the dimensions. Exact: a 0 among them makes up for any others. Throws TraceError.
std::int64_t checked_elements(std::span<const std::int64_t> dims) {
  if (dims.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw TraceError("a shape of " + std::to_string(dims.size()) +
                     " dimensions; 2^32 - 1 are possible\n  Give fewer.");
  }
  bool empty = false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] < 0) {
      throw TraceError("shape " + dims_text(dims) + ": dimension " + std::to_string(axis) +
                       " is negative\n  Give sizes of 0 or more.");
    }
    empty |= dims[axis] == 0;
  }
  if (empty) return 0;
  std::int64_t elements = 1;
  for (const std::int64_t dim : dims) {
    if (__builtin_mul_overflow(elements, dim, &elements) || elements > kMaxElements) {
      throw TraceError("shape " + dims_text(dims) +
                       " has more than 2^62 elements\n  Give smaller sizes.");
    }
  }
  return elements;
}

}  // namespace

Shape::Shape(std::span<const std::int64_t> dims) {
  if (dims.empty()) return;
  const std::int64_t elements = checked_elements(dims);
  void* memory = ::operator new(sizeof(Block) + dims.size_bytes());
  block_ = new (memory) Block{1, static_cast<std::uint32_t>(dims.size()), elements};
  std::copy(dims.begin(), dims.end(), block_->dims());
}

void Shape::destroy(Block* block) noexcept {
  block->~Block();
  ::operator delete(block);
}

bool Shape::equal(const Shape& a, const Shape& b) noexcept {
  if (!a.block_ || !b.block_) return false;  // only rank 0 has none
  if (a.block_->rank != b.block_->rank || a.block_->elements != b.block_->elements) return false;
  for (std::uint32_t axis = 0; axis < a.block_->rank; axis++) {
    if (a.block_->dims()[axis] != b.block_->dims()[axis]) return false;
  }
  return true;
}

std::string Shape::str() const { return dims_text(dims()); }

}  // namespace rondo
