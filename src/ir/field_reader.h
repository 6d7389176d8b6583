// Reading attributes from the IR's own text: the reverse of how their fields print
// (ir/attributes.h), by the same reflection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/attributes.h"

namespace rondo::ir {

/// A position in a text. Its functions throw ParseError there for anything else than they name.
class FieldReader {
 public:
  virtual ~FieldReader() = default;
  /// Goes past `piece` if the text goes on with it.
  virtual bool accept(std::string_view piece) = 0;
  virtual void expect(std::string_view piece) = 0;
  virtual std::int64_t integer() = 0;
  virtual double real() = 0;
  /// Letters, digits and underscores.
  virtual std::string_view word() = 0;
  virtual std::string text() = 0;  // in quotes
  virtual DType dtype() = 0;
  virtual Shape shape() = 0;
  virtual TensorType type() = 0;
  [[noreturn]] virtual void fail(const std::string& message) = 0;
};

// How the kinds of fields are read. Overloads for further field types are declared beside those
// types, as for printing.
void read_field(FieldReader& reader, std::int64_t& value);
void read_field(FieldReader& reader, std::size_t& value);
void read_field(FieldReader& reader, int& value);
void read_field(FieldReader& reader, bool& value);
void read_field(FieldReader& reader, float& value);
void read_field(FieldReader& reader, double& value);
void read_field(FieldReader& reader, std::string& value);
void read_field(FieldReader& reader, DType& value);
void read_field(FieldReader& reader, Shape& value);
void read_field(FieldReader& reader, TensorType& value);
template <class A, class B>
void read_field(FieldReader& reader, std::pair<A, B>& value);
template <class T>
void read_field(FieldReader& reader, std::optional<T>& value);
template <class T>
requires std::is_aggregate_v<T>
void read_field(FieldReader& reader, T& object);

template <class T>
void read_field(FieldReader& reader, std::vector<T>& values) {
  reader.expect("[");
  values.clear();
  if (reader.accept("]")) return;
  do {
    read_field(reader, values.emplace_back());
  } while (reader.accept(","));
  reader.expect("]");
}
template <class A, class B>
void read_field(FieldReader& reader, std::pair<A, B>& value) {
  read_field(reader, value.first);
  reader.expect(":");
  read_field(reader, value.second);
}
template <class T>
void read_field(FieldReader& reader, std::optional<T>& value) {
  read_field(reader, value.emplace());
}

/// One of the enumerators up to `last`, by the word that it prints as.
template <class T>
void read_choice(FieldReader& reader, T& value, T last) {
  const std::string_view word = reader.word();
  std::string known;
  for (int i = 0; i <= static_cast<int>(last); i++) {
    std::string choice;
    print_field(choice, static_cast<T>(i));
    if (choice == word) {
      value = static_cast<T>(i);
      return;
    }
    known += (i > 0 ? ", " : "") + choice;
  }
  reader.fail("expected one of " + known);
}

/// The fields up to `}`, in their order. Those that have the usual value may be left out.
template <class T>
void read_fields(FieldReader& reader, T& object) {
  std::string_view next;  // the field that the text has next; empty: none
  const auto advance = [&] {
    next = reader.word();
    reader.expect("=");
  };
  const bool any = !reader.accept("}");
  if (any) advance();
  const auto read = [&](std::string_view name, auto& value) {
    using Field = std::remove_reference_t<decltype(value)>;
    if (name == next) {
      read_field(reader, value);
      next = {};
      if (reader.accept(",")) advance();
      return;
    }
    value = Field();
    if constexpr (std::is_same_v<Field, std::int64_t>) value = 1;  // trips at a time
    if (is_usual(name, value)) return;
    reader.fail(
        "the attribute `" + std::string(name) +
        "` is missing before this\n  Give the attributes in the order in which they print.");
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto fields = fields_of(object);
    (read(field_name<T, I>(), std::get<I>(fields)), ...);
  }
  (std::make_index_sequence<field_count<T>()>());
  if (!next.empty())
    reader.fail("there is no attribute `" + std::string(next) + "` here\n  Leave it out.");
  if (any) reader.expect("}");
}
template <class T>
requires std::is_aggregate_v<T>
void read_field(FieldReader& reader, T& object) {
  reader.expect("{");
  read_fields(reader, object);
}

/// The attributes of a node.
template <class T>
Attributes read_attributes(FieldReader& reader) {
  if constexpr (std::is_same_v<T, NoAttributes>) {
    return NoAttributes();
  } else {
    T attributes{};
    read_fields(reader, attributes);
    return attributes;
  }
}

}  // namespace rondo::ir
