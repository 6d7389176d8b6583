// Functions that the C which is written brings along: arithmetic of the lower IR that C has no
// operator for. Each is written into a file that calls it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "lower/program.h"

namespace rondo::c {

class Helpers {
 public:
  /// The name of `what` for a type, such as "min" and f32: `min_f32`. It will be in text().
  std::string use(std::string_view what, lower::Type type);
  /// The same for a conversion: `s32_from_f32`.
  std::string convert(lower::Type to, lower::Type from);
  /// A function of c/wide.h.
  std::string wide(std::string_view name);
  /// Doubles are integers (c/wide.h).
  void set_wide() { is_wide_ = true; }
  bool is_wide() const { return is_wide_; }
  /// In a variable.
  std::string_view type(lower::Type type) const;
  std::string constant(lower::Type type, std::uint64_t bits) const;
  /// Combines the partial results of a reduction; `combined` is `partial[k]` with
  /// `partial[k + half]`.
  std::string fold(std::string_view combine, lower::Type type, std::string_view combined);
  /// Those that are needed beside these.
  Helpers beside() const {
    Helpers others = *this;
    others.text_.clear();
    return others;
  }
  /// The functions that were used, and those that they need, each after what it needs.
  const std::string& text() const { return text_; }

 private:
  std::string add(const std::string& name, std::string_view body, lower::Type type,
                  lower::Type from = lower::Type::kPred);

  absl::flat_hash_set<std::string> used_;
  std::string text_;
  bool is_wide_ = false;
};

}  // namespace rondo::c
