// Updates at places that an array of indices names.
#pragma once

#include <string>

#include "ir/node.h"
#include "rondo/ops/indexing.h"

namespace rondo {

void print_field(std::string& out, const ScatterDims& dims);

namespace ops {

/// Operands: n arrays, the indices, n updates. The region combines n elements and n updates, all
/// scalars, into n results.
struct ScatterAttributes {
  ScatterDims dims;
  bool operator==(const ScatterAttributes&) const = default;
};

extern const ir::OpDef kScatter;

}  // namespace ops

}  // namespace rondo
