// The part of PJRT's C API that the client calls, declared here: a plugin is a shared object whose
// GetPjrtApi gives a table of functions, each of which takes one struct of arguments. The layout is
// that of API 0.x, in which entries and fields are only ever appended.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::pjrt::api {

// Objects of the plugin.
struct Error;
struct Client;
struct Device;
struct DeviceDescription;
struct Event;
struct Executable;
struct LoadedExecutable;
struct Buffer;

inline constexpr std::size_t kFunctions = 118;  // at the same offsets since 0.58

/// The table. Functions 0 and 1 return nothing, the others an Error*, which is null on success.
struct Api {
  std::size_t size;
  void* extension;
  struct Version {
    std::size_t size;
    void* extension;
    std::int32_t major;
    std::int32_t minor;
  } version;
  void (*functions[kFunctions])();
};
static_assert(offsetof(Api, functions) == 40);
using GetApi = const Api* (*)();

/// The first fields of all argument structs. A plugin rejects a struct that is smaller than the one
/// it was built with.
template <class Args, int kFunction>
struct Arguments {
  static constexpr int kIndex = kFunction;
  std::size_t size = sizeof(Args);
  void* extension = nullptr;
};

struct ErrorDestroy : Arguments<ErrorDestroy, 0> {
  Error* error = nullptr;
};
struct ErrorMessage : Arguments<ErrorMessage, 1> {
  const Error* error = nullptr;
  const char* message = nullptr;
  std::size_t message_size = 0;
};
struct ErrorGetCode : Arguments<ErrorGetCode, 2> {
  const Error* error = nullptr;
  std::int32_t code = 0;
};
struct PluginInitialize : Arguments<PluginInitialize, 3> {};

template <int kFunction>
struct EventArguments : Arguments<EventArguments<kFunction>, kFunction> {
  Event* event = nullptr;
};
using EventDestroy = EventArguments<5>;
using EventError = EventArguments<7>;
using EventAwait = EventArguments<8>;
struct EventIsReady : Arguments<EventIsReady, 6> {
  Event* event = nullptr;
  bool ready = false;
};
struct EventOnReady : Arguments<EventOnReady, 9> {
  Event* event = nullptr;
  void (*callback)(Error*, void*) = nullptr;
  void* argument = nullptr;
};

enum class OptionType : std::int32_t { kString, kInt64, kInt64List, kFloat, kBool };
struct NamedValue {
  std::size_t size = sizeof(NamedValue);
  void* extension = nullptr;
  const char* name = nullptr;
  std::size_t name_size = 0;
  OptionType type = OptionType::kString;
  union Value {
    const char* text;
    std::int64_t integer;
    const std::int64_t* integers;
    float number;
    bool flag;
  } value = {};
  std::size_t count = 1;  // number of characters or list elements; else 1
};
static_assert(sizeof(NamedValue) == 56);

/// Creates an error of the plugin, for a callback to return.
using MakeError = Error* (*)(std::int32_t code, const char* message, std::size_t message_size);

// The arguments of key-value callbacks, which the plugin fills, except for the values that the
// callbacks return.
struct KeyValueGet {
  std::size_t size = sizeof(KeyValueGet);
  void* extension = nullptr;
  const char* key = nullptr;
  std::size_t key_size = 0;
  std::int32_t milliseconds = 0;
  MakeError* make_error = nullptr;
  void* argument = nullptr;
  char* value = nullptr;
  std::size_t value_size = 0;
  void (*deleter)(char* value) = nullptr;
};
static_assert(sizeof(KeyValueGet) == 80);
struct KeyValueTryGet {
  std::size_t size = sizeof(KeyValueTryGet);
  void* extension = nullptr;
  const char* key = nullptr;
  std::size_t key_size = 0;
  MakeError* make_error = nullptr;
  void* argument = nullptr;
  char* value = nullptr;
  std::size_t value_size = 0;
  void (*deleter)(char* value) = nullptr;
};
static_assert(sizeof(KeyValueTryGet) == 72);
struct KeyValuePut {
  std::size_t size = sizeof(KeyValuePut);
  void* extension = nullptr;
  const char* key = nullptr;
  std::size_t key_size = 0;
  const char* value = nullptr;
  std::size_t value_size = 0;
  MakeError* make_error = nullptr;
  void* argument = nullptr;
};
static_assert(sizeof(KeyValuePut) == 64);

struct ClientCreate : Arguments<ClientCreate, 10> {
  const NamedValue* options = nullptr;
  std::size_t option_count = 0;
  Error* (*get)(KeyValueGet*) = nullptr;
  void* get_argument = nullptr;
  Error* (*put)(KeyValuePut*) = nullptr;
  void* put_argument = nullptr;
  Client* client = nullptr;
  Error* (*try_get)(KeyValueTryGet*) = nullptr;
  void* try_get_argument = nullptr;
};
static_assert(sizeof(ClientCreate) == 88);

struct ClientDestroy : Arguments<ClientDestroy, 11> {
  Client* client = nullptr;
};
template <int kFunction>
struct ClientText : Arguments<ClientText<kFunction>, kFunction> {
  Client* client = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};
using ClientPlatformName = ClientText<12>;
using ClientPlatformVersion = ClientText<14>;
struct ClientProcessIndex : Arguments<ClientProcessIndex, 13> {
  Client* client = nullptr;
  std::int32_t process_index = 0;
};
template <int kFunction>
struct ClientDeviceList : Arguments<ClientDeviceList<kFunction>, kFunction> {
  Client* client = nullptr;
  Device* const* devices = nullptr;
  std::size_t count = 0;
};
using ClientDevices = ClientDeviceList<15>;
using ClientAddressableDevices = ClientDeviceList<16>;

struct Program {
  std::size_t size = sizeof(Program);
  void* extension = nullptr;
  char* code = nullptr;
  std::size_t code_size = 0;
  const char* format = nullptr;
  std::size_t format_size = 0;
};
static_assert(sizeof(Program) == 48);
struct ClientCompile : Arguments<ClientCompile, 20> {
  Client* client = nullptr;
  const Program* program = nullptr;
  const char* options = nullptr;  // a CompileOptionsProto
  std::size_t options_size = 0;
  LoadedExecutable* executable = nullptr;
};
static_assert(sizeof(ClientCompile) == 56);

enum class HostBufferSemantics : std::int32_t { kCopiedDuringCall, kUntilTransferred, kZeroCopy };
struct BufferFromHostBuffer : Arguments<BufferFromHostBuffer, 22> {
  Client* client = nullptr;
  const void* data = nullptr;
  std::int32_t type = 0;
  const std::int64_t* dimensions = nullptr;
  std::size_t rank = 0;
  const std::int64_t* byte_strides = nullptr;
  std::size_t stride_count = 0;
  HostBufferSemantics semantics = HostBufferSemantics::kCopiedDuringCall;
  Device* device = nullptr;
  void* memory = nullptr;
  void* layout = nullptr;  // plugins disagree about its meaning: always null
  Event* done_with_host_buffer = nullptr;
  Buffer* buffer = nullptr;
};
static_assert(sizeof(BufferFromHostBuffer) == 120);

struct DeviceGetDescription : Arguments<DeviceGetDescription, 29> {
  Device* device = nullptr;
  DeviceDescription* description = nullptr;
};
struct DeviceDescriptionProcessIndex : Arguments<DeviceDescriptionProcessIndex, 24> {
  DeviceDescription* description = nullptr;
  std::int32_t process_index = 0;
};
struct DeviceDescriptionId : Arguments<DeviceDescriptionId, 23> {
  DeviceDescription* description = nullptr;
  std::int32_t id = 0;
};
struct DeviceDescriptionKind : Arguments<DeviceDescriptionKind, 26> {
  DeviceDescription* description = nullptr;
  const char* text = nullptr;
  std::size_t text_size = 0;
};

struct ExecutableDestroy : Arguments<ExecutableDestroy, 40> {
  Executable* executable = nullptr;
};
struct ExecutableNumOutputs : Arguments<ExecutableNumOutputs, 44> {
  Executable* executable = nullptr;
  std::size_t count = 0;
};
struct ExecutableOptimizedProgram : Arguments<ExecutableOptimizedProgram, 48> {
  Executable* executable = nullptr;
  Program* program = nullptr;
};
struct ExecutableSerialize : Arguments<ExecutableSerialize, 49> {
  Executable* executable = nullptr;
  const char* bytes = nullptr;
  std::size_t byte_count = 0;
  void* handle = nullptr;
  void (*deleter)(void*) = nullptr;
};
static_assert(sizeof(ExecutableSerialize) == 56);
struct ExecutableDeserializeAndLoad : Arguments<ExecutableDeserializeAndLoad, 56> {
  Client* client = nullptr;
  const char* bytes = nullptr;
  std::size_t byte_count = 0;
  LoadedExecutable* executable = nullptr;
  const char* options = nullptr;
  std::size_t options_size = 0;
};
static_assert(sizeof(ExecutableDeserializeAndLoad) == 64);
struct ExecutableOutputElementTypes : Arguments<ExecutableOutputElementTypes, 90> {
  Executable* executable = nullptr;
  const std::int32_t* types = nullptr;
  std::size_t count = 0;
};
struct ExecutableOutputDimensions : Arguments<ExecutableOutputDimensions, 91> {
  Executable* executable = nullptr;
  std::size_t count = 0;
  const std::int64_t* dimensions = nullptr;  // of all outputs, one after another
  const std::size_t* ranks = nullptr;
};
struct ExecutableGetCompiledMemoryStats : Arguments<ExecutableGetCompiledMemoryStats, 96> {
  Executable* executable = nullptr;
  std::int64_t code_bytes = 0;
  std::int64_t argument_bytes = 0;
  std::int64_t output_bytes = 0;
  std::int64_t alias_bytes = 0;
  std::int64_t temporary_bytes = 0;
  std::int64_t host_bytes[5] = {};  // the same on the host
  std::int64_t peak_bytes = 0;
};
static_assert(sizeof(ExecutableGetCompiledMemoryStats) == 112);

struct LoadedExecutableDestroy : Arguments<LoadedExecutableDestroy, 50> {
  LoadedExecutable* executable = nullptr;
};
struct LoadedExecutableGetExecutable : Arguments<LoadedExecutableGetExecutable, 51> {
  LoadedExecutable* loaded = nullptr;
  Executable* executable = nullptr;
};
struct LoadedExecutableAddressableDevices : Arguments<LoadedExecutableAddressableDevices, 52> {
  LoadedExecutable* executable = nullptr;
  Device* const* devices = nullptr;
  std::size_t count = 0;
};
struct ExecuteOptions {
  std::size_t size = sizeof(ExecuteOptions);
  void* extension = nullptr;
  void* send_callbacks = nullptr;
  void* receive_callbacks = nullptr;
  std::size_t send_count = 0;
  std::size_t receive_count = 0;
  std::int32_t launch_id = 0;
  const std::int64_t* not_donated = nullptr;
  std::size_t not_donated_count = 0;
  void* context = nullptr;
  const char* call_location = nullptr;
  std::size_t task_count = 0;
  void* task_ids = nullptr;
  void* incarnation_ids = nullptr;
};
static_assert(sizeof(ExecuteOptions) == 112);
struct LoadedExecutableExecute : Arguments<LoadedExecutableExecute, 55> {
  LoadedExecutable* executable = nullptr;
  ExecuteOptions* options = nullptr;
  Buffer* const* const* arguments = nullptr;  // [device][argument]
  std::size_t device_count = 0;
  std::size_t argument_count = 0;
  Buffer** const* results = nullptr;  // [device][result]
  Event** complete = nullptr;         // [device]
  Device* execute_device = nullptr;
};
static_assert(sizeof(LoadedExecutableExecute) == 80);

struct BufferDestroy : Arguments<BufferDestroy, 58> {
  Buffer* buffer = nullptr;
};
struct BufferElementType : Arguments<BufferElementType, 59> {
  Buffer* buffer = nullptr;
  std::int32_t type = 0;
};
struct BufferDimensions : Arguments<BufferDimensions, 60> {
  Buffer* buffer = nullptr;
  const std::int64_t* dimensions = nullptr;
  std::size_t rank = 0;
};
struct BufferDevice : Arguments<BufferDevice, 65> {
  Buffer* buffer = nullptr;
  Device* device = nullptr;
};
struct BufferIsDeleted : Arguments<BufferIsDeleted, 68> {
  Buffer* buffer = nullptr;
  bool deleted = false;
};
struct BufferCopyToDevice : Arguments<BufferCopyToDevice, 69> {
  Buffer* buffer = nullptr;
  Device* device = nullptr;
  Buffer* copy = nullptr;
};
struct BufferToHostBuffer : Arguments<BufferToHostBuffer, 70> {
  Buffer* buffer = nullptr;
  void* layout = nullptr;
  void* destination = nullptr;
  std::size_t byte_count = 0;
  Event* event = nullptr;
};
static_assert(sizeof(BufferToHostBuffer) == 56);
struct BufferIsOnCpu : Arguments<BufferIsOnCpu, 71> {
  Buffer* buffer = nullptr;
  bool on_cpu = false;
};
struct BufferReadyEvent : Arguments<BufferReadyEvent, 72> {
  Buffer* buffer = nullptr;
  Event* event = nullptr;
};
struct BufferUnsafePointer : Arguments<BufferUnsafePointer, 73> {
  Buffer* buffer = nullptr;
  std::uintptr_t pointer = 0;
};

}  // namespace rondo::pjrt::api
