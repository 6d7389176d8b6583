// Names for HLO and StableHLO from the names of the user's parameters, fields, functions and loops.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace rondo::text {

/// What is left of a path as an identifier of HLO: `arg0.house.slab` gives `house.slab`, `arg0[1]`
/// gives `arg0_1`. It is never empty, no reserved word of HLO, and does not end in a point and
/// digits: such names are free for numbered ones (`add.12`).
std::string identifier(std::string_view path);
/// The same without dropping the first step of the path.
std::string whole_identifier(std::string_view path);

/// The names given so far in one scope.
class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  /// A new name for what the user calls `path`: the short form if it is free, else the whole path,
  /// else that with a number. It stays where it is as long as the table lives.
  std::string_view add(std::string_view path);
  /// The same for a name that is no path.
  std::string_view add_whole(std::string_view name);
  /// Keeps a text that need not be unique.
  std::string_view keep(std::string text);

 private:
  std::deque<std::string> texts_;
  absl::flat_hash_map<std::string_view, std::size_t> taken_;  // with the number to try next
};

}  // namespace rondo::text
