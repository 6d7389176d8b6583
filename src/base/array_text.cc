#include "base/array_text.h"

#include <span>
#include <vector>

#include "base/for_dtype.h"

namespace rondo {
namespace {

constexpr std::int64_t kShownAtEachEnd = 3;
constexpr std::int64_t kMostShown = 1000;

/// Writes the axes as an odometer turns, so that the rank costs no stack.
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
      append_number(out_, values_[0], style_.numbers);
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
  bool is_last(std::size_t axis) const { return axis + 1 == dims_.size(); }

  void descend() {
    // Unsigned: with a dimension of 0 further in, the products may be anything and are not used.
    const auto row = static_cast<std::uint64_t>(index_[axis_]);
    const std::uint64_t next = (first_[axis_] + row) * static_cast<std::uint64_t>(dims_[axis_ + 1]);
    ++axis_;
    index_[axis_] = 0;
    first_[axis_] = next;
    out_ += style_.open;
  }

  /// What stands before item index_[axis_]; passes over the middle of a long axis. False if enough
  /// was shown.
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
      append_number(out_, values_[first_[axis_] + static_cast<std::uint64_t>(index)],
                    style_.numbers);
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
  std::vector<std::int64_t> index_;   // of the item in hand on each axis
  std::vector<std::uint64_t> first_;  // how many items lie before those of this axis
};

}  // namespace

void append_elements(std::string& out, const Literal& literal, const ArrayStyle& style) {
  for_dtype(literal.dtype(), [&]<class T>() { ElementsWriter<T>(out, literal, style).write(); });
}

}  // namespace rondo
