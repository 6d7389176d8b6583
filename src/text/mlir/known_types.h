// The types that a text names again and again.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "rondo/type.h"
#include "text/mlir/cursor.h"

namespace rondo::text::mlir {

/// Compares the text with the last few types in it, which takes less than to parse one more; and
/// equal types share their shape.
class KnownTypes {
 public:
  /// Goes past the type if it is known; else null.
  const TensorType* accept(Cursor& cursor) {
    if (accepts(cursor, last_)) return &types_[last_].type;
    for (std::size_t i = 0; i < types_.size(); i++) {
      if (i == last_ || !accepts(cursor, i)) continue;
      last_ = i;
      return &types_[i].type;
    }
    return nullptr;
  }
  /// `text` ends with a bracket, so no longer type begins with it. It outlives this.
  void add(std::string_view text, const TensorType& type) {
    last_ = next_++ % types_.size();
    types_[last_] = {text, type};
  }

 private:
  struct Known {
    std::string_view text;
    TensorType type;
  };
  bool accepts(Cursor& cursor, std::size_t i) const {
    return !types_[i].text.empty() && cursor.accept(types_[i].text);
  }

  std::array<Known, 8> types_ = {};
  std::size_t last_ = 0, next_ = 0;
};

}  // namespace rondo::text::mlir
