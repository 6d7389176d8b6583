// Rondo: a lazy tensor tracer in which loops are first class. This header is all that an
// application includes.
#pragma once

#include <iostream>

#include "rondo/cache.h"
#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/execute.h"
#include "rondo/function.h"
#include "rondo/gradients.h"
#include "rondo/literal.h"
#include "rondo/loops.h"
#include "rondo/ops.h"
#include "rondo/shape.h"
#include "rondo/tensor.h"
#include "rondo/text.h"
#include "rondo/transforms.h"
#include "rondo/tree.h"
#include "rondo/type.h"
#include "rondo/version.h"

#if defined(FMT_VERSION)
#include "rondo/fmt.h"
#endif
