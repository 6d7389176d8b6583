// Random programs on all executors.
#pragma once

#include <cstdint>

#include "support/program.h"

namespace rondo::testing {

/// The random program of this seed gives the same bits optimised, as traced, lazily, and under an
/// EagerScope. A failure prints the seed and the program, reduced to the result that differs.
void expect_consistent(std::uint64_t seed, const ProgramSize& size = {});

/// It gives the same results in XLA, from both text forms.
void expect_program_same_as_xla(std::uint64_t seed, const ProgramSize& size = {});

}  // namespace rondo::testing
