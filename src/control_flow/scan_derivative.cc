#include "control_flow/scan_derivative.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "control_flow/call.h"
#include "control_flow/carry.h"
#include "control_flow/scan.h"
#include "control_flow/split.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "rondo/gradients.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

using ir::Flags;

/// The operands of a scan by what they are.
struct ScanParts {
  const ScanAttributes& attributes;
  std::size_t carries, xs, ys, operands;

  explicit ScanParts(const ir::Node& node)
      : attributes(node.attrs<ScanAttributes>()),
        carries(static_cast<std::size_t>(attributes.carries)),
        xs(static_cast<std::size_t>(attributes.xs)),
        ys(node.types.size() - carries),
        operands(node.operands.size()) {}
  bool is_carry(std::size_t i) const { return i < carries; }
  bool is_x(std::size_t i) const { return i >= carries && i < carries + xs; }
  bool is_invariant(std::size_t i) const { return i >= carries + xs; }
};

std::vector<Tensor> moved_axis(std::span<const Tensor> values, std::int64_t from, std::int64_t to) {
  std::vector<Tensor> moved;
  for (const Tensor& value : values) {
    std::vector<std::int64_t> order;
    for (std::int64_t axis = 0; axis < value.rank(); axis++) {
      if (axis != from) order.push_back(axis);
    }
    order.insert(order.begin() + to, from);
    moved.push_back(transpose(value, order));
  }
  return moved;
}

/// The same scan along axis 0 of arrays whose axes are moved.
std::vector<Tensor> scan_along_first_axis(const ir::Node& node, std::span<const Tensor> operands) {
  const ScanParts parts(node);
  ScanAttributes attributes = parts.attributes;
  const std::int64_t axis = std::exchange(attributes.axis, 0);
  ir::Operands moved(operands.begin(), operands.end());
  const std::vector<Tensor> xs = moved_axis(operands.subspan(parts.carries, parts.xs), axis, 0);
  std::copy(xs.begin(), xs.end(), moved.begin() + static_cast<std::ptrdiff_t>(parts.carries));
  std::vector<Tensor> results =
      ir::make_many(kScan, std::move(moved), attributes, node.location(), node.regions);
  const std::vector<Tensor> ys =
      moved_axis(std::span<const Tensor>(results).subspan(parts.carries), 0, axis);
  std::copy(ys.begin(), ys.end(), results.begin() + static_cast<std::ptrdiff_t>(parts.carries));
  return results;
}

std::vector<std::string> paths(const char* root, std::size_t count) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; i++) all.push_back(fmt::format("{}[{}]", root, i));
  return all;
}

void append(std::vector<Tensor>& to, std::span<const Tensor> more) {
  to.insert(to.end(), more.begin(), more.end());
}

ScanOptions options_like(const ScanAttributes& attributes) {
  ScanOptions options;
  options.length = attributes.length;
  options.reverse = attributes.reverse;
  options.unroll = attributes.unroll;
  options.axis = attributes.axis;
  options.checkpoint = attributes.checkpoint;
  options.name = attributes.name;
  return options;
}

/// Every `period`-th carry is kept: a scan of checkpointed scans, and the trips left over.
std::vector<Tensor> scan_by_periods(const ir::Node& node, std::span<const Tensor> operands) {
  const ScanParts parts(node);
  const ScanAttributes& a = parts.attributes;
  const SourceLocation at = node.location();
  const std::int64_t period =
      std::clamp<std::int64_t>(a.checkpoint.slots, 1, std::max<std::int64_t>(a.length, 1));
  const std::int64_t whole = a.length / period, rest = a.length - whole * period;
  const std::span<const Tensor> xs = operands.subspan(parts.carries, parts.xs);
  const std::span<const Tensor> invariants = operands.subspan(parts.carries + parts.xs);
  // Reverse scans begin with the last element, so that the odd trips are the first elements.
  const std::int64_t whole_from = a.reverse ? rest : 0, rest_from = a.reverse ? 0 : whole * period;
  const auto part = [&](const Tensor& x, std::int64_t from, std::int64_t length) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(x.rank()), 0);
    std::vector<std::int64_t> limits = x.shape().vector();
    starts[0] = from;
    limits[0] = from + length;
    return slice(x, starts, limits);
  };
  const auto inner = [&](std::span<const Tensor> carry, std::span<const Tensor> given,
                         std::int64_t length) {
    ScanAttributes attributes = a;
    attributes.length = length;
    attributes.checkpoint = Checkpoint::tape();
    ir::Operands all(carry.begin(), carry.end());
    all.insert(all.end(), given.begin(), given.end());
    all.insert(all.end(), invariants.begin(), invariants.end());
    return ir::make_many(kScan, std::move(all), attributes, at, node.regions);
  };
  std::vector<Tensor> segments;
  for (const Tensor& x : xs) {
    std::vector<std::int64_t> dims = x.shape().vector();
    dims[0] = period;
    dims.insert(dims.begin(), whole);
    segments.push_back(reshape(part(x, whole_from, whole * period), dims));
  }
  const RegionCallable segment = [&](std::span<const Tensor> leaves) {
    const RegionCallable run = [&](std::span<const Tensor> given) {
      Leaves out{inner(given.first(parts.carries), given.subspan(parts.carries), period), {}};
      out.paths = paths("result", out.values.size());
      return out;
    };
    Leaves out{
        detail::checkpoint(run, {{leaves.begin(), leaves.end()}, paths("p", leaves.size())}, at),
        {}};
    out.paths = paths("carry", parts.carries);
    const std::vector<std::string> ys = paths("y", parts.ys);
    out.paths.insert(out.paths.end(), ys.begin(), ys.end());
    return out;
  };
  ScanOptions options = options_like(a);
  options.length = whole;
  options.unroll = 1;
  options.checkpoint = Checkpoint::tape();
  std::vector<Tensor> results = detail::scan(
      segment, {{operands.begin(), operands.begin() + a.carries}, paths("carry", parts.carries)},
      {segments, paths("xs", parts.xs)}, options, at);
  for (std::size_t y = parts.carries; y < results.size(); y++)
    results[y] = reshape(
        results[y],
        stacked_type(node.regions[0].outputs()[y].type(), 0, whole * period).shape.vector());
  if (rest == 0) return results;
  std::vector<Tensor> left;
  for (const Tensor& x : xs) left.push_back(part(x, rest_from, rest));
  std::vector<Tensor> last =
      inner(std::span<const Tensor>(results).first(parts.carries), left, rest);
  for (std::size_t y = parts.carries; y < results.size(); y++) {
    last[y] = a.reverse ? concatenate({last[y], results[y]}, 0, at)
                        : concatenate({results[y], last[y]}, 0, at);
  }
  return last;
}

std::vector<Tensor> scan_as_while(const ir::Node& node, std::span<const Tensor> operands) {
  ScanAttributes attributes = node.attrs<ScanAttributes>();
  attributes.unroll = 1;
  const Tensor plain = ir::make_typed(kScan, ir::Operands(operands.begin(), operands.end()),
                                      attributes, node.types, node.location(), node.regions);
  return kScan.expand(*plain.node(), operands);
}

/// The backward pass of a scan that stacked its residuals.
struct ScanTape {
  ScanAttributes attributes;
  std::size_t carries, xs;
  SourceLocation at;
  JointBody joint;
  SplitBody split;
  std::vector<Tensor> stacks;      // residuals
  std::vector<Tensor> arrays;      // xs
  std::vector<Tensor> invariants;  // operands
  std::vector<Tensor> last;        // the carries after the last trip, for `split.next`
  std::vector<TensorType> results;

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const {
    // Carry: the cotangents of carries, then the sums of those of invariants, then `split.next`.
    Leaves init{joint.of_results(cotangents, 0, carries), {}}, rows{stacks, {}};
    const std::size_t active_carries = init.values.size();
    append(init.values, joint.take_sums(of_operands));
    const std::size_t first_next = init.values.size(), sums = first_next - active_carries;
    for (const SplitBody::Next& next : split.next) init.values.push_back(last[next.carry]);
    append(rows.values, arrays);
    const std::size_t first_ct = rows.values.size();
    for (std::size_t i = carries; i < results.size(); i++) {
      if (joint.active[i]) rows.values.push_back(ir::full_tangent(cotangents[i], results[i]));
    }
    init.paths = paths("carry", init.values.size());
    rows.paths = paths("xs", rows.values.size());
    const RegionCallable body = [&](std::span<const Tensor> leaves) {
      const std::span<const Tensor> carry = leaves.first(init.values.size());
      const std::span<const Tensor> row = leaves.subspan(init.values.size());
      std::vector<Tensor> arguments(row.begin(),
                                    row.begin() + static_cast<std::ptrdiff_t>(stacks.size()));
      append(arguments, carry.subspan(first_next));
      append(arguments, row.subspan(stacks.size(), arrays.size()));
      append(arguments, invariants);
      append(arguments, carry.first(active_carries));
      append(arguments, row.subspan(first_ct));
      append(arguments, carry.subspan(active_carries, sums));
      const std::vector<Tensor> pulled = ir::Replay::inline_call(split.backward, arguments);
      Leaves out;
      std::vector<Tensor> of_xs;
      for (std::size_t k = 0; k < joint.given.size(); k++) {
        const std::size_t i = joint.given[k];
        (i >= carries && i < carries + xs ? of_xs : out.values).push_back(pulled[k]);
      }
      for (const SplitBody::Next& next : split.next) out.values.push_back(row[next.residual]);
      out.paths = init.paths;
      append(out.values, of_xs);
      const std::vector<std::string> names = paths("y", of_xs.size());
      out.paths.insert(out.paths.end(), names.begin(), names.end());
      return out;
    };
    ScanOptions options = options_like(attributes);
    options.reverse = !attributes.reverse;
    options.axis = 0;
    options.name = (attributes.name.empty() ? "scan" : attributes.name) + "_gradient";
    const std::vector<Tensor> given = detail::scan(body, init, rows, options, at);
    // The rows' cotangents are ys, and stand last.
    std::size_t carry = 0, row = init.values.size();
    for (const std::size_t i : joint.given)
      of_operands.add(i, given[i >= carries && i < carries + xs ? row++ : carry++]);
  }
};

}  // namespace

ir::Reverse scan_reverse(const ir::ReverseCall& call) {
  const ScanParts parts(call.node);
  const ScanAttributes& attributes = parts.attributes;
  if (attributes.axis != 0) return call.derivatives.reverse_expanded(call, scan_along_first_axis);
  switch (attributes.checkpoint.policy) {
    case Checkpoint::Policy::kPeriodic:
      if (attributes.checkpoint.slots < attributes.length)
        return call.derivatives.reverse_expanded(call, scan_by_periods);
      break;
    case Checkpoint::Policy::kOnline:
    case Checkpoint::Policy::kRevolve:
      if (attributes.checkpoint.slots < attributes.length)
        return call.derivatives.reverse_expanded(call, scan_as_while);
      break;
    case Checkpoint::Policy::kNone:
      refuse_reverse(construct_name("scan", attributes.name), call.at());
    default:
      break;
  }
  const Function& body = call.node.regions[0];
  const ActiveCarries flags =
      active_carries(body, 0, parts.carries, call.perturbed, call.active, call.derivatives);
  Flags always(parts.operands);
  for (std::size_t i = 0; i < parts.carries; i++) always[i] = flags.active[i];
  Flags summed(parts.operands);
  for (std::size_t i = 0; i < parts.operands; i++) summed[i] = parts.is_invariant(i);
  auto tape = std::make_shared<ScanTape>();
  tape->attributes = attributes;
  tape->carries = parts.carries;
  tape->xs = parts.xs;
  tape->at = call.at();
  tape->joint =
      joint_body(body, flags.perturbed, flags.active, always, summed, call.derivatives, call.at());
  std::vector<Availability> availability(parts.operands, Availability::kInvariant);
  std::fill_n(availability.begin(), parts.carries, Availability::kUnavailable);
  std::fill_n(availability.begin() + static_cast<std::ptrdiff_t>(parts.carries), parts.xs,
              Availability::kAvailable);
  tape->split = split_body(tape->joint, availability, parts.carries, parts.carries);
  tape->results.assign(call.node.types.begin(), call.node.types.end());
  append(tape->arrays, call.operands.subspan(parts.carries, parts.xs));
  append(tape->invariants, call.operands.subspan(parts.carries + parts.xs));
  const std::vector<std::int64_t>& same = tape->split.result_of_residual;
  Residuals residuals{Checkpoint::tape()};
  for (std::size_t i = 0; i < same.size(); i++) {
    if (same[i] >= attributes.carries) continue;
    residuals.arrays++;
    residuals.bytes += tape->split.residuals[i].bytes() * attributes.length;
  }
  if (attributes.checkpoint.policy == Checkpoint::Policy::kAutomatic &&
      residuals.bytes > kAutomaticTapeBytes && attributes.length > kAutomaticSlots) {
    ScanAttributes by_slots = attributes;
    by_slots.checkpoint = Checkpoint::revolve(kAutomaticSlots);
    const Tensor changed = ir::make_typed(kScan, call.node.operands, by_slots, call.node.types,
                                          call.at(), call.node.regions);
    return call.derivatives.reverse_expanded({*changed.node(), call.operands, call.perturbed,
                                              call.active, call.summed, call.derivatives},
                                             scan_as_while);
  }
  ScanAttributes forward = attributes;
  forward.residuals = residuals;
  std::vector<Tensor> results =
      ir::make_many(kScan, ir::Operands(call.operands.begin(), call.operands.end()), forward,
                    call.at(), {tape->split.forward});
  const std::size_t own = parts.carries + parts.ys;
  for (std::size_t i = 0; i < tape->split.residuals.size(); i++) {
    const bool is_y = same[i] >= attributes.carries;
    tape->stacks.push_back(results[is_y ? static_cast<std::size_t>(same[i]) : own + i]);
  }
  results.resize(own);
  tape->last.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(parts.carries));
  return {std::move(results), std::bind_front(&ScanTape::pull_back, tape)};
}

}  // namespace rondo::control_flow
