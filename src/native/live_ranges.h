// Live ranges of the units of machine code, and which units share a register or stack slot.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "native/machine_code.h"
#include "native/target.h"

namespace rondo::native_code {

/// Instruction i reads its operands at time 2i and writes its results at 2i + 1.
using Time = std::uint32_t;

/// Units that are never live at once, or are one value: the carries of a loop, in and out.
struct Bundle {
  RegisterClass register_class = RegisterClass::kGeneral;
  Time begin = 0, end = 0;  // both included
  float weight = 0;         // reads and writes, weighted in loops
  std::uint16_t bytes = 8;  // of a stack slot
  bool crosses_call = false;
};

struct LiveRanges {
  std::vector<std::uint32_t> bundle_of;  // of each unit; 0 is none (a constant, an unused number)
  std::vector<Bundle> bundles{1};
  std::vector<std::uint32_t> calls;  // positions of instructions that may call C++
};

/// Units that the instruction reads, and whether it still needs them while it writes its results.
void for_each_read(const MachineCode& code, const Instruction& instruction,
                   absl::FunctionRef<void(Unit, bool late)> read);
void for_each_write(const MachineCode& code, const Instruction& instruction,
                    absl::FunctionRef<void(Unit)> write);

/// Whether the instruction, or a rare path after it, calls C++.
bool may_call(const Instruction& instruction);

RegisterClass register_class_of(const UnitInfo& unit, const Target& target);

LiveRanges live_ranges(const MachineCode& code, const Target& target);

}  // namespace rondo::native_code
