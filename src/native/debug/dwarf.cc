#include "native/debug/dwarf.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "native/debug/dwarf_numbers.h"
#include "native/debug/dwarf_variables.h"

namespace rondo::native_code {

namespace {

constexpr unsigned kAddressBytes = 8;

/// The numbers of abbreviations.
enum : unsigned { kUnitEntry = 1, kPieceEntry = 2 };

std::uint64_t address_of(const CodeDescription& code, std::uint32_t offset = 0) {
  return reinterpret_cast<std::uintptr_t>(code.code.data()) + offset;
}

std::string current_folder() {
  std::error_code failed;
  return std::filesystem::current_path(failed).string();
}

void write_abbreviations(ByteWriter& out) {
  namespace attribute = dwarf::attribute;
  namespace form = dwarf::form;
  write_abbreviation(out, kUnitEntry, dwarf::tag::kCompileUnit, true,
                     {{attribute::kProducer, form::kString},
                      {attribute::kLanguage, form::kData2},
                      {attribute::kName, form::kString},
                      {attribute::kCompilationDirectory, form::kString},
                      {attribute::kStatementList, form::kSectionOffset},
                      {attribute::kLowPc, form::kAddress},
                      {attribute::kHighPc, form::kData8}});
  write_abbreviation(out, kPieceEntry, dwarf::tag::kSubprogram, true,
                     {{attribute::kExternal, form::kPresent},
                      {attribute::kName, form::kString},
                      {attribute::kDeclarationFile, form::kUnsigned},
                      {attribute::kDeclarationLine, form::kUnsigned},
                      {attribute::kLowPc, form::kAddress},
                      {attribute::kHighPc, form::kData8}});
  VariableAbbreviations::write(out);
  out.u8(0);
}

void write_info(const CodeDescription& code, ByteWriter& out, ByteWriter& locations) {
  const std::size_t begin = out.begin_length();
  out.u16(dwarf::kVersion);
  out.u32(0);  // abbreviations
  out.u8(kAddressBytes);
  out.unsigned_leb(kUnitEntry);
  out.text("Rondo");
  out.u16(dwarf::kLanguageC);
  out.text(code.files.empty() ? "" : code.files.front());
  out.text(current_folder());
  out.u32(0);  // lines
  out.u64(address_of(code));
  out.u64(code.code.size());
  VariableWriter variables(code, out, locations);
  variables.write_types();
  for (const CodeDescription::Piece& piece : code.pieces) {
    out.unsigned_leb(kPieceEntry);
    out.text(piece.name);
    out.unsigned_leb(piece.at.line == 0 ? 0 : piece.file + 1);
    out.unsigned_leb(piece.at.line);
    out.u64(address_of(code, piece.begin));
    out.u64(piece.end - piece.begin);
    for (const std::size_t variable : piece.variables) variables.write(variable);
    out.u8(0);
  }
  out.u8(0);  // the end of the unit's children
  out.end_length(begin);
}

/// Section 6.2.
void write_lines(const CodeDescription& code, ByteWriter& out) {
  enum : unsigned { kCopy = 1, kAdvancePc = 2, kAdvanceLine = 3, kSetFile = 4 };
  enum : unsigned { kEndSequence = 1, kSetAddress = 2 };
  const auto extended = [&](unsigned opcode, unsigned bytes) {
    out.u8(0);
    out.unsigned_leb(1 + bytes);
    out.u8(opcode);
  };
  const std::size_t begin = out.begin_length();
  out.u16(dwarf::kVersion);
  const std::size_t header = out.begin_length();
  out.u8(1);     // bytes of the shortest instruction
  out.u8(1);     // operations in an instruction
  out.u8(1);     // rows begin statements
  out.u8(0xfb);  // the least advance of a line by a special opcode, of which there are none here
  out.u8(14);
  out.u8(
      13);  // the first special opcode, behind those of the standard, which take so many numbers:
  for (const unsigned operands : {0u, 1u, 1u, 1u, 1u, 0u, 0u, 0u, 1u, 0u, 0u, 1u}) out.u8(operands);
  out.u8(0);  // no folders but the unit's
  for (const std::string& file : code.files) {
    out.text(file);
    out.unsigned_leb(0);  // its folder, time and bytes
    out.unsigned_leb(0);
    out.unsigned_leb(0);
  }
  out.u8(0);
  out.end_length(header);
  extended(kSetAddress, kAddressBytes);
  out.u64(address_of(code));
  std::uint32_t offset = 0, file = 0, line = 1;
  const auto advance = [&](std::uint32_t to) {
    out.u8(kAdvancePc);
    out.unsigned_leb(to - offset);
    offset = to;
  };
  for (const CodeDescription::Line& row : code.lines) {
    advance(row.offset);
    if (row.line != 0 && row.file != file) {
      out.u8(kSetFile);
      out.unsigned_leb(row.file + 1);
      file = row.file;
    }
    out.u8(kAdvanceLine);
    out.signed_leb(std::int64_t{row.line} - line);
    line = row.line;
    out.u8(kCopy);
  }
  advance(static_cast<std::uint32_t>(code.code.size()));
  extended(kEndSequence, 0);
  out.end_length(begin);
}

/// Section 6.4.
void write_frames(const CodeDescription& code, ByteWriter& out) {
  enum : unsigned {
    kAdvance4 = 0x04,
    kSameValue = 0x08,
    kDefineCfa = 0x0c,
    kDefineCfaExpression = 0x0f,
    kOffset = 0x80,
  };
  constexpr unsigned kWord = 8;
  const auto number_of = [&](std::uint8_t general) -> unsigned {
    return code.numbers.general[general];
  };
  const std::size_t common = out.begin_length();
  out.u32(0xffffffff);  // a common information entry
  out.u8(dwarf::kVersion);
  out.text("");  // no augmentation
  out.u8(kAddressBytes);
  out.u8(0);  // of a segment
  out.unsigned_leb(1);
  out.signed_leb(-std::int64_t{kWord});  // the unit of offsets
  out.unsigned_leb(code.numbers.return_address);
  unsigned before = 1;  // words from the canonical frame address to the first saved register
  if (code.numbers.return_on_stack) {
    out.u8(kOffset | code.numbers.return_address);
    out.unsigned_leb(before++);
  }
  out.align(kAddressBytes);
  out.end_length(common);

  const std::size_t begin = out.begin_length();
  out.u32(0);  // the common entry's place
  out.u64(address_of(code));
  out.u64(code.code.size());
  std::uint32_t offset = 0, saved = 0;
  for (const FrameLayout::Row& row : code.frame.rows) {
    if (row.offset != offset) {
      out.u8(kAdvance4);
      out.u32(row.offset - offset);
      offset = row.offset;
    }
    if (row.in_memory) {
      ByteWriter expression;
      expression.u8(dwarf::operation::kFromRegister0 + number_of(row.base));
      expression.signed_leb(row.at);
      expression.u8(dwarf::operation::kDereference);
      expression.u8(dwarf::operation::kPlusConstant);
      expression.unsigned_leb(row.behind);
      out.u8(kDefineCfaExpression);
      out.unsigned_leb(expression.size());
      out.append(expression.bytes());
    } else {
      out.u8(kDefineCfa);
      out.unsigned_leb(number_of(row.base));
      out.unsigned_leb(row.behind);
    }
    for (; saved < row.saved; saved++) {
      out.u8(kOffset | number_of(code.frame.registers[saved]));
      out.unsigned_leb(saved + before);
    }
    for (; saved > row.saved; saved--) {
      out.u8(kSameValue);
      out.unsigned_leb(number_of(code.frame.registers[saved - 1]));
    }
  }
  while ((out.size() - begin + 4) % kAddressBytes != 0) out.u8(0);
  out.end_length(begin);
}

}  // namespace

void write_abbreviation(ByteWriter& out, unsigned number, unsigned tag, bool has_children,
                        std::initializer_list<std::pair<unsigned, unsigned>> attributes) {
  out.unsigned_leb(number);
  out.unsigned_leb(tag);
  out.u8(has_children ? 1 : 0);
  for (const auto& [attribute, form] : attributes) {
    out.unsigned_leb(attribute);
    out.unsigned_leb(form);
  }
  out.u16(0);
}

DwarfSections dwarf_sections(const CodeDescription& description) {
  DwarfSections out;
  write_abbreviations(out.abbreviations);
  write_info(description, out.info, out.locations);
  write_lines(description, out.lines);
  write_frames(description, out.frames);
  return out;
}

}  // namespace rondo::native_code
