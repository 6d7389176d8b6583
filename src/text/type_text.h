// The texts of types in long programs.
#pragma once

#include <string>
#include <string_view>

#include "rondo/type.h"

namespace rondo::text {

/// Formats a type once for consecutive lines that have it; most have that of the line before.
class TypeText {
 public:
  using Append = void (*)(std::string& out, const TensorType& type);
  explicit TypeText(Append append) noexcept : append_(append) {}

  /// Valid until the next call.
  std::string_view of(const TensorType& type) {
    if (text_.empty() || type != type_) {
      text_.clear();
      append_(text_, type);
      type_ = type;
    }
    return text_;
  }

 private:
  const Append append_;
  TensorType type_;
  std::string text_;  // of type_; empty at first
};

}  // namespace rondo::text
