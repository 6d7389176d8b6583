#include "native/debug/elf_image.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "native/debug/dwarf.h"

namespace rondo::native_code {

namespace {

// System V Application Binary Interface, chapter 4.
constexpr std::uint32_t kProgramBits = 1, kSymbols = 2, kStrings = 3, kNoBits = 8;
constexpr std::uint64_t kAllocated = 2, kExecutable = 4;
constexpr std::size_t kHeaderBytes = 64, kSectionHeaderBytes = 64, kSymbolBytes = 24;
constexpr std::uint16_t kExecutableFile = 2;

struct Section {
  std::string_view name;
  std::uint32_t type = kProgramBits;
  std::uint64_t flags = 0, address = 0, size = 0;
  std::uint32_t link = 0, info = 0;
  std::uint64_t entry_bytes = 0;
  ByteWriter content = {};  // unless it has no bits
};

void write_identification(ByteWriter& out) {
  out.u8(0x7f);
  for (const char c : {'E', 'L', 'F'}) out.u8(static_cast<unsigned>(c));
  out.u8(2);  // 64 bits
  out.u8(1);  // little-endian
  out.u8(1);  // version
  out.align(16);
}

/// Of the pieces; names go to `strings`.
ByteWriter symbols_of(const CodeDescription& code, std::uint64_t address, std::uint16_t section,
                      ByteWriter& strings) {
  constexpr unsigned kGlobalFunction = 1 << 4 | 2;
  ByteWriter out;
  for (std::size_t i = 0; i < kSymbolBytes; i++) out.u8(0);
  for (const CodeDescription::Piece& piece : code.pieces) {
    out.u32(strings.size());
    out.u8(kGlobalFunction);
    out.u8(0);
    out.u16(section);
    out.u64(address + piece.begin);
    out.u64(piece.end - piece.begin);
    strings.text(piece.name);
  }
  return out;
}

}  // namespace

std::vector<std::byte> elf_image(const CodeDescription& description) {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(description.code.data());
  DwarfSections dwarf = dwarf_sections(description);
  ByteWriter strings;
  strings.text("");
  constexpr std::uint16_t kText = 1, kStringTable = 3;  // places in the list that follows
  ByteWriter symbols = symbols_of(description, address, kText, strings);
  std::vector<Section> sections(1);
  sections.front().type = 0;
  sections.push_back(
      {".text", kNoBits, kAllocated | kExecutable, address, description.code.size()});
  sections.push_back(
      {".symtab", kSymbols, 0, 0, 0, kStringTable, 1, kSymbolBytes, std::move(symbols)});
  sections.push_back({".strtab", kStrings, 0, 0, 0, 0, 0, 0, std::move(strings)});
  const auto add = [&](std::string_view name, ByteWriter content) {
    Section& section = sections.emplace_back();
    section.name = name;
    section.content = std::move(content);
  };
  add(".debug_abbrev", std::move(dwarf.abbreviations));
  add(".debug_info", std::move(dwarf.info));
  add(".debug_line", std::move(dwarf.lines));
  add(".debug_loc", std::move(dwarf.locations));
  add(".debug_frame", std::move(dwarf.frames));
  Section& names = sections.emplace_back();
  names.name = ".shstrtab";
  names.type = kStrings;
  std::vector<std::uint32_t> name_at;
  for (const Section& section : sections) {
    name_at.push_back(static_cast<std::uint32_t>(names.content.size()));
    names.content.text(section.name);
  }

  std::vector<std::uint64_t> content_at;
  std::size_t end = kHeaderBytes;
  for (const Section& section : sections) {
    end = (end + 7) / 8 * 8;
    content_at.push_back(end);
    end += section.content.size();
  }
  const std::size_t headers = (end + 7) / 8 * 8;

  ByteWriter out;
  write_identification(out);
  out.u16(kExecutableFile);
  out.u16(description.numbers.machine);
  out.u32(1);        // version
  out.u64(address);  // of the entry
  out.u64(0);        // no program headers
  out.u64(headers);
  out.u32(0);  // flags
  out.u16(kHeaderBytes);
  out.u16(0);  // of program headers: bytes, number
  out.u16(0);
  out.u16(kSectionHeaderBytes);
  out.u16(static_cast<unsigned>(sections.size()));
  out.u16(static_cast<unsigned>(sections.size() - 1));  // the names
  for (const Section& section : sections) {
    out.align(8);
    out.append(section.content.bytes());
  }
  out.align(8);
  for (std::size_t i = 0; i < sections.size(); i++) {
    const Section& section = sections[i];
    out.u32(name_at[i]);
    out.u32(section.type);
    out.u64(section.flags);
    out.u64(section.address);
    out.u64(i == 0 ? 0 : content_at[i]);
    out.u64(section.type == kNoBits ? section.size : section.content.size());
    out.u32(section.link);
    out.u32(section.info);
    out.u64(i == 0 ? 0 : section.type == kNoBits ? 16 : 1);  // alignment
    out.u64(section.entry_bytes);
  }
  return out.bytes();
}

}  // namespace rondo::native_code
