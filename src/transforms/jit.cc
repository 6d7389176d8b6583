#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "rondo/execute.h"
#include "rondo/transforms.h"

namespace rondo::detail {

struct JitCache::Impl {
  struct Entry {
    std::mutex mutex;  // held while the first caller traces
    bool ready = false;
    Executable executable;
    std::shared_ptr<const void> prototype;
  };
  std::mutex mutex;
  absl::flat_hash_map<std::string, std::shared_ptr<Entry>> entries;
};

JitCache::JitCache() : impl_(std::make_unique<Impl>()) {}
JitCache::~JitCache() = default;

namespace {

std::string key_of_types(std::span<const Tensor> arguments, const std::string& structure) {
  std::string key;
  for (const Tensor& argument : arguments) {
    const TensorType& type = ir::checked(argument, "jit", {}).type();
    key += static_cast<char>(type.dtype);
    key += static_cast<char>(type.rank());
    key.append(reinterpret_cast<const char*>(type.shape.begin()),
               type.shape.size() * sizeof(std::int64_t));
  }
  return key += structure;
}

}  // namespace

JitCache::Run JitCache::run(std::span<const Tensor> arguments, const std::string& structure,
                            const std::function<Traced()>& trace) {
  const std::string key = key_of_types(arguments, structure);
  std::shared_ptr<Impl::Entry> entry;
  {
    std::lock_guard lock(impl_->mutex);
    std::shared_ptr<Impl::Entry>& slot = impl_->entries[key];
    if (!slot) slot = std::make_shared<Impl::Entry>();
    entry = slot;
  }
  {
    std::lock_guard lock(entry->mutex);
    if (!entry->ready) {  // stays so if tracing throws: the next call tries again
      Traced traced = trace();
      entry->executable = compile(traced.function);
      entry->prototype = std::move(traced.prototype);
      entry->ready = true;
    }
  }
  const std::vector<Literal> values = ir::evaluate(arguments, {});
  Run run{{}, entry->prototype};
  for (Literal& result : entry->executable.run(values))
    run.results.push_back(ir::make_constant(std::move(result)));
  return run;
}

bool runs_inline(std::span<const Tensor> arguments) {
  return ir::tracing() || ir::eager_active() || ir::depends_on_trace(arguments);
}

}  // namespace rondo::detail
