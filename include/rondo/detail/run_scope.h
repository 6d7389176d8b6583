// The options that apply to a run.
#pragma once

#include "rondo/export.h"
#include "rondo/run_options.h"

namespace rondo::detail {

/// The options of `inner` that are set, and those of `outer` for the rest.
RONDO_API RunOptions merged(const RunOptions& outer, const RunOptions& inner);
/// The options of the innermost RunScope of this thread, merged with enclosing ones; null without
/// one.
RONDO_API const RunOptions* scoped_run_options() noexcept;

}  // namespace rondo::detail
