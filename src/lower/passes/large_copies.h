// Large copies as loops, which can be divided as loops are.
#pragma once

#include <cstdint>

#include "lower/program.h"

namespace rondo::lower {

/// The program with lanes in the place of its copies of at least so many bytes.
Program with_copies_in_lanes(const Program& program, std::int64_t least_bytes);

}  // namespace rondo::lower
