// Reverse mode through a while with stacked residuals, one row per trip; the backward pass reads
// the rows that were written. The rows are an array if the number of trips is promised, else a
// growing tape.
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "control_flow/carry.h"
#include "control_flow/extend.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/max_trip_lane.h"
#include "control_flow/scan.h"
#include "control_flow/tape.h"
#include "ir/function_data.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

struct WhileTape {
  JointBody joint;
  SplitBody split;
  WhileAttributes attributes;
  std::size_t carries;
  std::vector<Tensor> init, invariants, stacks;
  std::optional<std::int64_t> limit;  // rows
  BackwardTrips trips;
  std::vector<Tensor> last;  // the carries after the last trip
  SourceLocation at;

  /// A fori_loop of unknown length is a while too.
  std::string called() const { return construct_name("loop", attributes.name); }
  Tensor read(const Tensor& stack, const Tensor& trip) const {
    if (limit && *limit == 0) return zeros(slice_type(stack.type(), 0), at);  // no trip reads it
    return limit ? read_slice(stack, trip, 0, at) : tape_read(stack, trip, called());
  }
  Tensor written(const Tensor& stack, const Tensor& row, const Tensor& trip) const {
    if (!limit) return tape_write(stack, row, trip, called());
    return *limit > 0 ? write_slice(stack, row, trip, 0, at) : stack;
  }

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const {
    Leaves init_leaves{{trips.count()}, {"g"}};
    append_tensors(init_leaves.values, joint.of_results(cotangents, 0, carries));
    append_tensors(init_leaves.values, joint.take_sums(of_operands));
    while (init_leaves.paths.size() < init_leaves.values.size())
      init_leaves.paths.push_back("ct" + std::to_string(init_leaves.paths.size() - 1));
    const std::size_t first_next = init_leaves.values.size();
    for (const SplitBody::Next& next : split.next) {
      init_leaves.values.push_back(last[next.carry]);
      init_leaves.paths.push_back("next" + std::to_string(next.carry));
    }
    const std::size_t first_undone = init_leaves.values.size();
    for (const std::size_t carry : joint.undone) {
      init_leaves.values.push_back(last[carry]);
      init_leaves.paths.push_back("undone" + std::to_string(carry));
    }
    const RegionCallable more = [&](std::span<const Tensor> leaves) {
      return Leaves{{leaves[0] > 0}, {"condition"}};
    };
    const RegionCallable one_back = [&](std::span<const Tensor> leaves) {
      const Tensor trip = leaves[0] - 1;
      std::vector<Tensor> rows;
      for (const Tensor& stack : stacks) rows.push_back(read(stack, trip));
      const auto step = [&](std::span<const Tensor> now) {
        std::vector<Tensor> all = rows;
        append_tensors(all, now.subspan(first_next - 1, split.next.size()));
        append_tensors(all, invariants);
        append_tensors(all, now.first(first_next - 1));
        append_tensors(all, now.subspan(first_undone - 1));
        const std::vector<Tensor> pulled = ir::Replay::inline_call(split.backward, all);
        const auto undone = pulled.begin() + static_cast<std::ptrdiff_t>(joint.given.size());
        std::vector<Tensor> before(pulled.begin(), undone);
        for (const SplitBody::Next& next : split.next) before.push_back(rows[next.residual]);
        before.insert(before.end(), undone, pulled.end());
        return before;
      };
      Leaves out{{trip}, init_leaves.paths};
      append_tensors(out.values, trips.from_own_last(trip, leaves.subspan(1), step));
      return out;
    };
    WhileAttributes back;
    back.name = (attributes.name.empty() ? "while" : attributes.name) + "_gradient";
    const std::vector<Tensor> first = traced_while(more, one_back, init_leaves, back, at);
    joint.add(std::span(first).subspan(1, joint.given.size()), of_operands);
    for (std::size_t k = 0; k < joint.undone.size(); k++) {
      const std::size_t i = joint.undone[k];
      of_operands.tell({init[i], last[i], first[first_undone + k]});
    }
  }
};

}  // namespace

ir::Reverse reverse_with_tape(const WhileProblem& problem, std::optional<std::int64_t> limit,
                              ir::Derivatives& derivatives, std::optional<std::int64_t> rows) {
  auto tape = std::make_shared<WhileTape>();
  tape->joint = problem.joint;
  tape->attributes = problem.attributes;
  tape->carries = problem.carries;
  tape->limit = limit;
  tape->at = problem.at;
  append_tensors(tape->init, problem.carry());
  append_tensors(tape->invariants, problem.invariants());
  std::vector<Availability> availability(problem.operands.size(), Availability::kInvariant);
  std::fill_n(availability.begin(), problem.carries, Availability::kUnavailable);
  tape->split = split_loop_body(tape->joint, availability, problem.carries, derivatives);

  // Further carries: the trip number, and the residuals of the trips so far.
  const std::size_t carries = problem.carries, stacks = tape->split.residuals.size();
  const bool long_loop = !limit || *limit > std::numeric_limits<std::int32_t>::max();
  Extension more;
  more.carries = {{zeros({long_loop ? DType::kS64 : DType::kS32, {}})}, {"trip"}};
  for (std::size_t i = 0; i < stacks; i++) {
    const TensorType& row = tape->split.residuals[i];
    more.carries.values.push_back(limit ? residual_rows(stacked_type(row, 0, *limit), problem.at)
                                        : empty_tape(row));
    more.carries.paths.push_back("residual" + std::to_string(i));
  }
  const ExtendedBody trip = [&](const ExtendedParameters& given) {
    const std::vector<Tensor> now = ir::Replay::inline_call(tape->split.forward, given.own);
    const Tensor& k = given.carries[0];
    ExtendedResults out{
        {now.begin(), now.begin() + static_cast<std::ptrdiff_t>(carries)}, {k + 1}, {}};
    for (std::size_t i = 0; i < stacks; i++)
      out.carries.push_back(tape->written(given.carries[1 + i], now[carries + i], k));
    return out;
  };
  const Residuals residuals{Checkpoint::tape(), static_cast<std::int64_t>(stacks),
                            tape->split.residual_bytes() * limit.value_or(1), rows.has_value()};
  ir::RegionLayout layout = *ir::region_layout(&problem.node);
  layout.residuals = &residuals;
  const ExtendedCondition has_room = [&](const ExtendedParameters& given) {
    return (given.carries[0] < *rows) &
           ir::Replay::inline_call(problem.node.regions[0], given.own)[0];
  };
  ExtendedResults last =
      extend(layout, problem.operands, more, trip, rows ? has_room : ExtendedCondition());
  tape->trips = BackwardTrips(last.carries[0]);
  tape->stacks.assign(last.carries.begin() + 1, last.carries.end());
  tape->last = last.own;
  return {std::move(last.own), std::bind_front(&WhileTape::pull_back, tape)};
}

}  // namespace rondo::control_flow
