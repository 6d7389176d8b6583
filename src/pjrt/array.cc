#include "pjrt/array.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "fmt/format.h"

namespace rondo::pjrt {

namespace {

/// By DType; the C API numbers the unsigned types, bf16 and the complex ones differently.
constexpr std::array<std::int32_t, kDTypeCount> kElementTypes = {
    1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 13, 11, 12, 14,
    15, 24, 25, 21, 22, 29, 27, 26, 17, 18, 20, 16, 19};

/// Several elements share a byte on devices; copies have a byte for each.
bool is_packed_on_devices(DType dtype) { return is_small(dtype) && bit_width(dtype) < 8; }

/// The elements in the memory of this process, if the plugin exposes them; they have been computed.
/// Else null.
const void* host_pointer(const PluginArray& array, const char* what) {
  if (is_packed_on_devices(array.type.dtype)) return nullptr;
  const PluginState& plugin = *array.plugin_client().plugin;
  if (!plugin.has<api::BufferIsOnCpu>() || !plugin.has<api::BufferUnsafePointer>()) return nullptr;
  api::BufferIsOnCpu place;
  place.buffer = array.buffer;
  plugin.call(place, what);
  if (!place.on_cpu) return nullptr;
  api::BufferUnsafePointer pointer;
  pointer.buffer = array.buffer;
  plugin.call(pointer, what);
  return reinterpret_cast<const void*>(pointer.pointer);
}

/// Arrays of at least so many bytes are not copied: the plugin reads the literal's memory, which is
/// retained until the plugin has finished with it. A write to the literal meanwhile goes to new
/// memory.
constexpr std::int64_t kLentBytes = 1 << 16;
struct Lent {
  const Literal literal;
  const PluginState* plugin;
  api::Event* done = nullptr;

  Lent(const Literal& lent, const PluginState* from) : literal(lent), plugin(from) {}

  static void returned(api::Error* error, void* argument) {
    const std::unique_ptr<const Lent> lent(static_cast<const Lent*>(argument));
    if (error) lent->plugin->destroy(error);
    lent->release();
  }
  void release() const {
    api::EventDestroy destroy;
    destroy.event = done;
    plugin->release(destroy);
  }
};

}  // namespace

std::int32_t element_type(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  if (index < kElementTypes.size()) return kElementTypes[index];
  throw ExecutionError(
      "a literal of no known dtype cannot be copied to a device\n  Make it with one of "
      "rondo::DType.");
}

DType dtype_of_element(std::int32_t type) {
  for (std::size_t i = 0; i < kElementTypes.size(); i++) {
    if (kElementTypes[i] == type) return static_cast<DType>(i);
  }
  throw PluginError(
      fmt::format("the plugin gives an array of element type {}, which Rondo does not have\n  "
                  "Convert it in the program.",
                  type),
      12);
}

PluginArray::~PluginArray() {
  if (!buffer) return;
  api::BufferDestroy destroy;
  destroy.buffer = buffer;
  plugin_client().release(destroy);
}

DeviceArray own(std::shared_ptr<const PluginClient> client, std::size_t device, TensorType type,
                api::Buffer* buffer, std::string_view what, bool lent) {
  if (!buffer) throw plugin_fault(fmt::format("{}: the plugin gave no array", what));
  auto state = std::make_shared<PluginArray>();
  state->client = std::move(client);
  state->device = device;
  state->type = std::move(type);
  state->buffer = buffer;
  state->lent = lent;
  return ArrayAccess::make(std::move(state));
}

DeviceArray PluginClient::upload(const Literal& literal, std::size_t device) const {
  constexpr std::string_view what = "copying an array to a device";
  check_process();
  check_addressable(device, what);
  if (literal.elements() > 0 && !literal.bytes()) {
    throw ExecutionError(
        "pjrt::DeviceArray: the literal was moved from\n  Copy the literal, or make it again.");
  }
  std::unique_ptr<Lent> lent;
  if (literal.type().bytes() >= kLentBytes && plugin->has<api::EventOnReady>() &&
      !is_packed_on_devices(literal.dtype()))
    lent = std::make_unique<Lent>(literal, plugin);
  const std::byte* elements = lent ? lent->literal.bytes() : literal.bytes();
  static constexpr std::byte kNoElements{};  // plugins do not survive a null pointer
  api::BufferFromHostBuffer args;
  args.client = client;
  args.data = elements ? elements : &kNoElements;
  if (lent) args.semantics = api::HostBufferSemantics::kZeroCopy;
  args.type = element_type(literal.dtype());
  args.dimensions = literal.shape().begin();
  args.rank = literal.shape().size();
  args.device = handles[device];
  plugin->call(args, what);
  DeviceArray array = own(shared(), device, literal.type(), args.buffer, what, lent != nullptr);
  if (!lent) {
    await_event(*this, args.done_with_host_buffer, what);
    return array;
  }
  if (!args.done_with_host_buffer) return array;  // it has a copy
  lent->done = args.done_with_host_buffer;
  api::EventOnReady on_ready;
  on_ready.event = lent->done;
  on_ready.callback = Lent::returned;
  on_ready.argument = lent.get();
  try {
    plugin->call(on_ready, what);
  } catch (...) {
    lent->release();
    throw;
  }
  static_cast<void>(lent.release());  // owned by the callback
  return array;
}

api::Event* PluginArray::ready_event(const char* what) const {
  api::BufferReadyEvent ready;
  ready.buffer = buffer;
  plugin_client().plugin->call(ready, what);
  return ready.event;
}

bool PluginArray::ready(const char* what) const {
  api::Event* event = ready_event(what);
  if (!event) return true;
  api::EventIsReady is_ready;
  is_ready.event = event;
  struct Released {
    const PluginClient& client;
    api::EventDestroy args;
    ~Released() { client.release(args); }
  } released{plugin_client(), {}};
  released.args.event = event;
  plugin_client().plugin->call(is_ready, what);
  return is_ready.ready;
}

void PluginArray::await(const char* what) const {
  await_event(plugin_client(), ready_event(what), what);
}

Literal PluginArray::to_literal(const char* what) const {
  const auto bytes = static_cast<std::size_t>(type.bytes());
  Literal literal = Literal::uninitialized(type);
  await(what);
  if (bytes == 0) return literal;
  if (const void* elements = host_pointer(*this, what)) {
    std::memcpy(literal.mutable_bytes(), elements, bytes);
    return literal;
  }
  api::BufferToHostBuffer args;
  args.buffer = buffer;
  plugin_client().plugin->call(args, what);
  if (args.byte_count != bytes) {
    throw plugin_fault(fmt::format("{}: the plugin gives {} bytes of {}, which has {}", what,
                                   args.byte_count, type.str(), bytes));
  }
  args.destination = literal.mutable_bytes();
  args.event = nullptr;
  plugin_client().plugin->call(args, what);
  await_event(plugin_client(), args.event, what);
  if (is_packed_on_devices(type.dtype)) {  // without the bits that a sign repeats
    std::byte* const elements = literal.mutable_bytes();
    for (std::size_t i = 0; i < bytes; i++) {
      const auto bits = std::to_integer<std::uint64_t>(elements[i]);
      elements[i] = static_cast<std::byte>(detail::wrapped_small(type.dtype, bits));
    }
  }
  return literal;
}

DeviceArray PluginArray::copy_to(std::size_t other, const char* what) const {
  client->check_addressable(other, what);
  api::BufferCopyToDevice args;
  args.buffer = buffer;
  args.device = plugin_client().handles[other];
  plugin_client().plugin->call(args, what);
  return own(plugin_client().shared(), other, type, args.copy, what);
}

}  // namespace rondo::pjrt
