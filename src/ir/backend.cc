#include "ir/backend.h"

#include <algorithm>
#include <array>

namespace rondo::ir {

namespace {

/// By Executor. Constant-initialized: registration may run before any other initialization.
constinit std::array<BackendOf, 4> executors{};

}  // namespace

void register_executor(Executor executor, BackendOf backend) {
  executors.at(static_cast<std::size_t>(executor)) = backend;
}

const Backend* registered_executor(Executor executor) {
  const BackendOf backend = executors.at(static_cast<std::size_t>(executor));
  return backend ? &backend() : nullptr;
}

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
