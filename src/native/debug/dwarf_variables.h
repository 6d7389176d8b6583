// Variables in DWARF: entries in .debug_info, and lists of their places in .debug_loc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "native/debug/byte_writer.h"
#include "native/debug/code_description.h"

namespace rondo::native_code {

/// The numbers of the abbreviations that they use.
struct VariableAbbreviations {
  static constexpr unsigned kVariable = 3, kElement = 4, kArray = 5, kDimension = 6;
  static void write(ByteWriter& abbreviations);
};

/// Writes to the sections of a unit that begins at the beginning of `info`.
class VariableWriter {
 public:
  VariableWriter(const CodeDescription& code, ByteWriter& info, ByteWriter& locations)
      : code_(code), info_(info), locations_(locations) {}

  /// Entries of the types of all variables, as children of the unit.
  void write_types();
  /// The entry of code.variables[index].
  void write(std::size_t index);

 private:
  struct ElementType {
    std::string name;
    unsigned encoding;
    unsigned bytes;
  };
  static ElementType element_type(const PlacedVariable& variable);
  std::uint32_t write_element(const ElementType& type);
  std::uint32_t write_array(const TensorType& type, std::uint32_t element);
  std::uint32_t write_places(const PlacedVariable& variable);
  void write_expression(const PlacedVariable& variable, const PlacedVariable::Where& where,
                        ByteWriter& out) const;
  void write_buffer(const lower::Buffer& buffer, ByteWriter& out) const;

  const CodeDescription& code_;
  ByteWriter& info_;
  ByteWriter& locations_;
  absl::flat_hash_map<std::string, std::uint32_t> types_;  // by name, in the section
  std::vector<std::uint32_t> type_of_;                     // of each variable
  absl::flat_hash_map<std::size_t, std::uint32_t> places_of_;
};

}  // namespace rondo::native_code
