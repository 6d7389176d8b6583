// Types and attributes of MLIR.
#pragma once

#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "text/mlir/cursor.h"
#include "text/mlir/known_types.h"
#include "text/mlir/program.h"

namespace rondo::text::mlir {

/// Regions, lists and dictionaries within each other; more is an error.
inline constexpr int kMostNested = 100;
/// Memory for so many is taken at once.
inline constexpr std::size_t kUsualElements = 2, kUsualEntries = 3;

/// `name: "0x..."` of the section `{-# ... #-}` after the module.
struct Resource {
  std::string_view quoted;
  Offset at = 0;
};
/// What a text defines before or after the module.
struct Aliases {
  absl::flat_hash_map<std::string_view, Attribute> attributes;  // `#name = ...`
  absl::flat_hash_map<std::string_view, Resource> resources;
};

/// `tensor<2x3xf32>`. Fails for any other type.
TensorType parse_tensor_type(Cursor& cursor);
/// Appends the arrays of a type: of a tensor, whose elements may be quantized and whose sizes may
/// be unknown, a token, or a tuple of types.
void parse_type(Cursor& cursor, KnownTypes& known, Types& types, TypeDetailsPointer& details,
                int nested = 0);
Attribute parse_attribute(Cursor& cursor, const Aliases& aliases, int nested = 0);
/// `{a = 1 : i64, b}`, or with other brackets; appends the entries.
void parse_entries(Cursor& cursor, std::string_view open, std::string_view close,
                   const Aliases& aliases, std::vector<Entry>& entries, int nested = 0);
/// Goes past `loc(...)` if there is one; the place of its bracket, else kNowhere.
Offset skip_location(Cursor& cursor);

/// What is within `dense<...>`, from `at` on, as elements of the type: a scalar if it is one value
/// for all of several.
Literal parse_elements(std::string_view text, Offset at, std::string_view inside,
                       const TensorType& type);

/// Little-endian bytes, of all elements or of one for all, of which the result is then a scalar.
Literal elements_of_bytes(std::string_view bytes, const TensorType& type);
/// The elements of a resource.
Literal parse_resource(std::string_view text, const Resource& resource, const TensorType& type);

}  // namespace rondo::text::mlir
