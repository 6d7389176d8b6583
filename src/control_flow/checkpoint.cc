#include "control_flow/checkpoint.h"

#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::control_flow {

void check_slots(const std::string& what, const Checkpoint& policy, SourceLocation at) {
  using Policy = Checkpoint::Policy;
  const bool by_slots = policy.policy == Policy::kOnline || policy.policy == Policy::kRevolve;
  if (!by_slots && policy.policy != Policy::kPeriodic) return;
  constexpr std::int64_t kMostSlots = 30'000;
  if (policy.slots >= 1 && (!by_slots || policy.slots <= kMostSlots)) return;
  throw TraceError(
      by_slots
          ? fmt::format("{}: a checkpoint policy with {} slots\n  at {}\n  Give from 1 to {}: "
                        "each keeps one state of the loop.",
                        what, policy.slots, at.str(), kMostSlots)
          : fmt::format("{}: the checkpoint policy periodic({})\n  at {}\n  Give a period of 1 "
                        "or more: every p-th state of the loop is kept.",
                        what, policy.slots, at.str()),
      at);
}

void refuse_reverse(const std::string& what, SourceLocation at) {
  throw TraceError(
      fmt::format(
          "{}: a reverse derivative is asked for, and its checkpoint policy is none()\n  at "
          "{}\n  Give another policy, differentiate in forward mode (jvp, jacfwd), or pass "
          "the loop's inputs through rondo::stop_gradient.",
          what, at.str()),
      at);
}

}  // namespace rondo::control_flow
