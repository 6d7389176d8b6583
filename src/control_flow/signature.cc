#include "control_flow/signature.h"

#include "fmt/format.h"

namespace rondo::control_flow {

void check_region_parameters(const ir::InferContext& context, const Function& region,
                             std::size_t first_operand) {
  const auto& params = region.parameters();
  if (params.size() + first_operand != context.operands.size()) {
    context.fail(fmt::format("region '{}' has {} parameters for {} operands", region.name(),
                             params.size(), context.operands.size() - first_operand));
  }
  for (std::size_t i = 0; i < params.size(); i++) {
    if (params[i].type() == context.type(first_operand + i)) continue;
    context.fail(fmt::format("parameter {} of region '{}' is {}, its operand {}", i, region.name(),
                             params[i].type().str(), context.type(first_operand + i).str()));
  }
}

}  // namespace rondo::control_flow
