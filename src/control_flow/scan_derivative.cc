#include "control_flow/scan_derivative.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "control_flow/call.h"
#include "control_flow/carry.h"
#include "control_flow/loop_derivatives.h"
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

/// The operands of a scan by kind.
struct ScanParts {
  const ScanAttributes& attributes;
  std::size_t carries, xs, ys, operands;

  explicit ScanParts(const ir::Node& node)
      : attributes(node.attrs<ScanAttributes>()),
        carries(static_cast<std::size_t>(attributes.carries)),
        xs(static_cast<std::size_t>(attributes.xs)),
        ys(node.types.size() - carries),
        operands(node.operands.size()) {}
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

/// The same scan along axis 0, of arrays with moved axes.
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
  return {.length = attributes.length,
          .reverse = attributes.reverse,
          .unroll = attributes.unroll,
          .axis = attributes.axis,
          .checkpoint = attributes.checkpoint,
          .name = attributes.name};
}

Tensor part_of_rows(const Tensor& x, std::int64_t from, std::int64_t count) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(x.rank()), 0);
  std::vector<std::int64_t> limits = x.shape().vector();
  starts[0] = from;
  limits[0] = from + count;
  return slice(x, starts, limits);
}

/// The scan of `node` over some of the elements, from a given carry.
std::vector<Tensor> part_of_scan(const ir::Node& node, std::span<const Tensor> carry,
                                 std::span<const Tensor> xs, std::span<const Tensor> invariants,
                                 std::int64_t length) {
  ScanAttributes attributes = node.attrs<ScanAttributes>();
  attributes.length = length;
  attributes.checkpoint = Checkpoint::tape();
  ir::Operands all(carry.begin(), carry.end());
  all.insert(all.end(), xs.begin(), xs.end());
  all.insert(all.end(), invariants.begin(), invariants.end());
  return ir::make_many(kScan, std::move(all), attributes, node.location(), node.regions);
}

/// A scan over segments of `period` elements, each a checkpointed scan. `xs` are the elements of
/// whole segments.
std::vector<Tensor> scan_of_segments(const ir::Node& node, std::span<const Tensor> carry,
                                     std::span<const Tensor> xs, std::span<const Tensor> invariants,
                                     std::int64_t segments, std::int64_t period) {
  const ScanParts parts(node);
  const SourceLocation at = node.location();
  std::vector<Tensor> stacked;
  for (const Tensor& x : xs) {
    std::vector<std::int64_t> dims = x.shape().vector();
    dims[0] = period;
    dims.insert(dims.begin(), segments);
    stacked.push_back(reshape(x, dims));
  }
  const RegionCallable segment = [&](std::span<const Tensor> leaves) {
    const RegionCallable run = [&](std::span<const Tensor> given) {
      Leaves out{part_of_scan(node, given.first(parts.carries), given.subspan(parts.carries),
                              invariants, period),
                 {}};
      out.paths = paths("result", out.values.size());
      return out;
    };
    Leaves out{
        detail::checkpoint(run, {{leaves.begin(), leaves.end()}, paths("p", leaves.size())}, at),
        {}};
    out.paths = carry_paths(node.regions[0], 0, parts.carries);
    const std::vector<std::string> ys = paths("y", parts.ys);
    out.paths.insert(out.paths.end(), ys.begin(), ys.end());
    return out;
  };
  ScanOptions options = options_like(parts.attributes);
  options.length = segments;
  options.unroll = 1;
  options.checkpoint = Checkpoint::tape();
  std::vector<Tensor> results = detail::scan(
      segment, {{carry.begin(), carry.end()}, carry_paths(node.regions[0], 0, parts.carries)},
      {stacked, paths("xs", parts.xs)}, options, at);
  for (std::size_t y = parts.carries; y < results.size(); y++) {
    const TensorType& row = node.regions[0].outputs()[y].type();
    results[y] = reshape(results[y], stacked_type(row, 0, segments * period).shape.vector());
  }
  return results;
}

/// Keeps every `period`-th carry: a scan of checkpointed scans, then the remaining trips.
std::vector<Tensor> scan_by_periods(const ir::Node& node, std::span<const Tensor> operands) {
  const ScanParts parts(node);
  const ScanAttributes& a = parts.attributes;
  const std::int64_t period =
      std::clamp<std::int64_t>(a.checkpoint.slots, 1, std::max<std::int64_t>(a.length, 1));
  const std::int64_t segments = a.length / period, whole = segments * period,
                     rest = a.length - whole;
  const std::span<const Tensor> invariants = operands.subspan(parts.carries + parts.xs);
  // A reverse scan starts at the last element, so its remaining trips are the first elements.
  std::vector<Tensor> xs, left;
  for (const Tensor& x : operands.subspan(parts.carries, parts.xs)) {
    xs.push_back(part_of_rows(x, a.reverse ? rest : 0, whole));
    if (rest > 0) left.push_back(part_of_rows(x, a.reverse ? 0 : whole, rest));
  }
  std::vector<Tensor> results =
      scan_of_segments(node, operands.first(parts.carries), xs, invariants, segments, period);
  if (rest == 0) return results;
  std::vector<Tensor> last = part_of_scan(
      node, std::span<const Tensor>(results).first(parts.carries), left, invariants, rest);
  for (std::size_t y = parts.carries; y < results.size(); y++) {
    last[y] = a.reverse ? concatenate({last[y], results[y]}, 0, node.location())
                        : concatenate({results[y], last[y]}, 0, node.location());
  }
  return last;
}

std::vector<Tensor> scan_as_while(const ir::Node& node, std::span<const Tensor> operands) {
  ScanAttributes attributes = node.attrs<ScanAttributes>();
  attributes.unroll = 1;
  const Tensor plain = ir::make_typed(kScan, ir::Operands(operands.begin(), operands.end()),
                                      attributes, node.types, node.location(), node.regions);
  return kScan.expansion.rule(*plain.node(), operands);
}

/// The backward pass of a scan that stacked its residuals.
struct ScanTape {
  ScanAttributes attributes;
  std::size_t carries, xs;
  SourceLocation at;
  JointBody joint;
  SplitBody split;
  std::vector<Tensor> stacks;      // residuals
  std::vector<Tensor> first;       // the carries before the first trip
  std::vector<Tensor> arrays;      // xs
  std::vector<Tensor> invariants;  // operands
  std::vector<Tensor> last;        // the carries after the last trip
  std::vector<TensorType> results;

  /// The first of the carry: cotangents are named as the carries and invariants are whose they are.
  void name_cotangents(std::vector<std::string>& names) const {
    const std::vector<std::string> all =
        carry_paths(joint.function, 0, joint.parameters, "_cotangent");
    std::size_t at = 0;
    for (std::size_t i = 0; i < carries; i++)
      if (joint.active[i]) names[at++] = all[i];
    for (const std::size_t parameter : joint.given)
      if (joint.summed[parameter]) names[at++] = all[parameter];
  }

  void pull_back(std::span<const Tensor> cotangents, const ir::Cotangents& of_operands) const {
    // The carry: cotangents of the carries, sums of the cotangents of invariants, `split.next`,
    // `joint.undone`.
    Leaves init{joint.of_results(cotangents, 0, carries), {}}, rows{stacks, {}};
    const std::size_t active_carries = init.values.size();
    append(init.values, joint.take_sums(of_operands));
    const std::size_t first_next = init.values.size(), sums = first_next - active_carries;
    for (const SplitBody::Next& next : split.next) init.values.push_back(last[next.carry]);
    const std::size_t first_undone = init.values.size();
    for (const std::size_t carry : joint.undone) init.values.push_back(last[carry]);
    append(rows.values, arrays);
    const std::size_t first_ct = rows.values.size();
    for (std::size_t i = carries; i < results.size(); i++) {
      if (joint.active[i]) rows.values.push_back(ir::full_tangent(cotangents[i], results[i]));
    }
    init.paths = paths("carry", init.values.size());
    name_cotangents(init.paths);
    rows.paths = paths("xs", rows.values.size());
    const RegionCallable body = [&](std::span<const Tensor> leaves) {
      const std::span<const Tensor> carry = leaves.first(init.values.size());
      const std::span<const Tensor> row = leaves.subspan(init.values.size());
      std::vector<Tensor> arguments(row.begin(),
                                    row.begin() + static_cast<std::ptrdiff_t>(stacks.size()));
      append(arguments, carry.subspan(first_next, split.next.size()));
      append(arguments, row.subspan(stacks.size(), arrays.size()));
      append(arguments, invariants);
      append(arguments, carry.first(active_carries));
      append(arguments, row.subspan(first_ct));
      append(arguments, carry.subspan(active_carries, sums));
      append(arguments, carry.subspan(first_undone));
      const std::vector<Tensor> pulled = ir::Replay::inline_call(split.backward, arguments);
      Leaves out;
      std::vector<Tensor> of_xs;
      for (std::size_t k = 0; k < joint.given.size(); k++) {
        const std::size_t i = joint.given[k];
        (i >= carries && i < carries + xs ? of_xs : out.values).push_back(pulled[k]);
      }
      for (const SplitBody::Next& next : split.next) out.values.push_back(row[next.residual]);
      append(out.values, std::span(pulled).subspan(joint.given.size()));
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
    // The cotangents of the xs are ys, the last results.
    std::size_t carry = 0, row = init.values.size();
    for (const std::size_t i : joint.given)
      of_operands.add(i, given[i >= carries && i < carries + xs ? row++ : carry++]);
    for (std::size_t k = 0; k < joint.undone.size(); k++) {
      const std::size_t i = joint.undone[k];
      of_operands.tell({first[i], last[i], given[first_undone + k]});
    }
  }
};

/// The rule by which a scan is rewritten before it is differentiated; null for a scan that stacks
/// its residuals.
ir::ExpandRule rewriting(const ir::ReverseCall& call) {
  const auto& a = call.node.attrs<ScanAttributes>();
  if (a.axis != 0) return scan_along_first_axis;
  switch (a.checkpoint.policy) {
    case Checkpoint::Policy::kPeriodic:
      return a.checkpoint.slots < a.length ? scan_by_periods : nullptr;
    case Checkpoint::Policy::kOnline:
    case Checkpoint::Policy::kRevolve:
      return a.checkpoint.slots < a.length ? scan_as_while : nullptr;
    case Checkpoint::Policy::kNone:
      refuse_reverse(construct_name("scan", a.name), call.at());
    default:
      return nullptr;
  }
}

/// The forward and backward halves of the body. The stacks and the last carries follow from the
/// forward run.
std::shared_ptr<ScanTape> tape_of(const ir::ReverseCall& call, const ScanParts& parts) {
  const Function& body = call.node.regions[0];
  const ActiveCarries flags =
      active_carries(body, 0, parts.carries, call.perturbed, call.active, call.derivatives);
  Flags always(parts.operands), summed(parts.operands);
  for (std::size_t i = 0; i < parts.carries; i++) always[i] = flags.active[i];
  for (std::size_t i = 0; i < parts.operands; i++) summed[i] = parts.is_invariant(i);
  auto tape = std::make_shared<ScanTape>();
  tape->attributes = parts.attributes;
  tape->carries = parts.carries;
  tape->xs = parts.xs;
  tape->at = call.at();
  tape->joint =
      joint_body(body, flags.perturbed, flags.active, always, summed, call.derivatives, call.at());
  std::vector<Availability> availability(parts.operands, Availability::kInvariant);
  std::fill_n(availability.begin(), parts.carries, Availability::kUnavailable);
  std::fill_n(availability.begin() + static_cast<std::ptrdiff_t>(parts.carries), parts.xs,
              Availability::kAvailable);
  tape->split =
      split_loop_body(tape->joint, availability, parts.carries, call.derivatives, parts.carries);
  tape->results.assign(call.node.types.begin(), call.node.types.end());
  append(tape->first, call.operands.first(parts.carries));
  append(tape->arrays, call.operands.subspan(parts.carries, parts.xs));
  append(tape->invariants, call.operands.subspan(parts.carries + parts.xs));
  return tape;
}

/// The size of the stacks. A residual that is a y exists anyway.
Residuals residuals_of(const SplitBody& split, const ScanAttributes& attributes) {
  Residuals all{Checkpoint::tape()};
  for (std::size_t i = 0; i < split.residuals.size(); i++) {
    if (split.result_of_residual[i] >= attributes.carries) continue;
    all.arrays++;
    all.bytes += split.residuals[i].bytes() * attributes.length;
  }
  return all;
}

}  // namespace

ir::Reverse scan_reverse(const ir::ReverseCall& call) {
  if (const ir::ExpandRule rule = rewriting(call))
    return call.derivatives.reverse_expanded(call, rule);
  const ScanParts parts(call.node);
  const ScanAttributes& attributes = parts.attributes;
  const std::shared_ptr<ScanTape> tape = tape_of(call, parts);
  const Residuals residuals = residuals_of(tape->split, attributes);
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
    const std::int64_t same = tape->split.result_of_residual[i];
    const bool is_y = same >= attributes.carries;
    tape->stacks.push_back(results[is_y ? static_cast<std::size_t>(same) : own + i]);
  }
  results.resize(own);
  tape->last.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(parts.carries));
  return {std::move(results), std::bind_front(&ScanTape::pull_back, tape)};
}

}  // namespace rondo::control_flow
