// Rows that a kernel may compute at once.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ir/kernel.h"

namespace rondo::ops {

/// Calls f(first, end, host) until it has had rows 0 to `rows` - 1, on the threads that the host
/// allows where they are much work. `work`: of a row, as a Poller counts it. f polls the host that
/// it is given, and calls no regions. What it makes of a row depends on that row alone.
void share_rows(std::int64_t rows, std::int64_t work, ir::Host& host,
                absl::FunctionRef<void(std::int64_t first, std::int64_t end, ir::Host& host)> f);

}  // namespace rondo::ops
