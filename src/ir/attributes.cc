#include "ir/attributes.h"

#include "base/escape.h"
#include "base/number_text.h"
#include "fmt/format.h"
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

void print_field(std::string& out, std::int64_t value) { out += fmt::format("{}", value); }
void print_field(std::string& out, int value) {
  print_field(out, static_cast<std::int64_t>(value));
}
void print_field(std::string& out, std::size_t value) { out += fmt::format("{}", value); }
void print_field(std::string& out, bool value) { out += value ? "true" : "false"; }
void print_field(std::string& out, double value) { append_number(out, value); }
void print_field(std::string& out, std::string_view value) {
  out += '"';
  append_escaped(out, value);
  out += '"';
}
void print_field(std::string& out, DType value) { out += dtype_name(value); }
void print_field(std::string& out, const Shape& value) { out += value.str(); }
void print_field(std::string& out, const TensorType& value) { out += value.str(); }
void print_field(std::string& out, const Literal& value) { out += value.str(); }

}  // namespace rondo::ir
