#include "executor/in_place.h"

#include <algorithm>
#include <optional>

#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "ir/layout.h"

namespace rondo::executor {

namespace {

// Longer chains of updates are left: the walk is made for each output.
constexpr int kLongestChain = 64;

std::ptrdiff_t times_returned(const Function& region, const Tensor& value) {
  return std::count_if(region.outputs().begin(), region.outputs().end(),
                       [&](const Tensor& output) { return output.same_as(value); });
}

/// Is one of the outputs the memory of a parameter, under whichever type?
bool hands_on(const Function& region, const Tensor& parameter) {
  return std::any_of(region.outputs().begin(), region.outputs().end(), [&](Tensor value) {
    while (!value.same_as(parameter)) {
      if (ir::is_parameter(value.node())) return false;
      const Form form = form_of(*value.node());
      if (form != Form::kForward && form != Form::kAlias) return false;
      value = value.node()->operands[form == Form::kForward ? value.result() : 0];
    }
    return true;
  });
}

}  // namespace

InPlace::InPlace(const Function& function) {
  for (const Function& region : ir::regions_inside_out(function)) {
    std::vector<std::int32_t> found(region.outputs().size());
    for (std::size_t i = 0; i < found.size(); i++) found[i] = find(region, i);
    parameters_.emplace(region.identity(), std::move(found));
  }
}

std::int32_t InPlace::parameter_of_branches(const Node& conditional, std::size_t result) const {
  std::int32_t parameter = kNoParameter;
  for (const Function& branch : conditional.regions) {
    const std::int32_t of = parameter_of(branch, result);
    if (of == kNoParameter) continue;
    if (parameter != kNoParameter && of != parameter) return kNoParameter;
    parameter = of;
  }
  if (parameter == kNoParameter) return kNoParameter;
  for (const Function& branch : conditional.regions) {
    if (parameter_of(branch, result) == parameter) continue;
    const std::vector<std::int32_t>& of = parameters_.at(branch.identity());
    if (std::find(of.begin(), of.end(), parameter) != of.end() ||
        hands_on(branch, branch.parameters()[static_cast<std::size_t>(parameter)]))
      return kNoParameter;
  }
  return parameter;
}

std::int32_t InPlace::find(const Function& region, std::size_t output) const {
  Tensor value = region.outputs()[output];
  if (times_returned(region, value) != 1) return kNoParameter;
  for (int length = 0; length < kLongestChain; length++) {
    const auto& parameters = region.parameters();
    const Node* node = value.node();
    if (ir::is_parameter(node)) {
      if (length > 0 && times_returned(region, value) != 0) return kNoParameter;
      const auto at = std::find_if(parameters.begin(), parameters.end(),
                                   [&](const Tensor& t) { return t.same_as(value); });
      return static_cast<std::int32_t>(at - parameters.begin());
    }
    std::int64_t operand = -1;
    const std::uint32_t result = value.result();
    switch (form_of(*node)) {
      case Form::kForward:
        operand = result;
        break;
      case Form::kWrite:
        operand = node->op->write(*node).kept;
        break;
      case Form::kScatter:
      case Form::kTapeWrite:
        operand = 0;
        break;
      case Form::kLoop: {
        const ir::RegionLayout layout = *ir::region_layout(node);
        const auto carry = static_cast<std::int32_t>(result);
        if (parameter_of(node->regions[layout.body()], result) == carry) operand = carry;
        break;
      }
      case Form::kBranch: {
        const std::int32_t parameter = parameter_of_branches(*node, result);
        if (parameter != kNoParameter)
          operand = static_cast<std::int64_t>(
              ir::region_layout(node)->operand_of_param(static_cast<std::size_t>(parameter)));
        break;
      }
      default:
        break;
    }
    if (operand < 0) return kNoParameter;
    value = node->operands[static_cast<std::size_t>(operand)];
    // A construct whose regions also read the array as it was writes a copy.
    if (ir::region_layout(node) &&
        std::count_if(node->operands.begin(), node->operands.end(),
                      [&](const Tensor& t) { return t.same_as(value); }) != 1)
      return kNoParameter;
  }
  return kNoParameter;
}

}  // namespace rondo::executor
