// grad, jvp and vjp on leaves.
#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "ir/after.h"
#include "ir/lazy.h"
#include "ops/support.h"
#include "rondo/gradients.h"
#include "rondo/ops/shape.h"
#include "transforms/derivatives.h"
#include "transforms/derived_call.h"
#include "transforms/eager.h"
#include "transforms/observed.h"

namespace rondo::detail {

namespace {

using ir::Flags;
using transforms::asked_leaves;
using transforms::compute_if_eager;
using transforms::DerivedCall;
using transforms::or_zeros;

/// The tangent or cotangent that the user gave for a value, checked to have its type; empty for
/// integers.
Tensor given_tangent(const char* transform, const char* kind, const Tensor& given,
                     const TensorType& type, const std::string& path, SourceLocation at) {
  ir::checked(given, transform, at);
  if (!ir::has_tangent(type)) return {};
  Tensor tangent = ops::adopt_dtype(given, type.dtype, at);
  if (tangent.type() == type) return tangent;
  throw TraceError(
      fmt::format("{}: the {} of {} is {}, the value {}\n  at {}\n  Give one of the value's shape "
                  "and dtype.",
                  transform, kind, path, tangent.type().str(), type.str(), at.str()),
      at);
}

}  // namespace

void own_leaves(ArgumentLeaves& all, std::size_t argument) {
  all.owner.resize(all.leaves.values.size(), argument);
}

JvpLeaves jvp(const RegionCallable& f, const ArgumentLeaves& primals, std::vector<Tensor> tangents,
              SourceLocation at) {
  JvpLeaves out;
  {
    const ir::EagerPause pause;
    const DerivedCall call("jvp", f, primals, at);
    for (std::size_t i = 0; i < tangents.size(); i++) {
      tangents[i] = given_tangent("jvp", "tangent", tangents[i], primals.leaves.values[i].type(),
                                  primals.leaves.paths[i], at);
    }
    tangents.resize(call.arguments.size());
    ir::Jvp both = transforms::derivatives().jvp(call.function, call.arguments, tangents);
    out.results = std::move(both.results);
    transforms::keep_observed(call.function, out.results);
    for (std::size_t i = 0; i < out.results.size(); i++)
      out.tangents.push_back(or_zeros(both.tangents[i], out.results[i].type(), at));
  }
  compute_if_eager(out.results, at);
  compute_if_eager(out.tangents, at);
  return out;
}

VjpLeaves vjp_leaves(const RegionCallable& f, const ArgumentLeaves& primals, SourceLocation at) {
  VjpLeaves out;
  {
    const ir::EagerPause pause;
    const DerivedCall call("vjp", f, primals, at);
    const std::size_t count = primals.leaves.values.size();
    Flags perturbed(call.arguments.size());
    std::fill_n(perturbed.begin(), count, true);
    ir::Reverse reverse = transforms::derivatives().reverse(call.function, call.arguments,
                                                            perturbed, call.all_results());
    out.results = std::move(reverse.results);
    transforms::keep_observed(call.function, out.results);
    out.pullback = [pull = std::move(reverse.pullback), results = call.function.results(),
                    paths = call.result_paths, operands = call.arguments.size(),
                    arguments = control_flow::types_of(primals.leaves.values)](
                       std::span<const Tensor> cotangents, SourceLocation place) {
      std::vector<Tensor> pulled;
      {
        const ir::EagerPause eager_pause;
        std::vector<Tensor> given;
        for (std::size_t i = 0; i < results.size(); i++)
          given.push_back(
              given_tangent("vjp", "cotangent", cotangents[i], results[i], paths[i], place));
        pulled = ir::pull_back(pull, given, operands);
        pulled.resize(arguments.size());
        for (std::size_t i = 0; i < arguments.size(); i++)
          pulled[i] = or_zeros(pulled[i], arguments[i], place);
      }
      compute_if_eager(pulled, place);
      return pulled;
    };
  }
  compute_if_eager(out.results, at);
  return out;
}

GradientLeaves gradient(const RegionCallable& f, const ArgumentLeaves& arguments,
                        std::span<const std::size_t> of, SourceLocation at) {
  std::vector<Tensor> all;
  {
    const ir::EagerPause pause;
    Flags perturbed = asked_leaves("grad", arguments, of, at);
    const DerivedCall call("grad", f, arguments, at);
    const TensorType result = call.function.results().at(0);
    if (result.rank() != 0 || !ir::has_tangent(result)) {
      throw TraceError(
          fmt::format("grad: the function returns {}; a gradient is that of one float scalar\n  at "
                      "{}\n  {}",
                      result.str(), at.str(),
                      result.rank() != 0 ? "Reduce it (rondo::sum, rondo::mean), or ask for "
                                           "rondo::jacrev or rondo::vjp."
                                         : "Convert it: rondo::convert(x, DType::kF32)."),
          at);
    }
    perturbed.resize(call.arguments.size());
    const ir::Reverse reverse =
        transforms::derivatives().reverse(call.function, call.arguments, perturbed, {true});
    const Tensor seed = ones(result, at);
    const std::vector<Tensor> pulled =
        ir::pull_back(reverse.pullback, std::span(&seed, 1), call.arguments.size());
    all.push_back(reverse.results[0]);
    transforms::keep_observed(call.function, reverse.results);
    // grad drops the value, so its reports are attached to the gradient.
    const std::vector<Tensor> reports = transforms::observed(call.function, reverse.results);
    // In the order in which the arguments are requested.
    for (const std::size_t argument : of) {
      for (std::size_t i = 0; i < arguments.owner.size(); i++) {
        if (arguments.owner[i] != argument) continue;
        all.push_back(
            ir::after(or_zeros(pulled[i], arguments.leaves.values[i].type(), at), reports));
      }
    }
  }
  compute_if_eager(all, at);
  return {all[0], {all.begin() + 1, all.end()}};
}

}  // namespace rondo::detail
