// Slices at positions known while tracing.
#pragma once

#include <vector>

#include "ir/node.h"

namespace rondo::ops {

struct SliceAttributes {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> limits;
  std::vector<std::int64_t> strides;
  bool operator==(const SliceAttributes&) const = default;
};

extern const ir::OpDef kSlice;

/// Row `i` of axis 0, without that axis; `i` is in range.
Tensor row_of(const Tensor& x, std::int64_t i, SourceLocation at);

}  // namespace rondo::ops
