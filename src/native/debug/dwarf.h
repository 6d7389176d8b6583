// The sections of DWARF 4 that describe machine code (DWARF Debugging Information Format, version
// 4, 2010).
#pragma once

#include "native/debug/byte_writer.h"
#include "native/debug/code_description.h"

namespace rondo::native_code {

struct DwarfSections {
  ByteWriter abbreviations;  // .debug_abbrev
  ByteWriter info;           // .debug_info
  ByteWriter lines;          // .debug_line
  ByteWriter frames;         // .debug_frame
};

DwarfSections dwarf_sections(const CodeDescription& description);

}  // namespace rondo::native_code
