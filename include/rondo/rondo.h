// Rondo: a lazy tensor tracer in which loops are first class. Applications include only this
// header.
#pragma once

#include <iostream>

// Each header precedes those that include it: the compiler's notes then lead from here directly to
// a header, not through others.
// clang-format off
#include "rondo/version.h"
#include "rondo/cache.h"
#include "rondo/dtype.h"
#include "rondo/reference_count.h"
#include "rondo/shape.h"
#include "rondo/type.h"
#include "rondo/error.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "rondo/std_functions.h"
#include "rondo/device.h"
#include "rondo/mesh.h"
#include "rondo/sharded_array.h"
#include "rondo/function.h"
#include "rondo/reflect.h"
#include "rondo/call_with.h"
#include "rondo/tree.h"
#include "rondo/call_checks.h"
#include "rondo/loops.h"
#include "rondo/ops/order.h"
#include "rondo/ops.h"
#include "rondo/execute.h"
#include "rondo/run_scope.h"
#include "rondo/transforms.h"
#include "rondo/native.h"
#include "rondo/gradients.h"
#include "rondo/vmap.h"
#include "rondo/tree_tools.h"
#include "rondo/tree_arithmetic.h"
#include "rondo/text.h"
#include "rondo/pjrt.h"
// clang-format on

#if defined(FMT_VERSION)
#include "rondo/fmt.h"
#endif
