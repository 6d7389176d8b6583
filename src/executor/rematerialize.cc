#include "executor/rematerialize.h"

#include <algorithm>

#include "executor/element_code.h"
#include "executor/names.h"
#include "ir/order.h"

namespace rondo::executor {

Rematerialization::Rematerialization(const RegionPlan& plan)
    : plan_(plan), readers_(plan.values()) {
  for (const Step& step : plan.steps()) {
    for (const std::size_t operand : ir::written_operands(step.node))
      written_.insert(plan.value(step.node->operands[operand]));
  }
}

void Rematerialization::add_reader(std::uint32_t value, const Step& step) {
  auto& readers = readers_[value];
  const auto add = [&](const Reader& reader) {
    if (readers.size() <= kMostReaders &&
        std::find(readers.begin(), readers.end(), reader) == readers.end())
      readers.push_back(reader);
  };
  if (!step.inlined) return add({step.first_value, kNoMap});
  const bool maps = step.form == Strategy::kRead;
  for (const Reader& reader : readers_[step.first_value])
    add({reader.loop, maps ? step.first_value : reader.map});
}

bool Rematerialization::pays(const Step& step) {
  const auto times = static_cast<std::int64_t>(readers_[step.first_value].size());
  if (times > static_cast<std::int64_t>(kMostReaders) || step.form != Strategy::kElement)
    return false;
  const std::int64_t most = (kStore + times) / std::max<std::int64_t>(times - 1, 1);
  const std::int64_t elements = step.node->type().elements();
  if (elements < kLeastElements) return false;
  std::int64_t cost = 0;
  std::vector<const Step*> open{&step};
  absl::InlinedVector<std::uint32_t, 4> parts, loaded;
  while (!open.empty()) {
    const Step& part = *open.back();
    open.pop_back();
    cost += part.form == Strategy::kElement ? element_work(*part.node) : 0;
    if (cost > most) return false;
    for (std::size_t i = 0; i < part.node->operands.size(); i++) {
      const Tensor& operand = part.node->operands[i];
      const std::uint32_t value = plan_.value(operand);
      const Step* from = plan_.step_of(operand);
      const bool is_start = part.form == Strategy::kRead && i != 0;
      if (is_start || is_scalar(operand.type()) || (from && from->form == Strategy::kConstant))
        continue;
      if (written_.contains(value)) return false;
      const bool is_whole = operand.type().elements() == elements;
      const bool is_fused = from && (from->form == Strategy::kRead ||
                                     (from->form == Strategy::kElement && is_whole &&
                                      plan_.uses(value) == 1 && !from->node->operands.empty()));
      if (is_fused) {
        open.push_back(from);
        parts.push_back(value);
        continue;
      }
      // Another value that would be fused here would be stored instead, or the loops split.
      if (from && from->form == Strategy::kWrite) return false;
      if (is_whole && plan_.uses(value) == 1 && from &&
          (from->form == Strategy::kUnrolledContraction || from->form == Strategy::kGather))
        return false;
      if (std::find(loaded.begin(), loaded.end(), value) != loaded.end()) continue;
      loaded.push_back(value);
      if (++cost > most) return false;
    }
  }
  for (const std::uint32_t part : parts) parts_.insert(part);
  return true;
}

}  // namespace rondo::executor
