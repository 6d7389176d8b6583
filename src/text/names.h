// Names for HLO and StableHLO from the names of the user's parameters, fields, functions and loops.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace rondo::text {

/// The part of a path that makes an identifier of HLO: `arg0.house.slab` gives `house.slab`,
/// `arg0[1]` gives `arg0_1`. Never empty, no reserved word of HLO, and never ending in a point and
/// digits: such names are free for numbered ones (`add.12`).
std::string identifier(std::string_view path);
/// The same without dropping the first step of the path.
std::string whole_identifier(std::string_view path);

/// The names used so far in one scope.
class NameTable {
 public:
  NameTable() = default;
  NameTable(const NameTable&) = delete;
  NameTable& operator=(const NameTable&) = delete;

  /// A new name for what the user calls `path`: the short form if it is free, else the whole path,
  /// else that with a number. Its address is stable as long as the table exists.
  std::string_view add(std::string_view path);
  /// The same for a name that is not a path.
  std::string_view add_whole(std::string_view name);
  /// Keeps a text that need not be unique.
  std::string_view keep(std::string text);

 private:
  std::deque<std::string> texts_;
  absl::flat_hash_map<std::string_view, std::size_t> taken_;  // with the number to try next
};

}  // namespace rondo::text
