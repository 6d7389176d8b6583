// Registers that hold no values: they are reserved for the emitter.
#pragma once

namespace rondo::native_code::aarch64 {

// x0 to x2 and x17 are scratch, x16 is the assembler's, x18 the platform's. Beside these:
inline constexpr int kFrameRegister = 28;  // holds the run's frame
inline constexpr int kFramePointer = 29;
inline constexpr int kLinkRegister = 30;
inline constexpr int kStackPointer = 31;
inline constexpr int kFirstScratchVector = 28, kScratchVectors = 4;
/// v8 to v15, of which calls keep the low 64 bits only, so that values are saved around calls.
inline constexpr int kFirstKeptVector = 8, kLastKeptVector = 15;

}  // namespace rondo::native_code::aarch64
