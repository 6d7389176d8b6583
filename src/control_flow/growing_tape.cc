// Reverse mode through a while of unknown length, for programs that run on the host: two loops in
// sequence. The first keeps residuals on a growing tape, for as many trips as the memory limit of a
// tape allows; most loops end there. The second continues from its carry with a few slots. In
// programs for other targets the first loop makes no trips (passes/growing_tapes.h).
#include <functional>
#include <memory>
#include <utility>

#include "control_flow/loop_derivatives.h"
#include "control_flow/max_trip_lane.h"
#include "ir/region.h"
#include "ir/region_facts.h"

namespace rondo::control_flow {

namespace {

// Threshold: Rows per slot from which a tape is worth a second loop: with fewer, the slots take as
// much memory. Not measured.
constexpr std::int64_t kLeastRowsPerSlot = 4;

struct TwoLoops {
  ir::Reverse first, second;
  std::size_t carries;

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const {
    std::vector<ir::CotangentSum> between(carries);
    ir::Cotangents of_second(between);
    for (std::size_t i = carries; i < of_operands.size(); i++) of_second.append(of_operands[i]);
    second.pullback(cotangents, of_second);
    std::vector<Tensor> of_first;
    for (ir::CotangentSum& sum : between) of_first.push_back(sum.take());
    first.pullback(of_first, of_operands);
  }
};

}  // namespace

std::optional<std::int64_t> growing_tape_rows(const ir::ReverseCall& call, std::int64_t per_trip) {
  // No growing tape in these cases. An enclosing loop or branch could not keep it. A value outside
  // all traces is evaluated step by step, where the tape would be the argument of a program. If
  // lanes make different numbers of trips, the second loop would have carries that differ by lane
  // although they share one loop. And an observer in the condition would report twice.
  if (derives_a_region() || !ir::tracing() || traced_for_lanes() ||
      ir::observes(call.node.regions[0]))
    return std::nullopt;
  const std::int64_t rows = kAutomaticTapeBytes / per_trip;
  return rows >= kLeastRowsPerSlot * kAutomaticSlots ? std::optional(rows) : std::nullopt;
}

ir::Reverse reverse_growing(const WhileProblem& problem, std::int64_t rows,
                            ir::Derivatives& derivatives) {
  auto loops = std::make_shared<TwoLoops>();
  loops->carries = problem.carries;
  loops->first = reverse_with_tape(problem, std::nullopt, derivatives, rows);
  WhileProblem rest = problem;
  rest.operands = loops->first.results;
  append_tensors(rest.operands, problem.invariants());
  loops->second = reverse_online(rest, kAutomaticSlots, derivatives);
  return {loops->second.results, std::bind_front(&TwoLoops::pull_back, loops)};
}

}  // namespace rondo::control_flow
