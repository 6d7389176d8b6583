// Where the variables of the user's program are while machine code runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lower/program.h"
#include "native/compilation.h"
#include "rondo/type.h"

namespace rondo::native_code {

/// A variable of the program, and where it is. Offsets are those of Assembled::positions.
struct PlacedVariable {
  enum class Kind : std::uint8_t {
    kRegister,  // `number` of class `registers`
    kStack,     // `offset` from the stack pointer
    kBuffer,    // `buffer` of the run, as its RunFrame has it
  };
  struct Where {
    std::uint32_t begin = 0, end = 0;  // while the code between them runs
    Kind kind = Kind::kRegister;
    RegisterClass registers = RegisterClass::kGeneral;
    std::uint8_t number = 0;
    std::uint32_t offset = 0;
    lower::Buffer buffer = {};
  };
  std::string name;        // as an expression of a debugger has it: carry[0] is carry_0
  std::uint32_t loop = 0;  // in Program::loops, in which it is known
  /// Of an array, whose place is that of a pointer to it.
  std::optional<TensorType> array = std::nullopt;
  lower::Type type = lower::Type::kPred;  // in a register: of the element, or kPointer
  std::vector<Where> places;              // ascending, apart from one another
};

/// The variables that have a place somewhere. An element is where a unit has it: from the beginning
/// of a trip, or from where it is computed, to the last use. Vectors have none.
std::vector<PlacedVariable> placed_variables(const lower::Program& program,
                                             const Compilation& made);

}  // namespace rondo::native_code
