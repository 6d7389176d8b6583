// Replaces large copies with loops, which can be split as other loops are.
#pragma once

#include <cstdint>

#include "lower/program.h"

namespace rondo::lower {

/// The program with lanes in place of its copies of at least so many bytes.
Program with_copies_in_lanes(const Program& program, std::int64_t least_bytes);

}  // namespace rondo::lower
