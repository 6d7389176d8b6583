#include "passes/fold.h"

#include <algorithm>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "ir/kernel.h"
#include "ops/combiners.h"
#include "rondo/error.h"

namespace rondo::passes {

namespace {

/// No folded op needs the services that a kernel may request from its host.
class NoHost final : public ir::Host {
 public:
  ir::RegionCall& region(const Function&) override { refuse(); }
  void poll() override {}  // folded ops are small
  void tap(std::string_view, const TensorType&, const std::byte*) override { refuse(); }
  void print(std::string_view, const TensorType&, const std::byte*) override { refuse(); }
  void progress(std::int64_t, std::int64_t) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw InternalError("an op that is seen from outside was folded");
  }
};

bool can_be_folded(const ir::Node* node) {
  const auto is_small_type = [](const auto& each) { return is_small(ir::type_of(each).dtype); };
  if (std::any_of(node->operands.begin(), node->operands.end(), is_small_type)) return false;
  if (!node->op->kernel.prepare || node->op->observer || node->op->kind != ir::OpKind::kOrdinary)
    return false;
  for (const Function& region : node->regions) {
    // Kernels implement these combiners themselves; other regions are called by the host.
    if (ops::known_combiner(region) == ops::Combiner::kOther) return false;
  }
  for (const TensorType& type : node->types) {
    if (is_small(type.dtype) || type.elements() > kFoldedResultElements) return false;
  }
  std::int64_t elements = 0;
  for (const Tensor& operand : node->operands) {
    elements += operand.type().elements();
    if (elements > kFoldedOperandElements) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<Literal>> fold_values(const ir::Node* node,
                                                std::span<const Literal* const> operands) {
  if (!can_be_folded(node)) return std::nullopt;
  absl::InlinedVector<const std::byte*, 4> inputs;
  for (std::size_t i = 0; i < operands.size(); i++) {
    if (operands[i]->type() != node->operand_type(i)) return std::nullopt;  // of a tape that grew
    inputs.push_back(operands[i]->bytes());
  }
  std::vector<Literal> results;
  absl::InlinedVector<std::byte*, 2> outputs;
  NoHost host;
  try {
    for (const TensorType& type : node->types) results.push_back(Literal::uninitialized(type));
    for (Literal& result : results) outputs.push_back(result.mutable_bytes());
    ir::prepare(*node)->run(inputs, outputs, host);
  } catch (const Error&) {
    return std::nullopt;  // the error is reported when the program runs
  }
  return results;
}

std::optional<std::vector<Tensor>> fold(const ir::Node* node) {
  absl::InlinedVector<const Literal*, 4> operands;
  for (const Tensor& operand : node->operands) {
    if (!ir::is_constant(operand.node())) return std::nullopt;
    operands.push_back(&operand.node()->attrs<ir::ConstantAttributes>().value);
  }
  std::optional<std::vector<Literal>> values = fold_values(node, operands);
  if (!values) return std::nullopt;
  std::vector<Tensor> constants;
  for (Literal& value : *values)
    constants.push_back(ir::make_constant(std::move(value), node->location()));
  return constants;
}

}  // namespace rondo::passes
