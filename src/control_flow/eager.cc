#include "control_flow/eager.h"

#include "ir/node.h"

namespace rondo::control_flow {

void evaluate_all(detail::Leaves& leaves, SourceLocation at) {
  const std::vector<Literal> values = ir::evaluate(leaves.values, at);
  for (std::size_t i = 0; i < values.size(); i++)
    leaves.values[i] = ir::make_constant(values[i], at);
}

}  // namespace rondo::control_flow
