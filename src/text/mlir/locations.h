// Where operations come from, as `loc(...)` says.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "text/mlir/program.h"

namespace rondo::text::mlir {

/// A line of a file that the text was made from; line 0 if the text does not say.
struct FilePlace {
  std::string_view file = {};
  std::uint32_t line = 0;
};

/// The name of a file that lives as long as the process, as those of nodes do.
const char* lasting_file(std::string_view file);

class Locations {
 public:
  explicit Locations(std::string_view text) : text_(text) {}
  /// Of operations whose locations are indices into these places.
  explicit Locations(std::vector<FilePlace> places) : places_(std::move(places)) {}

  /// Remembers that `#name` is the location whose bracket is at this place.
  void define(std::string_view name, Offset bracket) { aliases_.insert_or_assign(name, bracket); }
  /// The place of the location whose bracket is there: of a call site the callee's, of several the
  /// first.
  FilePlace file(Offset bracket) const;
  /// The name in `loc("x")` or `loc("x"(...))`; empty if there is none.
  std::string_view name(Offset bracket) const;

 private:
  std::string_view text_;
  std::vector<FilePlace> places_;
  absl::flat_hash_map<std::string_view, Offset> aliases_;
};

}  // namespace rondo::text::mlir
