// Arrays out of nothing.
#pragma once

#include "ir/node.h"

namespace rondo::ops {

struct IotaAttributes {
  TensorType type;
  std::int64_t axis;
  bool operator==(const IotaAttributes&) const = default;
};

extern const ir::OpDef kIota;

/// A scalar literal (Tensor::is_scalar_literal) as a constant of the dtype; any other tensor as it
/// is. Throws TraceError where the scalar does not fit.
Tensor adopt_dtype(const Tensor& x, DType dtype, SourceLocation at);

}  // namespace rondo::ops
