#include "rondo/run_scope.h"

#include <atomic>
#include <utility>

namespace rondo {

struct RunScope::Entry {
  RunOptions options;  // merged with those of the enclosing scopes
  std::shared_ptr<Entry> outer;
  std::atomic<bool> ended{false};
};

namespace {

/// Whether this thread has made a scope: most have none, and check before each run.
constinit thread_local bool has_made_scopes = false;

/// The innermost scope of this thread. One that has ended, possibly on another thread, is skipped.
std::shared_ptr<RunScope::Entry>& innermost_run_scope() {
  thread_local std::shared_ptr<RunScope::Entry> innermost;
  while (innermost && innermost->ended.load(std::memory_order_acquire))
    innermost = std::shared_ptr<RunScope::Entry>(innermost->outer);
  return innermost;
}

}  // namespace

namespace detail {

RunOptions merged(const RunOptions& outer, const RunOptions& inner) {
  RunOptions both = inner;
  if (!both.max_iterations) both.max_iterations = outer.max_iterations;
  if (!both.deadline) both.deadline = outer.deadline;
  if (!both.stop_token.stop_possible()) both.stop_token = outer.stop_token;
  if (!both.on_progress) both.on_progress = outer.on_progress;
  if (!both.on_tap) both.on_tap = outer.on_tap;
  if (!both.threads) both.threads = outer.threads;
  both.check_finite = both.check_finite || outer.check_finite;
  both.check_bounds = both.check_bounds || outer.check_bounds;
  if (!both.stats) both.stats = outer.stats;
  if (!both.profile) both.profile = outer.profile;
  return both;
}

const RunOptions* scoped_run_options() noexcept {
  if (!has_made_scopes) return nullptr;
  const auto& innermost = innermost_run_scope();
  return innermost ? &innermost->options : nullptr;
}

}  // namespace detail

RunScope::RunScope(RunOptions options) : entry_(std::make_shared<Entry>()) {
  std::shared_ptr<Entry>& innermost = innermost_run_scope();
  entry_->options = innermost ? detail::merged(innermost->options, options) : std::move(options);
  entry_->outer = innermost;
  innermost = entry_;
  has_made_scopes = true;
}

RunScope::~RunScope() {
  entry_->ended.store(true, std::memory_order_release);
  innermost_run_scope();
}

}  // namespace rondo
