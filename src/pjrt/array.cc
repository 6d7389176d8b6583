#include "pjrt/array.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "fmt/format.h"
#include "ir/lazy.h"

namespace rondo::pjrt {

namespace {

/// By DType; the C API counts the unsigned types, bf16 and the complex ones otherwise.
constexpr std::array<std::int32_t, kDTypeCount> kElementTypes = {1, 2,  3,  4,  5,  6,  7, 8,
                                                                 9, 10, 13, 11, 12, 14, 15};

const ArrayState& held(const std::shared_ptr<const ArrayState>& state, const char* what) {
  if (!state) {
    throw ExecutionError(fmt::format(
        "{}: this pjrt::DeviceArray holds nothing\n  Make one of a literal and a device.", what));
  }
  state->client->check_process();
  return *state;
}

const ArrayState& readable(const std::shared_ptr<const ArrayState>& state, const char* what) {
  const ArrayState& array = held(state, what);
  if (array.donated.load(std::memory_order_acquire)) {
    throw ExecutionError(
        fmt::format("{}: this array, {}, was donated to a program, which may have written over it\n"
                    "  Do not use it again, or leave its parameter out of CompileOptions::donate.",
                    what, array.type.str()));
  }
  return array;
}

api::Event* ready_event(const ArrayState& array, const char* what) {
  api::BufferReadyEvent ready;
  ready.buffer = array.buffer;
  array.client->plugin->call(ready, what);
  return ready.event;
}

/// The elements in the memory of this process, if the plugin gives them out; they have been
/// computed. Else null.
const void* host_pointer(const ArrayState& array, const char* what) {
  const PluginState& plugin = *array.client->plugin;
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

/// Arrays of so many bytes and more are not copied: the plugin reads the literal's memory, which is
/// there until it says that it is done with it. A literal that is written to meanwhile takes other
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

Literal value_of(const Tensor& tensor) {
  if (const Literal* known = ir::known_value(tensor)) return *known;
  return ir::evaluate({&tensor, 1}, {}, "pjrt::DeviceArray").front();
}

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

ArrayState::~ArrayState() {
  if (!buffer) return;
  api::BufferDestroy destroy;
  destroy.buffer = buffer;
  client->release(destroy);
}

DeviceArray own(std::shared_ptr<const ClientState> client, std::size_t device, TensorType type,
                api::Buffer* buffer, std::string_view what, bool lent) {
  if (!buffer) throw plugin_fault(fmt::format("{}: the plugin gave no array", what));
  auto state = std::make_shared<ArrayState>();
  state->client = std::move(client);
  state->device = device;
  state->type = std::move(type);
  state->buffer = buffer;
  state->lent = lent;
  return ArrayAccess::make(std::move(state));
}

DeviceArray upload(const Literal& literal, const std::shared_ptr<const ClientState>& client,
                   std::size_t device) {
  constexpr std::string_view what = "copying an array to a device";
  client->check_process();
  if (literal.elements() > 0 && !literal.bytes()) {
    throw ExecutionError(
        "pjrt::DeviceArray: the literal was moved from\n  Copy the literal, or make it again.");
  }
  std::unique_ptr<Lent> lent;
  if (literal.type().bytes() >= kLentBytes && client->plugin->has<api::EventOnReady>())
    lent = std::make_unique<Lent>(literal, client->plugin);
  const std::byte* elements = lent ? lent->literal.bytes() : literal.bytes();
  static constexpr std::byte kNoElements{};  // plugins do not survive a null pointer
  api::BufferFromHostBuffer args;
  args.client = client->client;
  args.data = elements ? elements : &kNoElements;
  if (lent) args.semantics = api::HostBufferSemantics::kZeroCopy;
  args.type = element_type(literal.dtype());
  args.dimensions = literal.shape().begin();
  args.rank = literal.shape().size();
  args.device = client->devices[device].device;
  client->plugin->call(args, what);
  DeviceArray array = own(client, device, literal.type(), args.buffer, what, lent != nullptr);
  if (!lent) {
    await_event(*client, args.done_with_host_buffer, what);
    return array;
  }
  if (!args.done_with_host_buffer) return array;  // it has a copy
  lent->done = args.done_with_host_buffer;
  api::EventOnReady on_ready;
  on_ready.event = lent->done;
  on_ready.callback = Lent::returned;
  on_ready.argument = lent.get();
  try {
    client->plugin->call(on_ready, what);
  } catch (...) {
    lent->release();
    throw;
  }
  static_cast<void>(lent.release());  // to the callback
  return array;
}

DeviceArray::DeviceArray(const Literal& literal, const Device& device) {
  const auto& client = DeviceAccess::state(device);
  if (!client) {
    throw ExecutionError(
        "pjrt::DeviceArray: the device is none\n  Take one of pjrt::Client::devices().");
  }
  *this = upload(literal, client, DeviceAccess::index(device));
}

DeviceArray::DeviceArray(const Tensor& tensor, const Device& device) {
  if (DeviceScope::current() && !tensor.empty() && !tensor.node()->traced)
    ir::keep_values({&tensor, 1}, {}, "pjrt::DeviceArray");
  if (const DeviceArray* array = ir::device_value(tensor))
    *this = array->copy_to(device);
  else
    *this = DeviceArray(value_of(tensor), device);
}

Tensor DeviceArray::tensor() const {
  held(state_, "pjrt::DeviceArray::tensor");
  return ir::make_device_value(*this);
}

const TensorType& DeviceArray::type() const { return held(state_, "pjrt::DeviceArray::type").type; }

Device DeviceArray::device() const {
  const ArrayState& array = held(state_, "pjrt::DeviceArray::device");
  return DeviceAccess::make(array.client, array.device);
}

bool DeviceArray::ready() const {
  constexpr const char* what = "pjrt::DeviceArray::ready";
  const ArrayState& array = readable(state_, what);
  api::Event* event = ready_event(array, what);
  if (!event) return true;
  api::EventIsReady is_ready;
  is_ready.event = event;
  struct Released {
    const ClientState& client;
    api::EventDestroy args;
    ~Released() { client.release(args); }
  } released{*array.client, {}};
  released.args.event = event;
  array.client->plugin->call(is_ready, what);
  return is_ready.ready;
}

void DeviceArray::await() const {
  constexpr const char* what = "pjrt::DeviceArray::await";
  const ArrayState& array = readable(state_, what);
  await_event(*array.client, ready_event(array, what), what);
}

Literal DeviceArray::to_literal() const {
  constexpr const char* what = "copying an array from a device";
  const ArrayState& array = readable(state_, what);
  const auto bytes = static_cast<std::size_t>(array.type.bytes());
  Literal literal = Literal::uninitialized(array.type);
  await_event(*array.client, ready_event(array, what), what);
  if (bytes == 0) return literal;
  if (const void* elements = host_pointer(array, what)) {
    std::memcpy(literal.mutable_bytes(), elements, bytes);
    return literal;
  }
  api::BufferToHostBuffer args;
  args.buffer = array.buffer;
  array.client->plugin->call(args, what);
  if (args.byte_count != bytes) {
    throw plugin_fault(fmt::format("{}: the plugin gives {} bytes of {}, which has {}", what,
                                   args.byte_count, array.type.str(), bytes));
  }
  args.destination = literal.mutable_bytes();
  args.event = nullptr;
  array.client->plugin->call(args, what);
  await_event(*array.client, args.event, what);
  return literal;
}

DeviceArray DeviceArray::copy_to(const Device& device) const {
  constexpr const char* what = "pjrt::DeviceArray::copy_to";
  const ArrayState& array = readable(state_, what);
  const auto& client = DeviceAccess::state(device);
  const std::size_t index = DeviceAccess::index(device);
  if (client != array.client) return {to_literal(), device};
  if (index == array.device) return *this;
  api::BufferCopyToDevice args;
  args.buffer = array.buffer;
  args.device = client->devices[index].device;
  client->plugin->call(args, what);
  return own(client, index, array.type, args.copy, what);
}

bool DeviceArray::donated() const {
  return held(state_, "pjrt::DeviceArray::donated").donated.load(std::memory_order_acquire);
}

std::string DeviceArray::str() const {
  if (!state_) return "no array";
  return state_->type.str() + " on " + DeviceAccess::make(state_->client, state_->device).str();
}

}  // namespace rondo::pjrt
