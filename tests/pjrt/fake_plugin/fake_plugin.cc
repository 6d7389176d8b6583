// The fake plugin: programs return their arguments, as results of the same number and types, unless
// a test gives it a function that computes. Its clients are those of one process or of several,
// each with two devices.
#include "pjrt/fake_plugin/fake_plugin.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/api.h"
#include "pjrt/fake_plugin/program_text.h"

namespace {

using rondo::testing::FakePlugin;
namespace api = rondo::pjrt::api;

FakePlugin state;
std::mutex noting;  // held while lists of it are written

/// Objects without which the plugin cannot work.
struct Needed {
  bool there = true;
  ~Needed() { there = false; }
} needed;

struct FakeError {
  int code;
  std::string message;
};
/// What waits for a pending event.
struct Waiting {
  void (*callback)(api::Error*, void*) = nullptr;
  void* argument = nullptr;
};
struct FakeEvent {
  bool fails;
  std::shared_ptr<Waiting> waiting;  // null: it is ready
};
/// Memory of the host that a buffer reads, until it is destroyed.
struct Borrowed {
  const void* data;
  std::shared_ptr<Waiting> waiting;
};
struct FakeDevice {
  int id;
  int process;
};
/// The client of one of several processes, which knows the devices of all.
struct FakeClient {
  int process = 0;
  std::vector<std::unique_ptr<FakeDevice>> devices;
  std::vector<FakeDevice*> all, here;
};
struct FakeBuffer {
  std::vector<char> bytes;
  std::int32_t type;
  std::vector<std::int64_t> dimensions;
  FakeDevice* device;
  bool late;
  std::optional<Borrowed> borrowed;
  bool deleted = false;  // donated to a program
};
struct FakeProgram {
  std::vector<std::int64_t> ids;     // of all partitions' devices
  std::vector<FakeDevice*> devices;  // those of this process
  std::vector<std::int32_t> types;   // of each device's results
  std::vector<std::int64_t> dimensions;
  std::vector<std::size_t> ranks;
  std::vector<bool> donors;
};

constexpr int kDevices = 2;           // of each process
constexpr int kIdsPerProcess = 2048;  // as XLA's CPU clients number them
FakeDevice stranger{2, 0};            // of no client
FakeDevice* strangers[] = {&stranger};

std::int64_t option(const api::ClientCreate& args, std::string_view name, std::int64_t otherwise) {
  for (std::size_t i = 0; i < args.option_count; i++) {
    if (std::string_view(args.options[i].name, args.options[i].name_size) == name)
      return args.options[i].value.integer;
  }
  return otherwise;
}

std::int64_t& counted(std::int64_t& count, int step) {
  __atomic_add_fetch(&count, step, __ATOMIC_RELAXED);
  return count;
}

api::Error* error(int code, const std::string& message) {
  counted(state.errors, 1);
  return reinterpret_cast<api::Error*>(new FakeError{code, message});
}

api::Event* event(bool fails = false) {
  counted(state.events, 1);
  return reinterpret_cast<api::Event*>(new FakeEvent{fails, nullptr});
}

/// Fails where the tests require it.
template <class Args, class Body>
api::Error* guarded(Args* args, Body body) {
  if (!needed.there) std::abort();
  if (args->size < sizeof(Args)) return error(3, "the struct of arguments is too small");
  if (state.failing == Args::kIndex && state.passes-- <= 0) {
    if (state.throws) throw std::runtime_error(state.message);
    if (state.throws_int) throw 42;
    return error(state.code, state.message);
  }
  if (state.idle == Args::kIndex) return nullptr;
  body();
  return nullptr;
}

/// The same for functions that release an object, which is released either way.
template <class Args, class Body>
api::Error* after(Args* args, Body body) {
  body();
  return guarded(args, [] {});
}

template <class T>
void destroy(void* object, std::int64_t& count) {
  delete static_cast<T*>(object);
  counted(count, -1);
}

std::int64_t width_of(std::int32_t type) { return type == 12 ? 8 : 4; }

FakeProgram make_program(const FakeClient& client, const std::string& text,
                         const std::vector<std::int64_t>& ids) {
  FakeProgram program;
  program.ids = ids;
  for (const std::int64_t id : ids) {
    for (FakeDevice* device : client.here) {
      if (device->id == id) program.devices.push_back(device);
    }
  }
  const rondo::testing::FakeSignature signature = rondo::testing::signature_of(text);
  for (const auto& parameter : signature.parameters) program.donors.push_back(parameter.donor);
  for (const auto& value : state.compute ? signature.results : signature.parameters) {
    program.dimensions.insert(program.dimensions.end(), value.dimensions.begin(),
                              value.dimensions.end());
    program.ranks.push_back(value.dimensions.size());
    program.types.push_back(state.other_result_type ? 5
                            : value.dtype == "f32"  ? 11
                            : value.dtype == "f64"  ? 12
                                                    : 4);
  }
  return program;
}

std::int64_t elements(const std::vector<std::int64_t>& dimensions) {
  std::int64_t product = 1;
  for (const std::int64_t n : dimensions) product *= n;
  return product;
}

void error_destroy(api::ErrorDestroy* args) { destroy<FakeError>(args->error, state.errors); }
void error_message(api::ErrorMessage* args) {
  const auto* fake = reinterpret_cast<const FakeError*>(args->error);
  args->message = fake->message.data();
  args->message_size = fake->message.size();
}
api::Error* error_code(api::ErrorGetCode* args) {
  args->code = reinterpret_cast<const FakeError*>(args->error)->code;
  return nullptr;
}
api::Error* initialize(api::PluginInitialize* args) {
  return guarded(args, [] {});
}
api::Error* event_destroy(api::EventDestroy* args) {
  return after(args, [&] { destroy<FakeEvent>(args->event, state.events); });
}
api::Error* event_is_ready(api::EventIsReady* args) {
  return guarded(args, [&] { args->ready = true; });
}
api::Error* event_await(api::EventAwait* args) {
  if (reinterpret_cast<FakeEvent*>(args->event)->fails) return error(8, "late: out of memory");
  return guarded(args, [] {});
}
api::Error* event_on_ready(api::EventOnReady* args) {
  return guarded(args, [&] {
    const auto& waiting = reinterpret_cast<FakeEvent*>(args->event)->waiting;
    if (waiting)
      *waiting = {args->callback, args->argument};
    else
      args->callback(nullptr, args->argument);
  });
}
api::Error* event_error(api::EventError*) { return nullptr; }
api::MakeError make_error = [](std::int32_t code, const char* message, std::size_t size) {
  return error(code, std::string(message, size));
};
/// The answer of a store to a get of either kind.
template <class Args>
api::Error* asked(api::Error* (*callback)(Args*), Args& args, const std::string& key,
                  void* argument) {
  args.key = key.data();
  args.key_size = key.size();
  args.make_error = &make_error;
  args.argument = argument;
  return callback(&args);
}
/// Like `asked`, for a key that has this value.
template <class Args>
api::Error* expect_value(api::Error* (*callback)(Args*), const std::string& key,
                         const std::string& value, Args args, void* argument) {
  if (api::Error* failed = asked(callback, args, key, argument)) return failed;
  const bool same = std::string(args.value, args.value_size) == value;
  args.deleter(args.value);
  return same ? nullptr : error(13, "the store gives another value");
}
int status_of(api::Error* failed) {
  if (!failed) return 0;
  const int code = reinterpret_cast<FakeError*>(failed)->code;
  destroy<FakeError>(failed, state.errors);
  return code;
}
api::Error* ask_store(const api::ClientCreate& args) {
  if (!args.get || !args.put || !args.try_get) return error(13, "there is no store");
  const std::string key = "greeting", value("hel\0lo", 6);
  api::KeyValuePut put;
  put.key = key.data();
  put.key_size = key.size();
  put.value = value.data();
  put.value_size = value.size();
  put.make_error = &make_error;
  put.argument = args.put_argument;
  if (api::Error* failed = args.put(&put)) return failed;
  api::KeyValueGet get;
  get.milliseconds = 1000;
  if (api::Error* failed = expect_value(args.get, key, value, get, args.get_argument))
    return failed;
  api::KeyValueTryGet try_get;
  if (api::Error* failed = expect_value(args.try_get, key, value, try_get, args.try_get_argument))
    return failed;
  state.not_found = status_of(asked(args.try_get, try_get, "nothing", args.try_get_argument));
  get.milliseconds = 20;
  state.too_late = status_of(asked(args.get, get, "nothing", args.get_argument));
  return nullptr;
}
api::Error* client_create(api::ClientCreate* args) {
  if (state.asks_store) {
    if (api::Error* failed = ask_store(*args)) return failed;
  }
  return guarded(args, [&] {
    counted(state.clients, 1);
    auto* client = new FakeClient;
    client->process = static_cast<int>(option(*args, "node_id", 0));
    const auto processes = static_cast<int>(option(*args, "num_nodes", 1));
    for (int process = 0; process < processes; process++) {
      for (int i = 0; i < kDevices; i++) {
        const FakeDevice device{process * kIdsPerProcess + i, process};
        client->all.push_back(
            client->devices.emplace_back(std::make_unique<FakeDevice>(device)).get());
        if (process == client->process) client->here.push_back(client->all.back());
      }
    }
    args->client = reinterpret_cast<api::Client*>(client);
  });
}
api::Error* client_destroy(api::ClientDestroy* args) {
  return after(args, [&] { destroy<FakeClient>(args->client, state.clients); });
}
template <class Args>
api::Error* client_text(Args* args) {
  return guarded(args, [&] {
    args->text = "fake";
    args->text_size = 4;
  });
}
api::Error* client_process(api::ClientProcessIndex* args) {
  return guarded(
      args, [&] { args->process_index = reinterpret_cast<FakeClient*>(args->client)->process; });
}
template <class Args>
api::Error* client_devices(Args* args) {
  return guarded(args, [&] {
    const auto* client = reinterpret_cast<FakeClient*>(args->client);
    const bool all = Args::kIndex == api::ClientDevices::kIndex;
    const std::vector<FakeDevice*>& list = all ? client->all : client->here;
    args->devices = reinterpret_cast<api::Device* const*>(list.data());
    args->count = state.no_devices ? 0 : list.size();
  });
}
api::Error* device_description(api::DeviceGetDescription* args) {
  return guarded(
      args, [&] { args->description = reinterpret_cast<api::DeviceDescription*>(args->device); });
}
api::Error* device_id(api::DeviceDescriptionId* args) {
  return guarded(args, [&] { args->id = reinterpret_cast<FakeDevice*>(args->description)->id; });
}
api::Error* device_process(api::DeviceDescriptionProcessIndex* args) {
  return guarded(args, [&] {
    args->process_index = reinterpret_cast<FakeDevice*>(args->description)->process;
  });
}
api::Error* device_kind(api::DeviceDescriptionKind* args) {
  return guarded(args, [&] {
    args->text = "pretender";
    args->text_size = 9;
  });
}
api::Error* compile(api::ClientCompile* args) {
  return guarded(args, [&] {
    counted(state.compiled, 1);
    counted(state.loaded, 1);
    std::vector<std::int64_t> ids =
        rondo::testing::assigned_devices(std::string(args->options, args->options_size));
    args->executable = reinterpret_cast<api::LoadedExecutable*>(new FakeProgram(
        make_program(*reinterpret_cast<FakeClient*>(args->client),
                     std::string(args->program->code, args->program->code_size), ids)));
    const std::lock_guard lock(noting);
    state.assignment = std::move(ids);
  });
}
api::Error* from_host(api::BufferFromHostBuffer* args) {
  return guarded(args, [&] {
    const int process = reinterpret_cast<FakeClient*>(args->client)->process;
    if (reinterpret_cast<FakeDevice*>(args->device)->process != process)
      throw std::logic_error("the device is not addressable");
    auto* buffer = new FakeBuffer{{},
                                  args->type,
                                  {args->dimensions, args->dimensions + args->rank},
                                  reinterpret_cast<FakeDevice*>(args->device),
                                  false,
                                  std::nullopt};
    buffer->bytes.resize(
        static_cast<std::size_t>(elements(buffer->dimensions) * width_of(args->type)));
    std::memcpy(buffer->bytes.data(), args->data, buffer->bytes.size());
    counted(state.buffers, 1);
    args->buffer = reinterpret_cast<api::Buffer*>(buffer);
    args->done_with_host_buffer = event();
    if (args->semantics != api::HostBufferSemantics::kZeroCopy) return;
    counted(state.lent, 1);
    buffer->borrowed = Borrowed{args->data, std::make_shared<Waiting>()};
    reinterpret_cast<FakeEvent*>(args->done_with_host_buffer)->waiting = buffer->borrowed->waiting;
  });
}
api::Error* get_executable(api::LoadedExecutableGetExecutable* args) {
  return guarded(args, [&] {
    counted(state.executables, 1);
    args->executable = reinterpret_cast<api::Executable*>(
        new FakeProgram(*reinterpret_cast<FakeProgram*>(args->loaded)));
  });
}
api::Error* executable_destroy(api::ExecutableDestroy* args) {
  return after(args, [&] { destroy<FakeProgram>(args->executable, state.executables); });
}
api::Error* loaded_destroy(api::LoadedExecutableDestroy* args) {
  return after(args, [&] { destroy<FakeProgram>(args->executable, state.loaded); });
}
api::Error* output_count(api::ExecutableNumOutputs* args) {
  return guarded(
      args, [&] { args->count = reinterpret_cast<FakeProgram*>(args->executable)->types.size(); });
}
api::Error* output_types(api::ExecutableOutputElementTypes* args) {
  return guarded(args, [&] {
    const auto* program = reinterpret_cast<FakeProgram*>(args->executable);
    args->types = program->types.data();
    args->count = program->types.size();
  });
}
api::Error* output_dimensions(api::ExecutableOutputDimensions* args) {
  return guarded(args, [&] {
    const auto* program = reinterpret_cast<FakeProgram*>(args->executable);
    args->dimensions = program->dimensions.data();
    args->ranks = program->ranks.data();
    args->count = program->ranks.size();
  });
}
api::Error* loaded_devices(api::LoadedExecutableAddressableDevices* args) {
  return guarded(args, [&] {
    const auto* program = reinterpret_cast<FakeProgram*>(args->executable);
    args->devices = reinterpret_cast<api::Device* const*>(
        state.other_device ? strangers : program->devices.data());
    args->count = state.other_device ? 1 : program->devices.size();
  });
}
/// The results of one device, by the test's function.
void compute(const FakeProgram& program, FakeDevice* device, api::Buffer* const* arguments,
             std::size_t count, api::Buffer** results) {
  std::vector<const char*> inputs;
  for (std::size_t i = 0; i < count; i++)
    inputs.push_back(reinterpret_cast<FakeBuffer*>(arguments[i])->bytes.data());
  std::vector<char*> outputs;
  const std::int64_t* next = program.dimensions.data();
  for (std::size_t i = 0; i < program.types.size(); i++) {
    const std::vector<std::int64_t> dimensions(next, next + program.ranks[i]);
    next += program.ranks[i];
    const auto bytes = static_cast<std::size_t>(elements(dimensions) * width_of(program.types[i]));
    auto* result = new FakeBuffer{
        std::vector<char>(bytes), program.types[i], dimensions, device, state.late, std::nullopt};
    counted(state.buffers, 1);
    results[i] = reinterpret_cast<api::Buffer*>(result);
    outputs.push_back(result->bytes.data());
  }
  state.compute(inputs, outputs);
}

/// The ids of the devices of the arguments, which a real plugin checks too.
void note_devices(const FakeProgram& program, const api::LoadedExecutableExecute& args) {
  if (args.device_count != program.devices.size())
    throw std::logic_error("arguments for another number of devices");
  std::vector<std::vector<int>> passed(args.device_count);
  for (std::size_t d = 0; d < args.device_count; d++) {
    for (std::size_t i = 0; i < args.argument_count; i++) {
      const FakeDevice* device = reinterpret_cast<FakeBuffer*>(args.arguments[d][i])->device;
      if (device != program.devices[d]) throw std::logic_error("an argument of another device");
      passed[d].push_back(device->id);
    }
  }
  const std::lock_guard lock(noting);
  state.passed = std::move(passed);
}

api::Error* execute(api::LoadedExecutableExecute* args) {
  return guarded(args, [&] {
    if (state.no_result) return;
    const auto* program = reinterpret_cast<FakeProgram*>(args->executable);
    note_devices(*program, *args);
    const std::vector<std::int64_t> kept(
        args->options->not_donated, args->options->not_donated + args->options->not_donated_count);
    for (std::size_t d = 0; d < args->device_count; d++) {
      for (std::size_t i = 0; i < args->argument_count; i++) {
        auto* buffer = reinterpret_cast<FakeBuffer*>(args->arguments[d][i]);
        if (buffer->deleted) throw std::logic_error("an argument was given away before");
        if (program->donors[i] &&
            std::find(kept.begin(), kept.end(), static_cast<std::int64_t>(i)) == kept.end()) {
          buffer->deleted = true;
          counted(state.donated, 1);
        } else if (program->donors[i]) {
          counted(state.left_alone, 1);
        }
        if (state.compute) continue;
        auto* copy = new FakeBuffer(*buffer);
        copy->deleted = false;
        copy->borrowed.reset();
        copy->late = state.late;
        counted(state.buffers, 1);
        args->results[d][i] = reinterpret_cast<api::Buffer*>(copy);
      }
      if (state.compute)
        compute(*program, program->devices[d], args->arguments[d], args->argument_count,
                args->results[d]);
    }
  });
}
api::Error* buffer_destroy(api::BufferDestroy* args) {
  return after(args, [&] {
    const auto* buffer = reinterpret_cast<FakeBuffer*>(args->buffer);
    if (const auto borrowed = buffer->borrowed) {
      counted(state.lent, -1);
      if (std::memcmp(borrowed->data, buffer->bytes.data(), buffer->bytes.size()) != 0)
        counted(state.changed, 1);
      if (borrowed->waiting->callback)
        borrowed->waiting->callback(nullptr, borrowed->waiting->argument);
    }
    destroy<FakeBuffer>(args->buffer, state.buffers);
  });
}
api::Error* buffer_copy(api::BufferCopyToDevice* args) {
  return guarded(args, [&] {
    auto* copy = new FakeBuffer(*reinterpret_cast<FakeBuffer*>(args->buffer));
    copy->borrowed.reset();
    copy->device = reinterpret_cast<FakeDevice*>(args->device);
    counted(state.buffers, 1);
    args->copy = reinterpret_cast<api::Buffer*>(copy);
  });
}
api::Error* to_host(api::BufferToHostBuffer* args) {
  return guarded(args, [&] {
    const auto* buffer = reinterpret_cast<FakeBuffer*>(args->buffer);
    if (buffer->deleted) throw std::logic_error("this array was given away");
    if (!args->destination) {
      args->byte_count = buffer->bytes.size() + static_cast<std::size_t>(state.extra_bytes);
      return;
    }
    std::memcpy(args->destination, buffer->bytes.data(), buffer->bytes.size());
    args->event = event();
  });
}
api::Error* on_cpu(api::BufferIsOnCpu* args) {
  return guarded(args, [&] { args->on_cpu = !state.not_on_cpu; });
}
api::Error* ready_event(api::BufferReadyEvent* args) {
  return guarded(args,
                 [&] { args->event = event(reinterpret_cast<FakeBuffer*>(args->buffer)->late); });
}
api::Error* unsafe_pointer(api::BufferUnsafePointer* args) {
  return guarded(args, [&] {
    const auto* buffer = reinterpret_cast<FakeBuffer*>(args->buffer);
    if (buffer->deleted) throw std::logic_error("this array was given away");
    args->pointer = reinterpret_cast<std::uintptr_t>(buffer->bytes.data());
  });
}
void delete_string(void* text) {
  delete static_cast<std::string*>(text);
  counted(state.serialized, -1);
}
api::Error* serialize(api::ExecutableSerialize* args) {
  return guarded(args, [&] {
    const auto* program = reinterpret_cast<FakeProgram*>(args->executable);
    auto* text = new std::string("fake:");
    for (const std::int64_t id : program->ids) *text += std::to_string(id) + ",";
    *text += "@main(";
    std::size_t next = 0;
    for (std::size_t i = 0; i < program->types.size(); i++) {
      *text += "tensor<";
      for (std::size_t k = 0; k < program->ranks[i]; k++)
        *text += std::to_string(program->dimensions[next++]) + "x";
      *text += program->types[i] == 11 ? "f32>" : program->types[i] == 12 ? "f64>" : "i32>";
    }
    *text += ") ->";
    counted(state.serialized, 1);
    args->handle = text;
    args->bytes = text->data();
    args->byte_count = text->size();
    args->deleter = delete_string;
  });
}
api::Error* deserialize(api::ExecutableDeserializeAndLoad* args) {
  const std::string bytes(args->bytes, args->byte_count);
  if (!bytes.starts_with("fake:")) return error(13, "these bytes are no program");
  return guarded(args, [&] {
    counted(state.deserialized, 1);
    counted(state.loaded, 1);
    std::vector<std::int64_t> ids;
    for (std::size_t at = 5; bytes.at(at) != '@'; at = bytes.find(',', at) + 1)
      ids.push_back(std::stoll(bytes.substr(at)));
    args->executable = reinterpret_cast<api::LoadedExecutable*>(
        new FakeProgram(make_program(*reinterpret_cast<FakeClient*>(args->client), bytes, ids)));
  });
}

template <class Args>
void put(api::Api& table, api::Error* (*function)(Args*)) {
  table.functions[Args::kIndex] = reinterpret_cast<void (*)()>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) FakePlugin* rondo_fake_plugin_state() {
  return &state;
}

extern "C" __attribute__((visibility("default"))) const api::Api* GetPjrtApi() {
  static api::Api table;
  table = {};
  table.size = state.table_size ? state.table_size : sizeof(table);
  table.version = {sizeof(table.version), nullptr, state.major, state.minor};
  table.functions[api::ErrorDestroy::kIndex] = reinterpret_cast<void (*)()>(error_destroy);
  table.functions[api::ErrorMessage::kIndex] = reinterpret_cast<void (*)()>(error_message);
  put(table, error_code);
  put(table, initialize);
  put(table, event_destroy);
  put(table, event_is_ready);
  put(table, event_await);
  put(table, event_error);
  put(table, event_on_ready);
  put(table, client_create);
  put(table, client_destroy);
  put(table, client_text<api::ClientPlatformName>);
  put(table, client_text<api::ClientPlatformVersion>);
  put(table, client_process);
  put(table, client_devices<api::ClientDevices>);
  put(table, client_devices<api::ClientAddressableDevices>);
  put(table, device_description);
  put(table, device_id);
  put(table, device_process);
  put(table, device_kind);
  put(table, compile);
  put(table, from_host);
  put(table, get_executable);
  put(table, executable_destroy);
  put(table, loaded_destroy);
  put(table, output_count);
  put(table, output_types);
  put(table, output_dimensions);
  put(table, loaded_devices);
  put(table, execute);
  put(table, buffer_destroy);
  put(table, buffer_copy);
  put(table, to_host);
  put(table, on_cpu);
  put(table, ready_event);
  put(table, unsafe_pointer);
  put(table, serialize);
  put(table, deserialize);
  if (state.missing >= 0) table.functions[state.missing] = nullptr;
  return state.no_table ? nullptr : &table;
}
