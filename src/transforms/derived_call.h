// A user's function as the derivative transforms use it: traced, with its captures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/derivative.h"
#include "rondo/function.h"
#include "rondo/gradients.h"

namespace rondo::transforms {

/// A user's function, traced and simplified, with the arguments and its captures.
struct DerivedCall {
  Function function;
  std::vector<Tensor> arguments;
  std::vector<std::string> result_paths;
  SourceLocation at;

  DerivedCall(const char* transform, const detail::RegionCallable& f,
              const detail::ArgumentLeaves& primals, SourceLocation given);

  ir::Flags all_results() const { return ir::Flags(result_paths.size(), true); }
};

/// The tangent; an array of zeros if it is zero.
Tensor or_zeros(Tensor tangent, const TensorType& type, SourceLocation at);

/// The leaves of the arguments `of`. Throws if one has nothing to differentiate.
ir::Flags asked_leaves(const char* transform, const detail::ArgumentLeaves& arguments,
                       std::span<const std::size_t> of, SourceLocation at);

}  // namespace rondo::transforms
