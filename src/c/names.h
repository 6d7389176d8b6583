// Identifiers of the C that is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace rondo::c {

/// What is left of a text for an identifier: letters, digits and single underscores, none at its
/// ends; empty if nothing is. `arg0.layers[2].w` gives `arg0_layers_2_w`.
std::string identifier(std::string_view text);

/// Identifiers of one scope, each of which it gives once.
class Names {
 public:
  /// Of variables and functions, which must not be named as others are; or of a struct's members.
  enum class Of : std::uint8_t { kFile, kStruct };
  explicit Names(Of of = Of::kFile) : of_(of) {}
  /// `text` as an identifier, or `otherwise`; with a number behind it if that one is taken, or is a
  /// word of C or C++; in a file also if their libraries or helpers have the name.
  std::string unique(std::string_view text, std::string_view otherwise);
  void reserve(std::string_view name) { taken_.emplace(name); }

 private:
  bool is_reserved(std::string_view name) const;

  Of of_;
  absl::flat_hash_set<std::string> taken_;
  absl::flat_hash_map<std::string, int> numbers_;  // the next one to try
};

}  // namespace rondo::c
