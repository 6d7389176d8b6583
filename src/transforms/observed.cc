#include "transforms/observed.h"

#include "ir/region.h"
#include "passes/rewrite.h"

namespace rondo::transforms {

std::vector<Tensor> observed(const Function& function, std::span<const Tensor> results) {
  const passes::WatchedNodes watched(function);
  std::vector<Tensor> all;
  for (std::size_t i = 0; i < results.size(); i++) {
    if (watched.contains(function.outputs()[i])) all.push_back(results[i]);
  }
  return all;
}

void keep_observed(const Function& function, std::span<const Tensor> results) {
  for (const Tensor& result : observed(function, results)) ir::keep(result);
}

}  // namespace rondo::transforms
