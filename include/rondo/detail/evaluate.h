// The values of lazy tensors, for whatever traces: computed by running their graph.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rondo/error.h"
#include "rondo/export.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo::detail {

/// The values of lazy tensors, computed together, on the device of the current DeviceScope. Throws
/// TraceError if one depends on a parameter; `user` names the caller.
RONDO_API std::vector<Literal> evaluate(std::span<const Tensor> tensors, SourceLocation at,
                                        const std::string& user = "eval");
/// The same without copying values to the host: they are stored.
RONDO_API void keep_values(std::span<const Tensor> tensors, SourceLocation at,
                           const std::string& user = "eval");

}  // namespace rondo::detail
