#include "support/derivative_check.h"

#include "gradient_check/check_grads.h"

namespace rondo::testing {

namespace {

detail::Leaves named(std::vector<Tensor> tensors, const std::string& name) {
  detail::Leaves leaves{std::move(tensors), {}};
  for (std::size_t i = 0; i < leaves.values.size(); i++)
    leaves.paths.push_back(name + "[" + std::to_string(i) + "]");
  return leaves;
}

}  // namespace

std::string derivative_error(const TensorsFunction& f, const std::vector<Literal>& at,
                             const DerivativeCheck& check) {
  const detail::RegionCallable callable = [&](std::span<const Tensor> leaves) {
    return named(f({leaves.begin(), leaves.end()}), "result");
  };
  gradient_check::DerivativeComparison comparison;
  comparison.order = check.order;
  comparison.step = check.step;
  comparison.rtol = check.rtol;
  comparison.atol = check.atol;
  comparison.seed = check.seed;
  return gradient_check::derivative_failure(callable, named({at.begin(), at.end()}, "x"),
                                            comparison, {});
}

}  // namespace rondo::testing
