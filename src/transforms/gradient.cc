// What grad, jvp, vjp and the Jacobians do on leaves.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "control_flow/call.h"
#include "control_flow/eager.h"
#include "fmt/format.h"
#include "ir/lazy.h"
#include "ops/support.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"
#include "transforms/derivatives.h"
#include "transforms/eager.h"

namespace rondo::detail {

namespace {

using ir::Flags;
using transforms::compute_if_eager;

/// A user's function, traced and tidied, with the arguments and what it captured.
struct DerivedCall {
  Function function;
  std::vector<Tensor> arguments;
  std::vector<std::string> result_paths;
  SourceLocation at;

  DerivedCall(const char* transform, const RegionCallable& f, const ArgumentLeaves& primals,
              SourceLocation given)
      : at(given) {
    for (const Tensor& leaf : primals.leaves.values) ir::checked(leaf, transform, at);
    const RegionCallable recorded = [&](std::span<const Tensor> leaves) {
      Leaves out = f(leaves);
      for (const Tensor& leaf : out.values) ir::checked(leaf, transform, at);
      result_paths = out.paths;
      return out;
    };
    control_flow::ClosedCall closed = control_flow::close_call(
        transform, fmt::format("the function of {}", transform), primals.leaves, recorded, at);
    function = transforms::derivatives().simplified(closed.function);
    arguments = primals.leaves.values;
    arguments.insert(arguments.end(), closed.captures.begin(), closed.captures.end());
  }

  Flags all_results() const { return Flags(function.outputs().size(), true); }
};

Tensor or_zeros(Tensor tangent, const TensorType& type, SourceLocation at) {
  return tangent.empty() ? zeros(type, at) : std::move(tangent);
}

/// The tangent or cotangent that a user gave for a value: of its type; none for integers.
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

/// The leaves of the arguments `of`; throws where one has nothing to differentiate.
Flags asked_leaves(const char* transform, const ArgumentLeaves& arguments,
                   std::span<const std::size_t> of, SourceLocation at) {
  for (const Tensor& leaf : arguments.leaves.values) ir::checked(leaf, transform, at);
  Flags asked(arguments.owner.size());
  for (const std::size_t argument : of) {
    std::string types;
    bool any = false;
    for (std::size_t i = 0; i < asked.size(); i++) {
      if (arguments.owner[i] != argument) continue;
      asked[i] = true;
      const TensorType& type = arguments.leaves.values[i].type();
      any = any || ir::has_tangent(type);
      types += fmt::format("\n  {}: {}", arguments.leaves.paths[i], type.str());
    }
    if (any) continue;
    throw TraceError(
        fmt::format("{}: argument {} has nothing to differentiate: it holds no float or complex "
                    "tensor{}\n  at {}\n  Ask for another argument, rondo::{}<1>(f), or pass "
                    "floats: 2.0f, not 2; rondo::convert(x, DType::kF32).",
                    transform, argument, types, at.str(), transform),
        at);
  }
  return asked;
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
    // In the order in which the arguments are asked for.
    for (const std::size_t argument : of) {
      for (std::size_t i = 0; i < arguments.owner.size(); i++) {
        if (arguments.owner[i] != argument) continue;
        all.push_back(or_zeros(pulled[i], arguments.leaves.values[i].type(), at));
      }
    }
  }
  compute_if_eager(all, at);
  return {all[0], {all.begin() + 1, all.end()}};
}

namespace {

/// Stacked rows, one per element of `inner`: to `outer` shape, then that of `inner`.
Tensor jacobian_of_rows(const Tensor& rows, const Shape& outer, const Shape& inner, bool rows_first,
                        SourceLocation at) {
  std::vector<std::int64_t> dims = outer.vector();
  dims.insert(dims.end(), inner.begin(), inner.end());
  if (rows_first) return reshape(Operand(rows, at), dims);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.rank()));
  std::iota(order.begin(), order.end() - 1, 1);
  order.back() = 0;
  return reshape(Operand(transpose(Operand(rows, at), order), at), dims);
}

/// 1 at element `index`, of the given type.
Tensor one_hot(const Tensor& index, const TensorType& type, SourceLocation at) {
  const ir::LocationScope scope(at);
  const Tensor places = iota({DType::kS64, {type.elements()}}, 0);
  return reshape(convert(places == index, type.dtype), type.shape.vector());
}

/// rows(i) for each element i of a type, stacked.
std::vector<Tensor> rows_of(const TensorType& type, SourceLocation at,
                            const std::function<std::vector<Tensor>(const Tensor&)>& rows) {
  const RegionCallable step = [&](std::span<const Tensor> leaves) {
    Leaves out{rows(leaves[0]), {}};
    for (std::size_t i = 0; i < out.values.size(); i++)
      out.paths.push_back(fmt::format("y[{}]", i));
    return out;
  };
  ScanOptions options;
  options.name = "jacobian";
  return scan(step, {}, {{iota({DType::kS64, {type.elements()}}, 0)}, {"xs"}}, options, at);
}

}  // namespace

JacobianLeaves jacobian(const RegionCallable& f, const ArgumentLeaves& arguments,
                        std::span<const std::size_t> of, bool forward, SourceLocation at) {
  const char* const transform = forward ? "jacfwd" : "jacrev";
  JacobianLeaves out;
  {
    const ir::EagerPause pause;
    Flags perturbed = asked_leaves(transform, arguments, of, at);
    const DerivedCall call(transform, f, arguments, at);
    perturbed.resize(call.arguments.size());
    std::vector<std::size_t> leaves;
    for (const std::size_t argument : of) {
      for (std::size_t i = 0; i < arguments.owner.size(); i++) {
        if (arguments.owner[i] == argument) leaves.push_back(i);
      }
    }
    const std::vector<TensorType> results = call.function.results();
    out.jacobians.assign(results.size(), std::vector<Tensor>(leaves.size()));
    const auto zero = [&](std::size_t r, std::size_t l) {
      std::vector<std::int64_t> dims = results[r].shape.vector();
      const TensorType& type = call.arguments[leaves[l]].type();
      dims.insert(dims.end(), type.shape.begin(), type.shape.end());
      const DType dtype = ir::has_tangent(type) ? results[r].dtype : type.dtype;
      return zeros({dtype, dims}, at);
    };
    if (forward) {
      for (std::size_t l = 0; l < leaves.size(); l++) {
        const TensorType& type = call.arguments[leaves[l]].type();
        if (!ir::has_tangent(type)) {
          for (std::size_t r = 0; r < results.size(); r++) out.jacobians[r][l] = zero(r, l);
          continue;
        }
        const std::vector<Tensor> rows = rows_of(type, at, [&](const Tensor& index) {
          std::vector<Tensor> tangents(call.arguments.size());
          tangents[leaves[l]] = one_hot(index, type, at);
          ir::Jvp both = transforms::derivatives().jvp(call.function, call.arguments, tangents);
          for (std::size_t r = 0; r < results.size(); r++)
            both.tangents[r] = or_zeros(both.tangents[r], results[r], at);
          return both.tangents;
        });
        for (std::size_t r = 0; r < results.size(); r++)
          out.jacobians[r][l] = jacobian_of_rows(rows[r], results[r].shape, type.shape, false, at);
      }
    } else {
      const ir::Reverse reverse = transforms::derivatives().reverse(call.function, call.arguments,
                                                                    perturbed, call.all_results());
      for (std::size_t r = 0; r < results.size(); r++) {
        if (!ir::has_tangent(results[r])) {
          for (std::size_t l = 0; l < leaves.size(); l++) out.jacobians[r][l] = zero(r, l);
          continue;
        }
        const std::vector<Tensor> rows = rows_of(results[r], at, [&](const Tensor& index) {
          std::vector<Tensor> cotangents(results.size());
          cotangents[r] = one_hot(index, results[r], at);
          const std::vector<Tensor> pulled =
              ir::pull_back(reverse.pullback, cotangents, call.arguments.size());
          std::vector<Tensor> row;
          for (const std::size_t leaf : leaves)
            row.push_back(or_zeros(pulled[leaf], call.arguments[leaf].type(), at));
          return row;
        });
        for (std::size_t l = 0; l < leaves.size(); l++)
          out.jacobians[r][l] = jacobian_of_rows(rows[l], results[r].shape,
                                                 call.arguments[leaves[l]].type().shape, true, at);
      }
    }
  }
  for (std::vector<Tensor>& row : out.jacobians) compute_if_eager(row, at);
  return out;
}

}  // namespace rondo::detail
