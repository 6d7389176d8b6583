#include "ir/attributes.h"

#include "rondo/error.h"

namespace rondo::ir {

void Attributes::wrong_type() {
  throw InternalError("a node was asked for attributes of another op");
}

std::size_t hash_field(const Shape& value) {
  return absl::HashOf(std::vector<std::int64_t>(value.begin(), value.end()));
}
std::size_t hash_field(const Literal& value) {
  // All of it: the first bytes of thousands of constants may be equal.
  const std::string_view bytes(reinterpret_cast<const char*>(value.bytes()),
                               value.bytes() ? static_cast<std::size_t>(value.type().bytes()) : 0);
  return absl::HashOf(value.dtype(), hash_field(value.shape()), bytes);
}

}  // namespace rondo::ir
