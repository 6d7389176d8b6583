// The partial result of a run that was stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rondo/error.h"
#include "rondo/literal.h"

namespace rondo {

/// A run that a limit or a stop token ended, with the state of its outermost loop, from which the
/// loop can continue. Within a trip a loop has no meaningful state; a run that ends there returns
/// the last state that was kept between trips. States of up to 64 kB are kept after each trip, or
/// after some trips that take about a millisecond together; larger ones as often as their copies
/// cost a twentieth of the time.
class RONDO_API Interrupted : public ExecutionError {
 public:
  /// The path of each leaf in the loop's state, and its value.
  using Carry = std::vector<std::pair<std::string, Literal>>;

  Interrupted(const std::string& message, SourceLocation at, std::string loop, std::int64_t trip,
              Carry carry);
  ~Interrupted() override;

  /// The outermost loop's name; empty if it has none, and if the run was in no loop.
  const std::string& loop() const noexcept { return state_->loop; }
  /// The number of trips after which the loop was in that state; 0 if the run was in no loop.
  std::int64_t trip() const noexcept { return state_->trip; }
  /// The state: the leaves of the loop's carry in order. Leaves that the compiled program has
  /// removed are missing: those that no trip changes, and those that nothing depends on. A program
  /// compiled with {.optimize = false} has them all.
  const Carry& carry() const noexcept { return state_->carry; }

 private:
  struct State {
    std::string loop;
    std::int64_t trip;
    Carry carry;
  };
  std::shared_ptr<const State> state_;  // copies of an exception must not throw
};

/// By RunOptions::stop_token.
class RONDO_API Stopped : public Interrupted {
 public:
  using Interrupted::Interrupted;
  ~Stopped() override;
};

/// By RunOptions::deadline.
class RONDO_API DeadlineExceeded : public Interrupted {
 public:
  using Interrupted::Interrupted;
  ~DeadlineExceeded() override;
};

/// By RunOptions::max_iterations.
class RONDO_API TooManyIterations : public Interrupted {
 public:
  using Interrupted::Interrupted;
  ~TooManyIterations() override;
};

}  // namespace rondo
