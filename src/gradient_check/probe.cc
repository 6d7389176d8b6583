#include "gradient_check/probe.h"

#include <utility>

#include "control_flow/call.h"
#include "fmt/format.h"
#include "ir/lazy.h"

namespace rondo::gradient_check {

using detail::Leaves;
using detail::RegionCallable;

namespace {

std::vector<Tensor> tensors_of(const std::vector<Literal>& literals) {
  return {literals.begin(), literals.end()};
}

std::vector<Tensor> tensors_like(const Computed& like, const LeafNumbers& all) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < all.size(); i++) tensors.push_back(literal_of(like.type(i), all[i]));
  return tensors;
}

Computed arguments_with_values(const Leaves& arguments, SourceLocation at) {
  if (ir::depends_on_trace(arguments.values)) {
    throw TraceError(
        fmt::format("check_grads: inside of a trace the arguments have no values to check "
                    "at\n  at {}\n  Call check_grads outside of traced functions.",
                    at.str()),
        at);
  }
  return {ir::evaluate(arguments.values, at), arguments.paths};
}

}  // namespace

LeafNumbers only(const LeafNumbers& all, std::size_t leaf, std::size_t begin, std::size_t end) {
  LeafNumbers part = all;
  for (std::size_t i = 0; i < part.size(); i++) {
    for (std::size_t k = 0; k < part[i].size(); k++) {
      if (i != leaf || k < begin || k >= end) part[i][k] = 0;
    }
  }
  return part;
}

Computed::Computed(std::vector<Literal> computed, std::vector<std::string> named)
    : values(std::move(computed)), paths(std::move(named)) {
  for (const Literal& literal : values) numbers.push_back(numbers_of(literal));
}

LeafNumbers Differences::slopes() const {
  const auto rise = [](double from, double to) { return from == to ? 0 : to - from; };
  LeafNumbers all = low.numbers;
  for (std::size_t i = 0; i < all.size(); i++) {
    for (std::size_t k = 0; k < all[i].size(); k++) {
      const double far = rise(low.numbers[i][k], high.numbers[i][k]);
      const double near = rise(near_low.numbers[i][k], near_high.numbers[i][k]);
      all[i][k] = (8 * near - far) / (6 * step);
    }
  }
  return all;
}

Probe::Probe(const Leaves& arguments, SourceLocation at)
    : point_(arguments_with_values(arguments, at)), place_(at) {}

Computed Probe::run(const RegionCallable& f, const std::vector<Literal>& at) const {
  Leaves out = f(tensors_of(at));
  return {ir::evaluate(out.values, place_), std::move(out.paths)};
}

detail::ArgumentLeaves Probe::arguments(std::span<const Tensor> x) const {
  return {{{x.begin(), x.end()}, point_.paths}, std::vector<std::size_t>(x.size())};
}

Differences Probe::differences(const RegionCallable& f, const LeafNumbers& direction,
                               double step) const {
  const auto at = [&](double by) {
    std::vector<Literal> there = point_.values;
    for (std::size_t i = 0; i < there.size(); i++) there[i] = moved(there[i], direction[i], by);
    return run(f, there);
  };
  return {at(-step), at(-step / 2), at(step / 2), at(step), step};
}

RegionCallable Probe::tangent_of(const RegionCallable& f, const LeafNumbers& direction) const {
  return [this, f, along = tensors_like(point_, direction)](std::span<const Tensor> x) {
    Leaves out;
    const RegionCallable recorded = [&](std::span<const Tensor> leaves) {
      Leaves results = f(leaves);
      out.paths = results.paths;
      return results;
    };
    out.values = detail::jvp(recorded, arguments(x), along, place_).tangents;
    return out;
  };
}

RegionCallable Probe::pullback_of(const RegionCallable& f, const Computed& results,
                                  const LeafNumbers& cotangents) const {
  return [this, f, given = tensors_like(results, cotangents)](std::span<const Tensor> x) {
    return Leaves{detail::vjp_leaves(f, arguments(x), place_).pullback(given, place_),
                  point_.paths};
  };
}

Function Probe::traced(const RegionCallable& f) const {
  return control_flow::close_call("check_grads", "the function of check_grads",
                                  {tensors_of(point_.values), point_.paths}, f, place_)
      .function;
}

}  // namespace rondo::gradient_check
