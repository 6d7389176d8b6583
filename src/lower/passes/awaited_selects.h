// Selects that the trips of a loop wait for.
#pragma once

#include "lower/program.h"

namespace rondo::lower {

/// Notes in Op::bits of selects outside lanes that they are better branches (kAwaited): where the
/// predicate is known later than what is selected, and the next trip of a loop waits for it, in a
/// register or in memory. A processor goes on along the side that it predicts.
void mark_awaited_selects(Program& program);

}  // namespace rondo::lower
