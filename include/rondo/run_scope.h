// Run options that hold for all evaluation on a thread.
#pragma once

#include <memory>

#include "rondo/execute.h"

namespace rondo {

namespace detail {

/// `inner` where it says something, else `outer`.
RONDO_API RunOptions merged(const RunOptions& outer, const RunOptions& inner);
/// What the innermost RunScope of this thread says, with those around it; null without one.
RONDO_API const RunOptions* scoped_run_options() noexcept;

}  // namespace detail

/// While it lives, its options hold for each run on its thread: eval() and item() of lazy tensors,
/// jitted calls, Executable::run. Each run is one of its own: a deadline counts from its start.
/// Scopes nest, and what a call says for itself goes first. A scope that is destroyed on another
/// thread ends as well.
///
///     rondo::RunScope scope({.deadline = 2s, .on_tap = show});
class RONDO_API RunScope {
 public:
  explicit RunScope(RunOptions options);
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  struct Entry;

 private:
  std::shared_ptr<Entry> entry_;
};

}  // namespace rondo
