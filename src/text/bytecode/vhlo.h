// The dialect of portable artifacts, as StableHLO.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/bytecode/container.h"

namespace rondo::text::bytecode {

/// The attributes of an op in the order of its properties, `compare_v1`; nothing for an unknown op.
std::optional<std::vector<std::string_view>> property_names(std::string_view op);

/// Types and attributes of a file as StableHLO's text.
class Entries {
 public:
  explicit Entries(const Container& file);

  /// `tensor<2xf32>`; computed once for each type.
  const std::string& type(std::size_t index);
  /// `#stablehlo<comparison_direction LT>`; nothing for one that says nothing: the type `none`.
  std::optional<std::string> attribute(std::size_t index) { return attribute(index, 0); }
  /// The integers of a tensor of i64 of rank 1, or one integer.
  std::vector<std::int64_t> integers(std::size_t index);
  /// A string or a symbol.
  std::string_view string(std::size_t index) const;
  /// The names and values of a dictionary of the builtin dialect.
  struct Named {
    std::string_view name;
    std::size_t value;
  };
  std::vector<Named> dictionary(std::size_t index) const;
  /// The name in a location; empty if it has none.
  std::string_view name_in_location(std::size_t index) const;

 private:
  std::string type_text(std::size_t index, int nested);
  std::optional<std::string> attribute(std::size_t index, int nested);
  std::string tensor(Bytes& data);
  const EncodedEntry& entry(const std::vector<EncodedEntry>& entries, std::size_t index) const;

  const Container& file_;
  std::vector<std::string> types_;
};

}  // namespace rondo::text::bytecode
