// Where the variables of the user's program are while machine code runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lower/program.h"
#include "native/compilation.h"
#include "rondo/type.h"

namespace rondo::native_code {

/// What a loop carries, or the number of its trip: an element, or an array in memory.
struct Variable {
  std::string name;
  std::uint32_t loop = lower::kNoLoop;  // in Program::loops, in which it is known
  lower::Value value = lower::kNone;    // the element, or a pointer to the first one of the array
  TensorType type = {};                 // of the array, or of the element
  bool is_array = false;
};

/// A variable, and where it is. Offsets are those of Assembled::positions.
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
  Variable variable;
  lower::Type type = lower::Type::kPred;  // in a register: of the element, or kPointer
  std::vector<Where> places;              // ascending, apart from one another
};

/// The variables that have a place somewhere. An element is where a unit has it: from the beginning
/// of a trip, or from where it is computed, to the last use. Vectors have none.
std::vector<PlacedVariable> placed_variables(const lower::Program& program, const Compilation& made,
                                             std::span<const Variable> variables);

}  // namespace rondo::native_code
