#include "transforms/registry.h"

#include <vector>

#include "control_flow/constructs.h"
#include "ir/after.h"
#include "ops/families.h"

namespace rondo::transforms {

std::span<const ir::OpDef* const> all_ops() {
  static const std::vector<const ir::OpDef*> all = [] {
    std::vector<const ir::OpDef*> records{&ir::kConstant, &ir::kParameter, &ir::kAfter};
    const auto add = [&](std::span<const ir::OpDef* const> family) {
      records.insert(records.end(), family.begin(), family.end());
    };
    for (const auto family : ops::record_families()) add(family);
    add(control_flow::construct_records());
    return records;
  }();
  return all;
}

}  // namespace rondo::transforms
