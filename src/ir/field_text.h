// Fields of attributes in the IR's own text, `axis=0, name="solve"`. One function for each kind of
// field writes it and reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/reflect.h"
#include "rondo/type.h"

namespace rondo::ir {

/// A text to which values are appended, or a position in one from which they are read. Reading
/// throws ParseError if the text has something else; writing changes no value.
class FieldText {
 public:
  virtual ~FieldText() = default;
  virtual bool reads() const noexcept = 0;
  /// A bracket, a comma or a name.
  virtual void piece(std::string_view piece) = 0;
  /// Writes the piece if it is `there`; reads it if the text has it. Returns whether it is there.
  virtual bool piece_if(bool there, std::string_view piece) = 0;
  virtual void integer(std::int64_t& value) = 0;
  virtual void real(double& value) = 0;
  /// Letters, digits and underscores.
  virtual void word(std::string_view& value) = 0;
  virtual void text(std::string& value) = 0;  // in quotes
  virtual void dtype(DType& value) = 0;
  virtual void shape(Shape& value) = 0;
  virtual void type(TensorType& value) = 0;
  [[noreturn]] virtual void fail(const std::string& message) = 0;
};

// The kinds of fields. Overloads for further types are declared beside those types and found by
// argument-dependent lookup.
void field_value(FieldText& text, std::int64_t& value);
void field_value(FieldText& text, std::size_t& value);
void field_value(FieldText& text, int& value);
void field_value(FieldText& text, bool& value);
void field_value(FieldText& text, float& value);
void field_value(FieldText& text, double& value);
void field_value(FieldText& text, std::string& value);
void field_value(FieldText& text, DType& value);
void field_value(FieldText& text, Shape& value);
void field_value(FieldText& text, TensorType& value);
/// One of these words, by its number.
void field_choice(FieldText& text, std::span<const std::string_view> words, std::size_t& choice);
template <class T>
void field_value(FieldText& text, std::vector<T>& values);
template <class A, class B>
void field_value(FieldText& text, std::pair<A, B>& value);
template <class T>
void field_value(FieldText& text, std::optional<T>& value);
/// An enumeration, whose enumerators field_words(T) names in their order.
template <class T>
requires std::is_enum_v<T>
void field_value(FieldText& text, T& value) {
  std::size_t choice = static_cast<std::size_t>(value);
  field_choice(text, field_words(value), choice);
  if (text.reads()) value = static_cast<T>(choice);
}
template <class T>
requires std::is_aggregate_v<T>
void field_value(FieldText& text, T& object);

/// The elements of a list up to `end`, which has this comma between them.
template <class T>
void field_items(FieldText& text, std::vector<T>& values, std::string_view comma,
                 std::string_view end) {
  if (!text.reads()) {
    for (std::size_t i = 0; i < values.size(); i++) {
      if (i > 0) text.piece(comma);
      field_value(text, values[i]);
    }
    return text.piece(end);
  }
  values.clear();
  if (text.piece_if(false, end)) return;
  do {
    field_value(text, values.emplace_back());
  } while (text.piece_if(false, ","));
  text.piece(end);
}
template <class T>
void field_value(FieldText& text, std::vector<T>& values) {
  text.piece("[");
  field_items(text, values, ",", "]");
}
template <class A, class B>
void field_value(FieldText& text, std::pair<A, B>& value) {
  field_value(text, value.first);
  text.piece(":");
  field_value(text, value.second);
}
template <class T>
void field_value(FieldText& text, std::optional<T>& value) {
  field_value(text, text.reads() ? value.emplace() : *value);
}

/// Whether a field has the value that is not written: false, none, empty text, the defaults of an
/// aggregate, and one trip at a time.
template <class T>
bool is_usual(std::string_view name, const T& value) {
  constexpr bool kAggregate = std::is_aggregate_v<T> && !std::is_same_v<T, TensorType>;
  if constexpr (kAggregate || std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
    return value == T();
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return name == "unroll" && value == 1;
  } else {
    return false;
  }
}

/// Fields by name, in their order, up to `}`.
class FieldList {
 public:
  /// Reading starts here; when writing, `before` comes before the first field.
  explicit FieldList(FieldText& text, std::string_view before = {});

  FieldText& text() const noexcept { return text_; }
  template <class T>
  void field(std::string_view name, T& value) {
    if (!text_.reads()) {
      if (is_usual(name, value)) return;
      begin(name);
      return field_value(text_, value);
    }
    if (name == next_) {
      field_value(text_, value);
      return advance();
    }
    value = T();
    if constexpr (std::is_same_v<T, std::int64_t>) value = 1;  // trips at a time
    if (!is_usual(name, value)) missing(name);
  }
  void choice(std::string_view name, std::span<const std::string_view> words, std::size_t& number);
  /// The brace that ends the list. If nothing was written that is not necessary: see `any`.
  void end();
  /// Whether a field was written.
  bool any() const noexcept { return any_; }

 private:
  void begin(std::string_view name);
  void advance();
  void missing(std::string_view name);

  FieldText& text_;
  std::string_view before_;  // the next field that is written
  std::string_view next_;    // the field that the text has next; empty: none
  bool any_ = false;
};

/// All fields of a struct, by the names of its members.
template <class T>
void describe_fields(FieldList& list, T& object) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    auto fields = fields_of(object);
    (list.field(field_name<T, I>(), std::get<I>(fields)), ...);
  }
  (std::make_index_sequence<field_count<T>()>());
}
/// `{first=1, bodies=2}`
template <class T>
requires std::is_aggregate_v<T>
void field_value(FieldText& text, T& object) {
  text.piece("{");
  FieldList list(text);
  describe_fields(list, object);
  list.end();
}

/// Appends what it is given.
class FieldPrinter final : public FieldText {
 public:
  explicit FieldPrinter(std::string& out) noexcept : out_(out) {}
  bool reads() const noexcept override { return false; }
  void piece(std::string_view piece) override { out_ += piece; }
  bool piece_if(bool there, std::string_view piece) override {
    if (there) out_ += piece;
    return there;
  }
  void integer(std::int64_t& value) override;
  void real(double& value) override;
  void word(std::string_view& value) override { out_ += value; }
  void text(std::string& value) override;
  void dtype(DType& value) override { out_ += dtype_name(value); }
  void shape(Shape& value) override;
  void type(TensorType& value) override;
  [[noreturn]] void fail(const std::string& message) override;

 private:
  std::string& out_;
};

template <class T>
void append_field(std::string& out, const T& value) {
  FieldPrinter printer(out);
  field_value(printer, const_cast<T&>(value));  // which writing does not change
}

}  // namespace rondo::ir
