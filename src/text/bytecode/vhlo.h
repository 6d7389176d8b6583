// The dialect of portable artifacts, as StableHLO.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/bytecode/container.h"
#include "text/mlir/locations.h"
#include "text/mlir/program.h"

namespace rondo::text::bytecode {

/// The attributes of an op in the order of its properties, `compare_v1`; nothing for an unknown op.
std::optional<std::vector<std::string_view>> property_names(std::string_view op);

/// Strings that are not in the file as they are. None of them moves.
using Names = std::deque<std::string>;

/// A type as text, `tensor<2xf32>`, and what it is, if it is that of an array.
struct DecodedType {
  std::string text;
  bool is_array = false;
  TensorType array;
  mlir::TypeDetailsPointer details;  // of sizes that are not known
};

/// Types and attributes of a file, each decoded once.
class Entries {
 public:
  /// Appends to `names`.
  Entries(const Container& file, Names& names);

  const DecodedType& type(std::size_t index);
  /// Fails for one that is not that of an array.
  const DecodedType& array_type(std::size_t index);
  /// Null for one that says nothing: the type `none`.
  const mlir::Attribute* attribute(std::size_t index) { return attribute(index, 0); }
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
  /// The place of a location: of a call site the callee's, of several the first.
  mlir::FilePlace place(std::size_t index) const;

 private:
  struct DecodedAttribute {
    bool is_decoded = false, says_nothing = false;
    std::size_t parts = 1;  // itself, and those within it
    mlir::Attribute value;
  };
  std::string type_text(std::size_t index, int nested);
  const mlir::Attribute* attribute(std::size_t index, int nested);
  /// The next attribute of the data, which is within another one.
  const mlir::Attribute* part(Bytes& data, DecodedAttribute& whole, int nested);
  /// False for the type `none`.
  bool decode(Bytes& data, DecodedAttribute& decoded, int nested);
  void decode_elements(Bytes& data, mlir::Attribute& value);
  /// As texts have it between quotes.
  std::string_view escaped(std::string_view text);
  const EncodedEntry& entry(const std::vector<EncodedEntry>& entries, std::size_t index) const;

  const Container& file_;
  Names& names_;
  std::vector<DecodedType> types_;
  std::vector<DecodedAttribute> attributes_;
};

}  // namespace rondo::text::bytecode
