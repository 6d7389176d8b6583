// C++ functions that machine code calls, on every processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lower/program.h"
#include "lower/run_frame.h"

namespace rondo::native_code {

/// kernel->run(buffers, *frame).
bool run_kernel(const lower::Kernel* kernel, std::byte* const* buffers,
                lower::RunFrame* frame) noexcept;

/// A function (f, area, lanes) noexcept: f of the f32 or f64 lanes in the bits of `lanes`, 0
/// elsewhere. The operands are at `area` and, of two, `area` + 64 bytes; the results go to `area` +
/// 128, up to 64 bytes.
const void* lanes_function(lower::Type type, bool two);

/// The remainder of two f32 or two f64.
const void* remainder_function(lower::Type type);

/// From f64 to f16 or bf16, which is given as f32: rounded once.
const void* narrowing_function(lower::Type to);

/// From s64, or u64, to f16 or bf16, which is given as f32: rounded once.
const void* narrowing_function(lower::Type to, bool of_unsigned);

}  // namespace rondo::native_code
