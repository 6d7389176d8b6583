// Values that a trip loads and the trip before it has stored.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Carries what each trip of an innermost counted loop stores and the next one loads, as in
/// update(x, i, x[i - 1] + x[i]): a register in place of memory, which a load after a store waits
/// for.
void forward_stores(Program& program);

}  // namespace rondo::lower
