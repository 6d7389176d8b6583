#include "transforms/derived_call.h"

#include <utility>

#include "control_flow/call.h"
#include "fmt/format.h"
#include "ir/lazy.h"
#include "rondo/ops/shape.h"
#include "transforms/derivatives.h"

namespace rondo::transforms {

using detail::ArgumentLeaves;
using detail::Leaves;
using detail::RegionCallable;
using ir::Flags;

DerivedCall::DerivedCall(const char* transform, const RegionCallable& f,
                         const ArgumentLeaves& primals, SourceLocation given)
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
  function = derivatives().simplified(closed.function);
  arguments = primals.leaves.values;
  arguments.insert(arguments.end(), closed.captures.begin(), closed.captures.end());
}

Tensor or_zeros(Tensor tangent, const TensorType& type, SourceLocation at) {
  return tangent.empty() ? zeros(type, at) : std::move(tangent);
}

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

}  // namespace rondo::transforms
