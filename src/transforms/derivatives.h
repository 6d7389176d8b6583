// The drivers of derivatives: forward mode, and reverse mode as the transpose of the linear program
// that forward mode leaves. They walk a program once and call the rules of its records.
#pragma once

#include "ir/derivative.h"

namespace rondo::transforms {

/// The only driver; it has no state.
ir::Derivatives& derivatives();

}  // namespace rondo::transforms
