// The sections of DWARF 4 that describe machine code (DWARF Debugging Information Format, version
// 4, 2010).
#pragma once

#include <initializer_list>
#include <utility>

#include "native/debug/byte_writer.h"
#include "native/debug/code_description.h"

namespace rondo::native_code {

struct DwarfSections {
  ByteWriter abbreviations;  // .debug_abbrev
  ByteWriter info;           // .debug_info
  ByteWriter lines;          // .debug_line
  ByteWriter frames;         // .debug_frame
  ByteWriter locations;      // .debug_loc
};

DwarfSections dwarf_sections(const CodeDescription& description);

/// An entry of .debug_abbrev: the attributes, with their forms, of entries that have this number.
void write_abbreviation(ByteWriter& out, unsigned number, unsigned tag, bool has_children,
                        std::initializer_list<std::pair<unsigned, unsigned>> attributes);

}  // namespace rondo::native_code
