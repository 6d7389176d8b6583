#include "executor/in_place.h"

#include <algorithm>
#include <optional>

#include "executor/names.h"
#include "executor/region_plan.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/loop_nest.h"

namespace rondo::executor {

namespace {

// Threshold: Chains of updates that are followed to update an array in place: compile time against
// a copy, as each output walks its chain. Not measured.
constexpr int kLongestChain = 64;

using Times = absl::flat_hash_map<ir::ValueKey, int>;

template <class Tensors>
Times times_of(const Tensors& values) {
  Times times;
  for (const Tensor& value : values) times[value]++;
  return times;
}

int times_in(const Times& times, const Tensor& value) {
  const auto found = times.find(value);
  return found == times.end() ? 0 : found->second;
}

/// The values whose memory the outputs of a region share, through bitcasts.
absl::flat_hash_set<ir::ValueKey> handed_on(const Function& region) {
  absl::flat_hash_set<ir::ValueKey> found;
  for (Tensor value : region.outputs()) {
    while (found.insert(value).second && !ir::is_parameter(value.node())) {
      const Strategy form = strategy_of(*value.node());
      if (form != Strategy::kForward && form != Strategy::kAlias) break;
      value = value.node()->operands[form == Strategy::kForward ? value.result() : 0];
    }
  }
  return found;
}

}  // namespace

/// Finds the parameters of one region's outputs. Values are looked up in tables, as regions may
/// have very many.
class InPlace::Finder {
 public:
  Finder(const InPlace& regions, const Function& region)
      : regions_(regions), region_(region), returned_(times_of(region.outputs())) {
    const auto& parameters = region.parameters();
    for (std::size_t i = 0; i < parameters.size(); i++)
      places_.try_emplace(parameters[i], static_cast<std::int32_t>(i));
  }

  std::int32_t find(std::size_t output);

 private:
  bool is_one_operand(const Node& node, const Tensor& value) {
    const auto [times, is_new] = operands_.try_emplace(&node);
    if (is_new) times->second = times_of(node.operands);
    return times_in(times->second, value) == 1;
  }

  const InPlace& regions_;
  const Function& region_;
  Times returned_;
  absl::flat_hash_map<ir::ValueKey, std::int32_t> places_;  // of parameters
  absl::flat_hash_map<const Node*, Times> operands_;        // of constructs
};

InPlace::InPlace(const Function& function) {
  for (const Function& region : ir::regions_inside_out(function)) {
    Finder finder(*this, region);
    Region found;
    for (std::size_t i = 0; i < region.outputs().size(); i++)
      found.parameters.push_back(finder.find(i));
    found.made.insert(found.parameters.begin(), found.parameters.end());
    found.handed_on = handed_on(region);
    regions_.emplace(region.identity(), std::move(found));
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
    const Region& region = regions_.at(branch.identity());
    if (region.made.contains(parameter) ||
        region.handed_on.contains(branch.parameters()[static_cast<std::size_t>(parameter)]))
      return kNoParameter;
  }
  return parameter;
}

std::int32_t InPlace::Finder::find(std::size_t output) {
  Tensor value = region_.outputs()[output];
  if (times_in(returned_, value) != 1) return kNoParameter;
  for (int length = 0; length < kLongestChain; length++) {
    const Node* node = value.node();
    if (ir::is_parameter(node)) {
      if (length > 0 && times_in(returned_, value) != 0) return kNoParameter;
      const auto place = places_.find(value);
      return place == places_.end() ? static_cast<std::int32_t>(places_.size()) : place->second;
    }
    std::int64_t operand = -1;
    const std::uint32_t result = value.result();
    switch (strategy_of(*node)) {
      case Strategy::kForward:
        operand = result;
        break;
      case Strategy::kWrite:
        operand = ir::loops_as<ir::InsertionMap>(*node)->kept;
        break;
      case Strategy::kScatter:
      case Strategy::kTapeWrite:
        operand = 0;
        break;
      case Strategy::kLoop: {
        const ir::RegionLayout layout = *ir::region_layout(node);
        const auto carry = static_cast<std::int32_t>(layout.index + result);
        if (regions_.parameter_of(node->regions[layout.body()], result) == carry)
          operand = static_cast<std::int64_t>(layout.fixed + result);
        break;
      }
      case Strategy::kBranch: {
        const std::int32_t parameter = regions_.parameter_of_branches(*node, result);
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
    // A construct whose regions also read the old state of the array writes a copy.
    if (ir::region_layout(node) && !is_one_operand(*node, value)) return kNoParameter;
  }
  return kNoParameter;
}

}  // namespace rondo::executor
