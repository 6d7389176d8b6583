// The texts of types in long programs.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "rondo/type.h"

namespace rondo::ir {

/// Formats a type once for consecutive lines that have it; most have one of the last few.
class TypeText {
 public:
  using Append = void (*)(std::string& out, const TensorType& type);
  explicit TypeText(Append append) noexcept : append_(append) {}
  TypeText(const TypeText&) = delete;
  TypeText& operator=(const TypeText&) = delete;

  /// Valid until the next call.
  std::string_view of(const TensorType& type) {
    if (!last_->text.empty() && last_->type == type) return last_->text;
    for (Entry& entry : entries_) {
      if (entry.text.empty() || entry.type != type) continue;
      last_ = &entry;
      return entry.text;
    }
    last_ = &entries_[next_++ % entries_.size()];
    last_->text.clear();
    append_(last_->text, type);
    last_->type = type;
    return last_->text;
  }

 private:
  struct Entry {
    TensorType type = {};
    std::string text = {};  // empty at first
  };
  const Append append_;
  std::array<Entry, 4> entries_ = {};
  Entry* last_ = entries_.data();
  std::size_t next_ = 0;
};

}  // namespace rondo::ir
