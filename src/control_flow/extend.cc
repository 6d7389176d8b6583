#include "control_flow/extend.h"

#include <algorithm>
#include <string>
#include <utility>

#include "control_flow/scan.h"
#include "ir/function_data.h"

namespace rondo::control_flow {

namespace {

using ir::RegionLayout;

void add_all(std::vector<Tensor>& to, std::span<const Tensor> more) {
  to.insert(to.end(), more.begin(), more.end());
}

struct ParameterList {
  std::vector<TensorType> types;
  std::vector<std::string> names;
};

/// The parameters of the extended regions, without the invariants, which they capture.
ParameterList parameters_of(const RegionLayout& layout, std::span<const Tensor> operands,
                            const Extension& more) {
  const Function& body = layout.node->regions[layout.body()];
  const std::vector<std::string> names = body.param_names();
  ParameterList all;
  const auto add = [&](TensorType type, const std::string& name) {
    all.types.push_back(std::move(type));
    all.names.push_back(name);
  };
  for (std::size_t p = 0; p < layout.index; p++) {
    const bool is_given = p >= layout.first_given();
    add(is_given ? operands[layout.operand_of_param(p)].type() : body.parameters()[p].type(),
        names[p]);
  }
  for (std::size_t i = 0; i < more.arguments.values.size(); i++)
    add(more.arguments.values[i].type(), more.arguments.paths[i]);
  const std::span<const Tensor> carry = layout.carry_of(operands), xs = layout.xs_of(operands);
  for (std::size_t i = 0; i < carry.size(); i++) add(carry[i].type(), names[layout.index + i]);
  for (std::size_t i = 0; i < more.carries.values.size(); i++)
    add(more.carries.values[i].type(), more.carries.paths[i]);
  for (std::size_t i = 0; i < xs.size(); i++)
    add(slice_type(xs[i].type(), layout.axis), names[layout.index + carry.size() + i]);
  for (std::size_t i = 0; i < more.xs.values.size(); i++)
    add(slice_type(more.xs.values[i].type(), layout.axis), more.xs.paths[i]);
  return all;
}

ExtendedParameters taken_apart(const RegionLayout& layout, std::size_t region,
                               std::span<const Tensor> leaves, std::span<const Tensor> invariants,
                               const Extension& more) {
  const auto take = [&](std::size_t count) {
    const std::span<const Tensor> first = leaves.first(count);
    leaves = leaves.subspan(count);
    return first;
  };
  ExtendedParameters all{region, {}, {}, {}};
  add_all(all.own, take(layout.index));
  add_all(all.arguments, take(more.arguments.values.size()));
  add_all(all.own, take(layout.carries));
  add_all(all.carries, take(more.carries.values.size()));
  add_all(all.own, take(layout.xs));
  add_all(all.xs, take(more.xs.values.size()));
  add_all(all.own, invariants);
  return all;
}

/// In this order: the carry, the additional carries, the ys, the additional ys.
Leaves put_together(const RegionLayout& layout, const ExtendedResults& results,
                    const Extension& more, const std::vector<std::string>& names) {
  const std::span<const Tensor> own = results.own;
  Leaves all;
  const auto add = [&](std::span<const Tensor> values, auto name) {
    add_all(all.values, values);
    for (std::size_t i = 0; i < values.size(); i++) all.paths.push_back(name(i));
  };
  const auto own_name = [&](std::size_t i) { return i < names.size() ? names[i] : std::string(); };
  add(own.first(layout.carries), own_name);
  add(results.carries, [&](std::size_t i) { return more.carries.paths[i]; });
  add(own.subspan(layout.carries), [&](std::size_t i) { return own_name(layout.carries + i); });
  add(results.ys, [](std::size_t i) { return "y" + std::to_string(i); });
  return all;
}

ExtendedResults taken_apart(const RegionLayout& layout, std::span<const Tensor> results,
                            const Extension& more) {
  const auto take = [&](std::size_t count) {
    const std::span<const Tensor> first = results.first(count);
    results = results.subspan(count);
    return first;
  };
  ExtendedResults all;
  add_all(all.own, take(layout.carries));
  add_all(all.carries, take(more.carries.values.size()));
  add_all(all.own, take(layout.ys));
  add_all(all.ys, results);
  return all;
}

std::string region_text(const RegionLayout& layout, std::size_t region) {
  const std::string called =
      construct_name(std::string(layout.node->op->name).c_str(), std::string(layout.name));
  return (layout.is_body(region) ? "the body of " : "the condition of ") + called;
}

}  // namespace

ExtendedResults extend(const RegionLayout& layout, std::span<const Tensor> operands,
                       const Extension& more, const ExtendedBody& body,
                       const ExtendedCondition& condition) {
  const ir::Node& node = *layout.node;
  const SourceLocation at = node.location();
  const ParameterList parameters = parameters_of(layout, operands, more);
  std::vector<ir::OpenRegion> regions;
  for (std::size_t k = 0; k < node.regions.size(); k++) {
    const Function& region = node.regions[k];
    const RegionCallable traced = [&](std::span<const Tensor> leaves) {
      const ExtendedParameters given =
          taken_apart(layout, k, leaves, layout.invariants_of(operands), more);
      if (layout.is_body(k)) return put_together(layout, body(given), more, region.result_names());
      if (condition) return Leaves{{condition(given)}, region.result_names()};
      return Leaves{ir::Replay::inline_call(region, given.own), region.result_names()};
    };
    RegionTrace trace(region.name(), region_text(layout, k), parameters.types, parameters.names,
                      traced, at);
    regions.push_back(trace.finish());
  }
  RegionLayout extended = layout;
  extended.fixed += more.arguments.values.size();
  extended.index += more.arguments.values.size();
  extended.carries += more.carries.values.size();
  extended.xs += more.xs.values.size();
  ir::Operands all;
  for (const std::span<const Tensor> part :
       {layout.fixed_of(operands), std::span<const Tensor>(more.arguments.values),
        layout.carry_of(operands), std::span<const Tensor>(more.carries.values),
        layout.xs_of(operands), std::span<const Tensor>(more.xs.values)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  extended.invariants = ir::union_captures(regions).size();
  const std::vector<Tensor> results =
      make_construct(*node.op, std::move(all), node.op->construct.relayout(node, extended),
                     std::move(regions), at);
  return taken_apart(layout, results, more);
}

}  // namespace rondo::control_flow
