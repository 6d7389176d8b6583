#include "pjrt/client.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "pjrt/backend.h"
#include "pjrt/key_value_store.h"

namespace rondo::pjrt {

namespace {

std::atomic<std::int64_t> forks{0};

std::int64_t count_forks() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  return forks.load(std::memory_order_relaxed);
}

/// A plugin that has had a client terminates a child process that creates another one.
void check_plugin_process(const PluginState& plugin, std::int64_t process) {
  std::int64_t first = -1;
  if (plugin.process.compare_exchange_strong(first, process) || first == process) return;
  throw ExecutionError(fmt::format(
      "pjrt::Client: the plugin {} had a client before this process was forked, and its threads "
      "are "
      "the parent's\n  Fork before the first client is made, or start the child with exec.",
      plugin.path));
}

/// A plugin terminates the process on an option of an unexpected type, so all known options are
/// listed here.
struct KnownOption {
  std::string_view name;
  api::OptionType type;
  std::string_view range;  // in words
  std::int64_t least = 1;  // for integers, of which 4096 is the most
};
constexpr std::array<KnownOption, 7> kOptions = {{
    {"cpu_device_count", api::OptionType::kInt64, "an integer from 1 to 4096"},
    {"allocator", api::OptionType::kString, "default, platform, bfc, cuda_async or vmm"},
    {"preallocate", api::OptionType::kBool, "true or false"},
    {"memory_fraction", api::OptionType::kFloat, "a number above 0, at most 1"},
    {"visible_devices", api::OptionType::kInt64List, "a list of integers from 0"},
    {"node_id", api::OptionType::kInt64, "an integer from 0 to 4096", 0},
    {"num_nodes", api::OptionType::kInt64, "an integer from 1 to 4096"},
}};

bool in_range(const KnownOption& option, const OptionValue& value) {
  switch (option.type) {
    case api::OptionType::kString: {
      const auto* text = std::get_if<std::string>(&value);
      return text && (*text == "default" || *text == "platform" || *text == "bfc" ||
                      *text == "cuda_async" || *text == "vmm");
    }
    case api::OptionType::kInt64: {
      const auto* number = std::get_if<std::int64_t>(&value);
      return number && *number >= option.least && *number <= 4096;
    }
    case api::OptionType::kInt64List: {
      const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value);
      return numbers && !numbers->empty() &&
             std::all_of(numbers->begin(), numbers->end(), [](std::int64_t n) { return n >= 0; });
    }
    case api::OptionType::kFloat: {
      const auto* number = std::get_if<double>(&value);
      return number && *number > 0 && *number <= 1;
    }
    case api::OptionType::kBool:
      return std::holds_alternative<bool>(value);
  }
  return false;
}

api::NamedValue named_value(const std::string& name, const OptionValue& value) {
  const auto known = std::find_if(kOptions.begin(), kOptions.end(),
                                  [&](const KnownOption& option) { return option.name == name; });
  if (known == kOptions.end()) {
    std::string names;
    for (const KnownOption& option : kOptions) (names += names.empty() ? "" : ", ") += option.name;
    throw ExecutionError(
        fmt::format("pjrt::Client: there is no option '{}'\n  The options are {}.", name, names));
  }
  if (!in_range(*known, value)) {
    throw ExecutionError(fmt::format(
        "pjrt::Client: the value of the option '{}' does not fit\n  Give {}.", name, known->range));
  }
  api::NamedValue option;
  option.name = name.data();
  option.name_size = name.size();
  option.type = known->type;
  if (const auto* text = std::get_if<std::string>(&value)) {
    option.value.text = text->data();
    option.count = text->size();
  } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    option.value.integer = *integer;
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value)) {
    option.value.integers = integers->data();
    option.count = integers->size();
  } else if (const auto* number = std::get_if<double>(&value)) {
    option.value.number = static_cast<float>(*number);
  } else {
    option.value.flag = std::get<bool>(value);
  }
  return option;
}

template <class Args>
std::string text_of(const PluginClient& state) {
  Args args;
  args.client = state.client;
  state.plugin->call(args, "pjrt::Client");
  return args.text ? std::string(args.text, args.text_size) : std::string();
}

}  // namespace

PluginClient::~PluginClient() {
  if (!client) return;
  api::ClientDestroy destroy;
  destroy.client = client;
  release(destroy);
}

bool PluginClient::in_own_process() const noexcept {
  return forks.load(std::memory_order_relaxed) == process;
}

void PluginClient::check_process() const {
  if (in_own_process()) return;
  throw ExecutionError(
      "a pjrt::Client was made before this process was forked, and its threads are the parent's\n"
      "  Fork first and make the client in the child, or start the child with exec.");
}

const ir::Backend& PluginClient::backend() const { return pjrt::backend(); }

std::size_t PluginClient::index_of(const api::Device* device) const {
  for (std::size_t i = 0; i < handles.size(); i++) {
    if (handles[i] == device) return i;
  }
  throw plugin_fault("the plugin names a device that it has not listed");
}

void await_event(const PluginClient& client, api::Event* event, std::string_view what) {
  if (!event) return;
  struct Released {
    const PluginClient& client;
    api::EventDestroy args;
    ~Released() { client.release(args); }
  } released{client, {}};
  released.args.event = event;
  api::EventAwait wait;
  wait.event = event;
  client.plugin->call(wait, what);
}

Client::Client(const Plugin& plugin, const ClientOptions& options, KeyValueStore store) {
  std::vector<api::NamedValue> values;
  for (const auto& [name, value] : options) values.push_back(named_value(name, value));
  auto state = std::make_shared<PluginClient>();
  state->plugin = plugin.state_;
  state->process = count_forks();
  check_plugin_process(*state->plugin, state->process);
  api::ClientCreate create;
  create.options = values.data();
  create.option_count = values.size();
  state->store = std::move(store);
  give_store(state->store, create);
  try {
    state->plugin->call(create, "pjrt::Client");
  } catch (const PluginError& error) {
    if (error.code() != 3 || options.empty()) throw;
    throw PluginError(fmt::format("{}\n  Leave out the option that the plugin names, or give it "
                                  "another value.",
                                  error.what()),
                      error.code());
  }
  if (!create.client) throw plugin_fault("pjrt::Client: the plugin made none");
  state->client = create.client;
  state->platform = text_of<api::ClientPlatformName>(*state);
  state->version = text_of<api::ClientPlatformVersion>(*state);
  find_devices(*state);
  state_ = std::move(state);
}

const std::string& Client::platform() const { return state_->platform; }
const std::string& Client::platform_version() const { return state_->version; }
Plugin Client::plugin() const { return Plugin(static_cast<const PluginClient&>(*state_).plugin); }

Client Device::client() const {
  static_cast<void>(id());  // throws if there is no device
  return ClientAccess::make(client_);
}

}  // namespace rondo::pjrt
