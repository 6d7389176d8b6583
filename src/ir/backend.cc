#include "ir/backend.h"

#include <algorithm>

namespace rondo::ir {

std::int64_t result_bytes(std::span<const TensorType> results) {
  std::int64_t bytes = 0;
  for (const TensorType& type : results) {
    if (__builtin_add_overflow(bytes, type.bytes(), &bytes)) return INT64_MAX;
  }
  return bytes;
}

std::optional<std::int64_t> arena_limit(const Function& function, const CompileOptions& options) {
  if (!options.memory_limit) return std::nullopt;
  return std::max<std::int64_t>(0, *options.memory_limit - result_bytes(function.results()));
}

}  // namespace rondo::ir
