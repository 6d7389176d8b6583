#include "base/held_bytes.h"

#include "base/memory.h"

namespace rondo {

void HeldBytes::literal(const Literal& literal) {
  shape(literal.shape());
  if (literal.bytes())
    shared(literal.bytes(), storage_bytes(static_cast<std::size_t>(literal.type().bytes())));
}

}  // namespace rondo
