#include "ir/field_reader.h"

#include <limits>

#include "fmt/format.h"

namespace rondo::ir {

namespace {

template <class T>
T integer_as(FieldReader& reader) {
  const std::int64_t value = reader.integer();
  if (!std::in_range<T>(value)) reader.fail(fmt::format("{} does not fit here", value));
  return static_cast<T>(value);
}

}  // namespace

void read_field(FieldReader& reader, std::int64_t& value) { value = reader.integer(); }
void read_field(FieldReader& reader, std::size_t& value) {
  value = integer_as<std::size_t>(reader);
}
void read_field(FieldReader& reader, int& value) { value = integer_as<int>(reader); }
void read_field(FieldReader& reader, bool& value) {
  value = reader.accept("true");
  if (!value) reader.expect("false");
}
void read_field(FieldReader& reader, float& value) { value = static_cast<float>(reader.real()); }
void read_field(FieldReader& reader, double& value) { value = reader.real(); }
void read_field(FieldReader& reader, std::string& value) { value = reader.text(); }
void read_field(FieldReader& reader, DType& value) { value = reader.dtype(); }
void read_field(FieldReader& reader, Shape& value) { value = reader.shape(); }
void read_field(FieldReader& reader, TensorType& value) { value = reader.type(); }

}  // namespace rondo::ir
