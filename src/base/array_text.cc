#include "base/array_text.h"

#include <span>
#include <type_traits>
#include <vector>

#include "base/for_dtype.h"
#include "fmt/format.h"
#include "rondo/fmt.h"

namespace rondo {
namespace {

constexpr std::int64_t kShownAtEachEnd = 3;
constexpr std::int64_t kMostShown = 1000;

/// Counts through the axes like an odometer, so the rank costs no stack.
template <class T>
class ElementsWriter {
 public:
  ElementsWriter(std::string& out, const Literal& literal, const ArrayStyle& style)
      : out_(out),
        values_(literal.data<T>()),
        dims_(literal.shape().dims()),
        style_(style),
        cut_(literal.elements() > style.cut_above ||
             (literal.elements() == 0 && style.cut_above != INT64_MAX)),
        index_(dims_.size()),
        first_(dims_.size()) {}

  void write() {
    if (dims_.empty()) {
      append_element(values_[0]);
      return;
    }
    out_ += style_.open;
    for (;;) {
      if (is_last(axis_)) {
        if (!write_row()) return close_all();
      } else if (index_[axis_] < dims_[axis_]) {
        if (!separate()) return close_all();
        descend();
        continue;
      }
      out_ += style_.close;
      if (axis_ == 0) return;
      ++index_[--axis_];
    }
  }

 private:
  void append_element(T value) {
    if (style_.float_format.empty() || is_integral_or_pred()) {
      append_number(out_, value, style_.numbers);
    } else if constexpr (is_complex(dtype_of<T>)) {
      out_ += '(';
      append_formatted(value.real());
      out_ += ", ";
      append_formatted(value.imag());
      out_ += ')';
    } else {
      append_formatted(static_cast<double>(value));
    }
  }
  static constexpr bool is_integral_or_pred() {
    return std::is_integral_v<T> || is_integer(dtype_of<T>);
  }
  void append_formatted(double value) {
    out_ += fmt::format(fmt::runtime(style_.float_format), value);
  }

  bool is_last(std::size_t axis) const { return axis + 1 == dims_.size(); }

  void descend() {
    // Unsigned: if a later dimension is 0, the products may wrap and are not used.
    const auto row = static_cast<std::uint64_t>(index_[axis_]);
    const std::uint64_t next = (first_[axis_] + row) * static_cast<std::uint64_t>(dims_[axis_ + 1]);
    ++axis_;
    index_[axis_] = 0;
    first_[axis_] = next;
    out_ += style_.open;
  }

  /// Writes the separator before item index_[axis_], and skips the middle of a long axis. False if
  /// enough was shown.
  bool separate() {
    std::int64_t& index = index_[axis_];
    if (index > 0) out_ += ", ";
    if (!cut_) return true;
    if (is_last(axis_) || dims_[axis_ + 1] == 0) {
      if (++shown_ > kMostShown) {
        out_ += "...";
        return false;
      }
    }
    if (index == kShownAtEachEnd && dims_[axis_] > 2 * kShownAtEachEnd) {
      out_ += "..., ";
      index = dims_[axis_] - kShownAtEachEnd;
    }
    return true;
  }

  bool write_row() {
    for (std::int64_t& index = index_[axis_]; index < dims_[axis_]; ++index) {
      if (!separate()) return false;
      append_element(values_[first_[axis_] + static_cast<std::uint64_t>(index)]);
    }
    return true;
  }

  void close_all() { out_.append(axis_ + 1, style_.close); }

  std::string& out_;
  std::span<const T> values_;
  std::span<const std::int64_t> dims_;
  const ArrayStyle& style_;
  bool cut_;
  std::int64_t shown_ = 0;
  std::size_t axis_ = 0;
  std::vector<std::int64_t> index_;   // of the current item on each axis
  std::vector<std::uint64_t> first_;  // how many items precede those of this axis
};

}  // namespace

std::string formatted_literal(std::string_view format, const Literal& literal) {
  std::string out;
  for (std::size_t i = 0; i < format.size(); i++) {
    const char c = format[i];
    if ((c == '{' || c == '}') && i + 1 < format.size() && format[i + 1] == c) {
      out += c;
      i++;
    } else if (c == '{') {
      const std::size_t end = format.find('}', i);
      const std::string_view field = format.substr(i, end + 1 - i);
      if (literal.shape().rank() > 0) out += literal.type().str() + ' ';
      append_elements(out, literal,
                      {.cut_above = kElementsShownWhole,
                       .float_format = field == "{}" ? std::string_view() : field});
      i = end;
    } else {
      out += c;
    }
  }
  return out;
}

std::string detail::formatted_digits(const Literal& value, std::string_view field) {
  return formatted_literal(field, value);
}

void append_elements(std::string& out, const Literal& literal, const ArrayStyle& style) {
  for_any_dtype(literal.dtype(),
                [&]<class T>() { ElementsWriter<T>(out, literal, style).write(); });
}

}  // namespace rondo
