#include "ir/field_text.h"

#include <algorithm>

#include "base/escape.h"
#include "base/number_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "rondo/error.h"

namespace rondo::ir {

namespace {

template <class T>
void integer_of_kind(FieldText& text, T& value) {
  std::int64_t number = static_cast<std::int64_t>(value);
  text.integer(number);
  if (!text.reads()) return;
  if (!std::in_range<T>(number)) text.fail(fmt::format("{} does not fit here", number));
  value = static_cast<T>(number);
}

}  // namespace

void field_value(FieldText& text, std::int64_t& value) { text.integer(value); }
void field_value(FieldText& text, std::size_t& value) { integer_of_kind(text, value); }
void field_value(FieldText& text, int& value) { integer_of_kind(text, value); }
void field_value(FieldText& text, bool& value) {
  const bool is_true = text.piece_if(value, "true");
  if (!is_true) text.piece("false");
  if (text.reads()) value = is_true;
}
void field_value(FieldText& text, float& value) {
  double number = value;
  text.real(number);
  if (text.reads()) value = static_cast<float>(number);
}
void field_value(FieldText& text, double& value) { text.real(value); }
void field_value(FieldText& text, std::string& value) { text.text(value); }
void field_value(FieldText& text, DType& value) { text.dtype(value); }
void field_value(FieldText& text, Shape& value) { text.shape(value); }
void field_value(FieldText& text, TensorType& value) { text.type(value); }

void field_choice(FieldText& text, std::span<const std::string_view> words, std::size_t& choice) {
  std::string_view word = text.reads() ? std::string_view() : words[choice];
  text.word(word);
  if (!text.reads()) return;
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) text.fail(fmt::format("expected one of {}", fmt::join(words, ", ")));
  choice = static_cast<std::size_t>(found - words.begin());
}

FieldList::FieldList(FieldText& text, std::string_view before) : text_(text), before_(before) {
  if (!text_.reads()) return;
  any_ = !text_.piece_if(false, "}");
  if (!any_) return;
  text_.word(next_);
  text_.piece("=");
}

void FieldList::begin(std::string_view name) {
  any_ = true;
  text_.piece(std::exchange(before_, ", "));
  text_.piece(name);
  text_.piece("=");
}

void FieldList::advance() {
  next_ = {};
  if (!text_.piece_if(false, ",")) return;
  text_.word(next_);
  text_.piece("=");
}

void FieldList::choice(std::string_view name, std::span<const std::string_view> words,
                       std::size_t& number) {
  if (text_.reads() && name != next_) missing(name);
  if (!text_.reads()) begin(name);
  field_choice(text_, words, number);
  if (text_.reads()) advance();
}

void FieldList::missing(std::string_view name) {
  text_.fail("the attribute `" + std::string(name) +
             "` is missing before this\n  Give the attributes in the order in which they print.");
}

void FieldList::end() {
  if (!next_.empty())
    text_.fail("there is no attribute `" + std::string(next_) + "` here\n  Leave it out.");
  if (!text_.reads() || any_) text_.piece("}");
}

void FieldPrinter::integer(std::int64_t& value) { append_number(out_, value); }
void FieldPrinter::real(double& value) { append_number(out_, value); }
void FieldPrinter::text(std::string& value) {
  out_ += '"';
  append_escaped(out_, value);
  out_ += '"';
}
void FieldPrinter::shape(Shape& value) { out_ += value.str(); }
void FieldPrinter::type(TensorType& value) { out_ += value.str(); }
void FieldPrinter::fail(const std::string& message) { throw InternalError(message); }

}  // namespace rondo::ir
