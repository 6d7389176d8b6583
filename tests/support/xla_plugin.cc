#include "support/xla_plugin.h"

#include "rondo/error.h"
#include "rondo/pjrt.h"

namespace rondo::testing {

XlaPlugin& XlaPlugin::shared() {
  static XlaPlugin plugin;
  return plugin;
}

XlaPlugin::XlaPlugin() {
  try {
    device_ = pjrt::Client(pjrt::load_plugin(), {{"cpu_device_count", 1}}).devices()[0];
  } catch (const ExecutionError& error) {
    unavailable_ = error.what();
  }
}

std::vector<Literal> XlaPlugin::run(const Function& function, const std::string& text,
                                    std::span<const Literal> arguments) {
  const std::lock_guard lock(mutex_);
  if (!unavailable_.empty()) throw ExecutionError(unavailable_);
  if (text != text_ || !program_) {
    program_.reset();
    program_.emplace(text, pjrt::ProgramOptions{.name = function.name(),
                                                .devices = {device_},
                                                .parameters = function.params(),
                                                .results = function.results()});
    text_ = text;
  }
  std::vector<pjrt::DeviceArray> arrays;
  for (const Literal& argument : arguments) arrays.emplace_back(argument, device_);
  std::vector<Literal> results;
  const auto of_devices = program_->run({&arrays, 1});
  for (const pjrt::DeviceArray& result : of_devices.front()) results.push_back(result.to_literal());
  return results;
}

}  // namespace rondo::testing
