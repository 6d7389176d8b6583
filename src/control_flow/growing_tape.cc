// Reverse mode through a while of unknown length, for programs that run on this machine: two loops,
// one after the other. The first keeps residuals on a tape that grows, for as many trips as fit the
// memory that a tape may take; most loops end there. The second one goes on from its carry with a
// few slots. In programs for other targets the first one makes no trips (passes/growing_tapes.h).
#include <functional>
#include <memory>
#include <utility>

#include "control_flow/loop_derivatives.h"
#include "control_flow/max_trip_lane.h"
#include "ir/region.h"
#include "ir/region_facts.h"

namespace rondo::control_flow {

namespace {

// Threshold: Rows for each slot from which a tape is worth a second loop: with fewer, the slots
// take as much memory. Not measured.
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
  // A loop or branch around it could not keep the tape. A value outside all traces is evaluated
  // step by step, where a tape would be the argument of a program. Of lanes with different numbers
  // of trips the second loop would have carries by lane that they share in one loop. And what the
  // condition tells the outside would be told once more.
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
