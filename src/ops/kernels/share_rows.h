// Distributes rows of a kernel over threads.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ir/kernel.h"

namespace rondo::ops {

/// Calls f(first, end, host) until it has processed rows 0 to `rows` - 1, on the threads that the
/// host allows if they are much work. `work`: of a row, in units of a Poller. f polls the host that
/// it receives, and calls no regions. Its result for a row must depend on that row alone.
void share_rows(std::int64_t rows, std::int64_t work, ir::Host& host,
                absl::FunctionRef<void(std::int64_t first, std::int64_t end, ir::Host& host)> f);

}  // namespace rondo::ops
