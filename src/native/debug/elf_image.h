// Machine code in memory as an ELF file, by which gdb knows its loops, lines and frames.
#pragma once

#include <cstddef>
#include <vector>

#include "native/debug/code_description.h"

namespace rondo::native_code {

/// An executable for 64 bits whose .text is the code where it is, without its bytes (SHT_NOBITS).
/// Its symbols are the pieces. It has DWARF 4: a compile unit with a subprogram for each piece
/// with its variables (.debug_info, .debug_loc), the lines (.debug_line) and the frame
/// (.debug_frame).
std::vector<std::byte> elf_image(const CodeDescription& description);

}  // namespace rondo::native_code
