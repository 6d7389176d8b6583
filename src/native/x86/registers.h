// Registers that hold no values: they are reserved for the emitter.
#pragma once

namespace rondo::native_code::x86 {

// General registers 0 to 2 (rax, rcx, rdx) and 4 (rsp), and mask registers 0, 6 and 7 beside these:
inline constexpr int kFrameRegister = 15;  // holds the run's frame
inline constexpr int kScratchVectors = 3;  // the last of the vector registers

}  // namespace rondo::native_code::x86
