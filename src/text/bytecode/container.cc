#include "text/bytecode/container.h"

#include <array>
#include <optional>

namespace rondo::text::bytecode {

namespace {

constexpr unsigned kStrings = 0, kDialects = 1, kEntries = 2, kEntrySizes = 3, kProgram = 4,
                   kProperties = 8;
constexpr std::size_t kSections = 9;
constexpr std::uint64_t kNewestVersion = 6;

void read_strings(Bytes data, std::vector<std::string_view>& strings) {
  const std::size_t count = data.count();
  std::vector<std::uint64_t> sizes(count);
  for (std::size_t i = count; i-- > 0;) sizes[i] = data.varint();
  for (const std::uint64_t size : sizes) {
    if (size == 0) data.fail("a string without its end");
    std::string_view text = data.bytes(size);
    text.remove_suffix(1);  // NUL
    strings.push_back(text);
  }
  data.expect_end("the strings");
}

void read_dialects(Bytes data, Container& file) {
  const std::size_t count = data.count();
  for (std::size_t i = 0; i < count; i++) {
    if (file.version == 0) {
      file.dialects.push_back(file.strings[data.index(file.strings.size(), "string")]);
      continue;
    }
    const auto [name, has_version] = data.flagged();
    file.dialects.push_back(file.strings[data.checked(name, file.strings.size(), "string")]);
    if (has_version) read_section(data);
  }
  if (file.version >= 4) data.varint();  // the number of ops
  while (!data.at_end()) {
    const std::string_view dialect = file.dialects[data.index(count, "dialect")];
    const std::size_t ops = data.count();
    for (std::size_t i = 0; i < ops; i++) {
      const std::uint64_t name = file.version >= 5 ? data.flagged().value : data.varint();
      file.ops.push_back(
          {dialect, file.strings[data.checked(name, file.strings.size(), "string")]});
    }
  }
}

void read_entries(Bytes sizes, Bytes data, Container& file) {
  const std::size_t attributes = sizes.count(), types = sizes.count();
  const auto read = [&](std::size_t count, std::vector<EncodedEntry>& entries) {
    while (entries.size() < count) {
      const std::string_view dialect = file.dialects[sizes.index(file.dialects.size(), "dialect")];
      const std::size_t group = sizes.count();
      if (group == 0 || group > count - entries.size()) sizes.fail("a group of the wrong size");
      for (std::size_t i = 0; i < group; i++) {
        const auto [size, custom] = sizes.flagged();
        entries.push_back({dialect, custom, data.part(size)});
      }
    }
  };
  read(attributes, file.attributes);
  read(types, file.types);
  sizes.expect_end("the sizes of attributes and types");
  data.expect_end("the attributes and types");
}

}  // namespace

Section read_section(Bytes& from) {
  const std::uint8_t first = from.byte();
  const unsigned id = first & 0x7Fu;
  if (id >= kSections) from.fail(fmt::format("section {} is unknown", id));
  const std::uint64_t size = from.varint();
  if ((first & 0x80u) != 0) from.align(from.varint());
  return {id, from.part(size)};
}

Container read_container(std::string_view file) {
  Bytes data(file, 0);
  data.bytes(kMagic.size());
  Container result;
  result.version = data.varint();
  if (result.version > kNewestVersion)
    data.fail(fmt::format("bytecode version {} is newer than {}\n  Export for an older target.",
                          result.version, kNewestVersion));
  const std::size_t end = file.find('\0', data.place());
  if (end == file.npos) data.fail("the producer's name does not end");
  result.producer = data.bytes(end - data.place());
  data.byte();
  std::array<std::optional<Bytes>, kSections> sections;
  while (!data.at_end()) {
    const Section section = read_section(data);
    if (sections[section.id]) data.fail(fmt::format("there are two sections {}", section.id));
    sections[section.id] = section.data;
  }
  for (const unsigned needed : {kStrings, kDialects, kEntries, kEntrySizes, kProgram}) {
    if (!sections[needed]) data.fail(fmt::format("section {} is missing", needed));
  }
  read_strings(*sections[kStrings], result.strings);
  read_dialects(*sections[kDialects], result);
  if (sections[kProperties]) {
    Bytes properties = *sections[kProperties];
    const std::size_t count = properties.count();
    for (std::size_t i = 0; i < count; i++)
      result.properties.push_back(properties.part(properties.varint()));
    properties.expect_end("the properties");
  }
  read_entries(*sections[kEntrySizes], *sections[kEntries], result);
  result.program = *sections[kProgram];
  return result;
}

}  // namespace rondo::text::bytecode
