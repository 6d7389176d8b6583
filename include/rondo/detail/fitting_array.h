// Whether an array fits a type of another library.
#pragma once

#include <cstdint>
#include <span>

#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/export.h"
#include "rondo/literal.h"

namespace rondo::detail {

/// The arrays that a type holds. A size of -1 is any, or at most `most` if that is not -1.
struct FittingArrays {
  DType dtype;
  std::span<const std::int64_t> sizes;
  std::span<const std::int64_t> most;
};

/// Throws TraceError, in the name of `user`, unless the array fits: names both types, `f32[4,?]`,
/// and the remedy.
RONDO_API void check_fits(const Literal& array, const FittingArrays& fitting, const char* user,
                          SourceLocation at);

}  // namespace rondo::detail
