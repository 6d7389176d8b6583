// Run options for all evaluation on a thread.
#pragma once

#include <memory>

#include "rondo/detail/run_scope.h"
#include "rondo/export.h"
#include "rondo/run_options.h"

namespace rondo {

/// While one exists, its options apply to each run on its thread: eval() and item() of lazy
/// tensors, jitted calls, Executable::run. Each run counts separately: a deadline starts with the
/// run. Scopes nest, and options of a call take precedence. A scope may be destroyed on another
/// thread.
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
