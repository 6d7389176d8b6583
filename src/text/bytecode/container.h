// The sections of an MLIR bytecode file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/bytecode/bytes.h"

namespace rondo::text::bytecode {

inline constexpr std::string_view kMagic = "ML\xEFR";

struct OpName {
  std::string_view dialect, name;
};
/// An attribute or a type.
struct EncodedEntry {
  std::string_view dialect;
  bool custom = false;  // else it is text
  Bytes data;
};

struct Container {
  std::uint64_t version = 0;
  std::string_view producer;
  std::vector<std::string_view> strings, dialects;
  std::vector<OpName> ops;
  std::vector<EncodedEntry> attributes, types;
  std::vector<Bytes> properties;
  Bytes program;
};

/// A section: its number and its data. Nested ones are read like those of the file.
struct Section {
  unsigned id;
  Bytes data;
};
Section read_section(Bytes& from);

/// Throws ParseError. Views are of `file`, which begins with the magic number.
Container read_container(std::string_view file);

}  // namespace rondo::text::bytecode
