#include "rondo/interrupted.h"

namespace rondo {

Interrupted::Interrupted(const std::string& message, SourceLocation at, std::string loop,
                         std::int64_t trip, Carry carry)
    : ExecutionError(message, at),
      state_(std::make_shared<const State>(State{std::move(loop), trip, std::move(carry)})) {}

// Defined here, so that a shared library has one type_info of each.
Interrupted::~Interrupted() = default;
Stopped::~Stopped() = default;
DeadlineExceeded::~DeadlineExceeded() = default;
TooManyIterations::~TooManyIterations() = default;

}  // namespace rondo
