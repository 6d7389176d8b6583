#include "pjrt/program.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "fmt/format.h"
#include "pjrt/compile_options.h"

namespace rondo::pjrt {

namespace {

constexpr std::string_view kFormat = "mlir";

std::string list(std::span<const TensorType> types) {
  std::string out = "(";
  for (const TensorType& type : types) {
    if (out.size() > 1) out += ", ";
    out += type.str();
  }
  return out + ")";
}

[[noreturn]] void refuse_donated(const std::string& name, std::size_t argument) {
  throw ExecutionError(
      fmt::format("run of '{}': argument {} was donated to an earlier run, which may have written "
                  "over it\n  Do not use it again, or leave it out of CompileOptions::donate.",
                  name, argument));
}

std::shared_ptr<const PluginClient> one_client(const ProgramOptions& options) {
  if (options.devices.empty()) throw InternalError("a program for no device");
  std::shared_ptr<const PluginClient> client = plugin_client(options.devices.front());
  for (const Device& device : options.devices) {
    if (!device || DeviceAccess::state(device) != client) {
      throw ExecutionError(fmt::format(
          "'{}' is for devices of several clients: {} and {}\n  Give devices of one pjrt::Client.",
          options.name, options.devices.front().str(), device.str()));
    }
  }
  client->check_process();
  if (std::none_of(options.devices.begin(), options.devices.end(),
                   [](const Device& device) { return device.is_addressable(); })) {
    const Device& first = options.devices.front();
    throw ExecutionError(fmt::format(
        "'{}' is for no device of this process, {}: {} is one of process {}\n  Take one of "
        "pjrt::Client::devices(), or a mesh with some of them.",
        options.name, client->process_index, first.str(), first.process_index()));
  }
  return client;
}

/// The plugin's description of an executable's results.
std::vector<TensorType> output_types(const PluginState& plugin, api::Executable* executable) {
  constexpr std::string_view what = "the results of a compiled program";
  api::ExecutableNumOutputs outputs;
  outputs.executable = executable;
  plugin.call(outputs, what);
  api::ExecutableOutputElementTypes elements;
  elements.executable = executable;
  plugin.call(elements, what);
  api::ExecutableOutputDimensions sizes;
  sizes.executable = executable;
  plugin.call(sizes, what);
  if (elements.count != outputs.count || sizes.count != outputs.count)
    throw plugin_fault(fmt::format("{}: the plugin contradicts itself", what));
  std::vector<TensorType> types;
  const std::int64_t* next = sizes.dimensions;
  for (std::size_t i = 0; i < outputs.count; i++) {
    types.push_back({dtype_of_element(elements.types[i]), Shape(std::span(next, sizes.ranks[i]))});
    next += sizes.ranks[i];
  }
  return types;
}

/// Marks the arguments that a run may overwrite, so that they are not read from then on; removes
/// the marks if the run does not begin.
class Donation {
 public:
  Donation(std::span<const std::vector<DeviceArray>> arguments, const ProgramOptions& options,
           const std::vector<bool>& left_alone) {
    for (std::size_t i = 0; i < options.donated.size(); i++) {
      if (!options.donated[i]) continue;
      const bool is_left = i < left_alone.size() && left_alone[i];
      (is_left ? left_alone_ : donated_).push_back(static_cast<std::int64_t>(i));
    }
    try {
      for (const std::vector<DeviceArray>& of_device : arguments) {
        for (const std::int64_t i : donated_)
          mark(of_device, static_cast<std::size_t>(i), options.name);
      }
    } catch (...) {
      take_back();
      throw;
    }
  }
  ~Donation() { take_back(); }
  Donation(const Donation&) = delete;
  Donation& operator=(const Donation&) = delete;
  void begun() { marked_.clear(); }
  /// The parameters that the program could overwrite but this run must not.
  const absl::InlinedVector<std::int64_t, 4>& left_alone() const { return left_alone_; }

 private:
  void mark(const std::vector<DeviceArray>& arguments, std::size_t i, const std::string& name) {
    const ArrayState* array = ArrayAccess::state(arguments[i]).get();
    for (std::size_t j = 0; j < arguments.size(); j++) {
      if (j == i || ArrayAccess::state(arguments[j]).get() != array) continue;
      throw ExecutionError(
          fmt::format("run of '{}': arguments {} and {} are one array, and argument {} is donated\n"
                      "  Give a copy, or leave it out of CompileOptions::donate.",
                      name, i, j, i));
    }
    if (array->donated.exchange(true, std::memory_order_acq_rel)) refuse_donated(name, i);
    marked_.push_back(array);
  }
  void take_back() noexcept {
    for (const ArrayState* array : marked_) array->donated.store(false, std::memory_order_release);
    marked_.clear();
  }
  absl::InlinedVector<std::int64_t, 4> donated_, left_alone_;
  absl::InlinedVector<const ArrayState*, 4> marked_;
};

}  // namespace

std::string compile_options(const ProgramOptions& options) {
  XlaOptions xla;
  for (const Device& device : options.devices) xla.devices.push_back(device.id());
  xla.shardy = options.shardy;
  // By default the CPU's minimum and maximum may drop a NaN.
  if (options.devices.front().platform() == "cpu")
    xla.flags.emplace_back("xla_cpu_enable_fast_min_max", false);
  return compile_options(xla);
}

Program::Program(const std::string& text, ProgramOptions options)
    : options_(std::move(options)), client_(one_client(options_)) {
  const std::string bytes = compile_options(options_);
  std::string code = text;
  api::Program program;
  program.code = code.data();
  program.code_size = code.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  api::ClientCompile args;
  args.client = client_->client;
  args.program = &program;
  args.options = bytes.data();
  args.options_size = bytes.size();
  client_->plugin->call(
      args, fmt::format("compiling '{}' for {}", options_.name, options_.devices.front().str()));
  take(args.executable);
}

Program::Program(ProgramOptions options, api::LoadedExecutable* loaded)
    : options_(std::move(options)), client_(one_client(options_)) {
  take(loaded);
}

void Program::take(api::LoadedExecutable* loaded) {
  if (!loaded) throw plugin_fault("the plugin compiled to nothing");
  loaded_ = loaded;
  try {
    for (const Device& device : options_.devices) {
      if (device.is_addressable()) devices_.push_back(DeviceAccess::index(device));
    }
    check_made();
  } catch (...) {
    release();
    throw;
  }
}

void Program::check_made() {
  const std::string what =
      fmt::format("'{}' for {}", options_.name, options_.devices.front().str());
  api::LoadedExecutableGetExecutable get;
  get.loaded = loaded_;
  client_->plugin->call(get, what);
  executable_ = get.executable;
  if (!executable_) throw plugin_fault(what + ": the plugin compiled to nothing");
  const std::vector<TensorType> made = output_types(*client_->plugin, executable_);
  if (made != options_.results) {
    throw plugin_fault(fmt::format("{}: the plugin's program gives {}, the function {}", what,
                                   list(made), list(options_.results)));
  }
  api::LoadedExecutableAddressableDevices places;
  places.executable = loaded_;
  client_->plugin->call(places, what);
  bool same = places.count == devices_.size();
  for (std::size_t d = 0; same && d < devices_.size(); d++)
    same = places.devices[d] == client_->handles[devices_[d]];
  if (!same) throw plugin_fault(fmt::format("{}: the plugin chose other devices", what));
}

void Program::release() noexcept {
  if (executable_) {
    api::ExecutableDestroy destroy;
    destroy.executable = executable_;
    client_->release(destroy);
  }
  api::LoadedExecutableDestroy destroy;
  destroy.executable = loaded_;
  client_->release(destroy);
}

Program::~Program() { release(); }

std::string Program::parameter(std::size_t argument, std::size_t device) const {
  std::string out = fmt::format("run of '{}': argument {}", options_.name, argument);
  if (options_.devices.size() > 1) out += fmt::format(" of {}", this->device(device).str());
  return out;
}

void Program::check(std::span<const DeviceArray> arguments, std::size_t device) const {
  const std::vector<TensorType>& types = options_.parameters;
  if (arguments.size() != types.size()) {
    throw ExecutionError(fmt::format(
        "run of '{}': the number of arguments is {}, the program takes {} {}\n  Give one array for "
        "each parameter, in order.",
        options_.name, arguments.size(), types.size(), list(types)));
  }
  for (std::size_t i = 0; i < types.size(); i++) {
    const ArrayState* array = ArrayAccess::state(arguments[i]).get();
    if (!array) {
      throw ExecutionError(fmt::format(
          "{} holds nothing\n  Give a pjrt::DeviceArray that was made of a literal and a device.",
          parameter(i, device)));
    }
    if (array->client != client_ || array->device != devices_[device]) {
      throw ExecutionError(
          fmt::format("{} is {}, the program runs on {}\n  Bring it there with copy_to().",
                      parameter(i, device), arguments[i].str(), this->device(device).str()));
    }
    if (array->type != types[i]) {
      throw ExecutionError(
          fmt::format("{} is {}, the program takes {}\n  Convert it, or trace the "
                      "program for this type.",
                      parameter(i, device), array->type.str(), types[i].str()));
    }
    if (array->donated.load(std::memory_order_acquire)) refuse_donated(options_.name, i);
  }
}

std::vector<std::vector<DeviceArray>> Program::run(
    std::span<const std::vector<DeviceArray>> arguments,
    const std::vector<bool>& left_alone) const {
  client_->check_process();
  const std::size_t devices = devices_.size();
  if (arguments.size() != devices) {
    throw ExecutionError(fmt::format(
        "run of '{}': there are arguments for {} devices, the program runs on {}\n  Give those of "
        "each device.",
        options_.name, arguments.size(), devices));
  }
  for (std::size_t d = 0; d < devices; d++) check(arguments[d], d);
  Donation donation(arguments, options_, left_alone);

  const std::size_t count = options_.results.size();
  absl::InlinedVector<absl::InlinedVector<api::Buffer*, 8>, 1> inputs(devices);
  absl::InlinedVector<absl::InlinedVector<api::Buffer*, 8>, 1> outputs(devices);
  absl::InlinedVector<api::Buffer* const*, 1> input_lists;
  absl::InlinedVector<api::Buffer**, 1> output_lists;
  for (std::size_t d = 0; d < devices; d++) {
    for (const DeviceArray& argument : arguments[d])
      inputs[d].push_back(plugin_array(argument)->buffer);
    outputs[d].assign(count, nullptr);
    input_lists.push_back(inputs[d].data());
    output_lists.push_back(outputs[d].data());
  }
  api::ExecuteOptions options;
  options.not_donated = donation.left_alone().data();
  options.not_donated_count = donation.left_alone().size();
  api::LoadedExecutableExecute args;
  args.executable = loaded_;
  args.options = &options;
  args.arguments = input_lists.data();
  args.device_count = devices;
  args.argument_count = options_.parameters.size();
  args.results = output_lists.data();
  const std::string_view what = "running a program";
  std::vector<std::vector<DeviceArray>> results(devices);
  try {
    client_->plugin->call(args, what);
  } catch (const PluginError& error) {
    // Buffers created before the failure would leak.
    for (const auto& list : outputs) {
      for (api::Buffer* buffer : list) {
        api::BufferDestroy destroy;
        destroy.buffer = buffer;
        if (buffer) client_->release(destroy);
      }
    }
    throw PluginError(fmt::format("run of '{}' on {}: {}", options_.name,
                                  options_.devices.front().str(), error.what()),
                      error.code());
  }
  donation.begun();
  for (std::size_t d = 0; d < devices; d++) {
    for (std::size_t i = 0; i < count; i++) {
      if (outputs[d][i])
        results[d].push_back(own(client_, devices_[d], options_.results[i], outputs[d][i], what));
    }
    if (results[d].size() != count)
      throw plugin_fault(fmt::format("run of '{}': the plugin gave {} of {} results", options_.name,
                                     results[d].size(), count));
  }
  return results;
}

std::optional<api::ExecutableGetCompiledMemoryStats> Program::memory() const {
  if (!client_->plugin->has<api::ExecutableGetCompiledMemoryStats>()) return std::nullopt;
  api::ExecutableGetCompiledMemoryStats args;
  args.executable = executable_;
  try {
    client_->plugin->call(args, "the memory of a program");
  } catch (const PluginError& error) {
    if (error.code() == 12) return std::nullopt;  // not every platform reports it
    throw;
  }
  return args;
}

std::int64_t Program::temporary_bytes() const {
  const auto stats = memory();
  return stats ? stats->temporary_bytes : 0;
}

std::int64_t Program::code_bytes() const {
  const auto stats = memory();
  return stats ? stats->code_bytes : 0;
}

std::string Program::serialized() const {
  if (!client_->plugin->has<api::ExecutableSerialize>()) return {};
  api::ExecutableSerialize args;
  args.executable = executable_;
  try {
    client_->plugin->call(args, "serialising a program");
  } catch (const PluginError& error) {
    if (error.code() == 12) return {};
    throw;
  }
  std::string bytes(args.bytes, args.byte_count);
  if (args.deleter) args.deleter(args.handle);
  return bytes;
}

}  // namespace rondo::pjrt
