// What debuggers and profilers are told of the machine code of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lower/program.h"
#include "native/compilation.h"
#include "native/debug/variables.h"
#include "native/target.h"

namespace rondo::native_code {

/// Offsets are in bytes from the entry, the first instruction of the code.
struct CodeDescription {
  /// From `offset` to the next one the code is that of a line. Ascending.
  struct Line {
    std::uint32_t offset = 0;
    std::uint32_t file = 0;  // in `files`
    std::uint32_t line = 0;  // 0: of none
  };
  /// Code of one loop, without the loops in it, or of the program around its loops.
  struct Piece {
    std::uint32_t begin = 0, end = 0;
    std::string name;                         // of the loop, as the user gave it
    std::uint32_t loop = 0;                   // in Program::loops, or kNoLoop
    SourceLocation at = {};                   // of the loop; line 0 if it has none
    std::uint32_t file = 0;                   // of that, in `files`
    std::vector<std::size_t> variables = {};  // in `variables`: those that are known in it
    std::string title() const;                // "newton at house.cc:12"
  };

  std::span<const std::byte> code;  // in memory, where it runs
  std::vector<std::string> files;   // whole paths, where they are known
  std::vector<Line> lines;
  std::vector<Piece> pieces;  // one behind another, from the entry to the end of the code
  std::vector<PlacedVariable> variables;
  FrameLayout frame;
  DebugNumbers numbers;
};

/// Describes code that lies at `placed`, its constants among it. `name` is that of the program.
CodeDescription describe(const lower::Program& program, const Compilation& made,
                         std::span<const std::byte> placed, const Target& target,
                         const std::string& name);

}  // namespace rondo::native_code
