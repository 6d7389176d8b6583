// The steps of the machine code of a program, for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/program.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// The steps that disassembly() prints with the same arguments, in their order: those for which
/// compile() writes instructions. Steps that were folded into their neighbors are not among them.
std::vector<Instruction> steps(const lower::Program& program,
                               const Target* target = available_target(),
                               std::uint32_t loop = lower::kNoLoop);

}  // namespace rondo::native_code
