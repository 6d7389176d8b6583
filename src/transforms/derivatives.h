// The drivers of derivatives: forward mode, and reverse mode as the transpose of what forward mode
// leaves linear. They walk a program once and call the rules of its records.
#pragma once

#include "ir/derivative.h"

namespace rondo::transforms {

/// The one driver; it has no state.
ir::Derivatives& derivatives();

}  // namespace rondo::transforms
