#include "pjrt/backend.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "ir/layout.h"
#include "ir/region_walk.h"
#include "ir/run_limits.h"
#include "pjrt/chunked_program.h"
#include "pjrt/donating_program.h"
#include "pjrt/message.h"
#include "rondo/text.h"

namespace rondo::pjrt {

namespace {

/// Finds ops that report values while a program runs.
struct Observers {
  const std::string& where;
  std::vector<std::string_view> loops;

  void open(const Function&, const ir::Node* holder, std::size_t) {
    const auto layout = holder ? ir::region_layout(holder) : std::nullopt;
    loops.push_back(layout && layout->is_loop() ? layout->name : std::string_view());
  }
  void close(const Function&, const ir::Node*, std::size_t) { loops.pop_back(); }
  void after(const ir::Node&) {}
  void node(const ir::Node& node) {
    if (!node.op->observer) return;
    std::string inside;
    for (auto loop = loops.rbegin(); loop != loops.rend() && inside.empty(); ++loop) {
      if (!loop->empty()) inside = fmt::format(" in loop '{}'", *loop);
    }
    throw TraceError(
        fmt::format("{}{}: {} runs a program as a whole and tells nothing of it on the way\n  at "
                    "{}\n  Leave it out of the program for the device, return the values (as ys of "
                    "a scan), or run on a built-in executor.",
                    node.op->name, inside, where, node.location().str()),
        node.location());
  }
};

class OnDevice final : public ir::Prepared {
 public:
  OnDevice(const Function& function, const CompileOptions& options) : function_(function) {
    ProgramOptions program;
    program.name = function.name();
    program.devices = {options.device};
    program.parameters = function.params();
    program.results = function.results();
    program.donated = donated_parameters(function, options.donate);
    try {
      program_.emplace(function, std::nullopt, std::move(program));
    } catch (const PluginError& error) {
      throw located(error, function);
    }
  }

  std::vector<Literal> run(std::span<const Literal> arguments, const RunOptions& options,
                           RunStats&) const override {
    std::vector<DeviceArray> taken;
    taken.reserve(arguments.size());
    for (const Literal& argument : arguments) taken.emplace_back(argument, device());
    std::vector<Literal> results;
    for (const DeviceArray& result : run_on_device(taken, {}, options))
      results.push_back(result.to_literal());
    return results;
  }
  std::vector<DeviceArray> run_on_device(std::span<const DeviceArray> arguments,
                                         std::span<const long> handles,
                                         const RunOptions& options) const override {
    refuse_options(options, program_->options().name, device().str());
    if (ir::has_limits(options)) return in_chunks().run(arguments, options);
    std::vector<bool> unused(std::min(arguments.size(), handles.size()));
    for (std::size_t i = 0; i < unused.size(); i++) unused[i] = is_unused(arguments[i], handles[i]);
    const std::vector<DeviceArray> taken(arguments.begin(), arguments.end());
    return std::move(program_->run({&taken, 1}, unused).front());
  }
  const Device& device() const override { return program_->options().devices.front(); }
  std::string text() const override { return program_->text(); }
  void count_held(HeldBytes& held) const override { held.add(program_->bytes()); }
  std::int64_t arena_bytes() const override { return program_->temporary_bytes(); }

 private:
  /// For runs with limits.
  const ChunkedProgram& in_chunks() const {
    std::call_once(chunked_made_, [&] { chunked_.emplace(function_, *program_); });
    return *chunked_;
  }

  Function function_;
  std::optional<DonatingProgram> program_;
  mutable std::once_flag chunked_made_;
  mutable std::optional<ChunkedProgram> chunked_;
};

class PluginBackend final : public ir::Backend {
 public:
  std::string_view name() const override { return "a PJRT plugin"; }
  std::shared_ptr<const ir::Prepared> prepare(const Function& function,
                                              const CompileOptions& options,
                                              const ir::Form&) const override {
    const std::string where = options.mesh ? "a mesh" : options.device.str();
    Observers observers{where, {}};
    ir::walk_nested(function, observers);
    if (options.mesh) return prepare_for_mesh(function, options);
    return std::make_shared<OnDevice>(function, options);
  }
};

}  // namespace

void refuse_options(const RunOptions& options, const std::string& name, const std::string& where) {
  if (options.profile) {
    throw ExecutionError(fmt::format(
        "run of '{}': RunOptions::profile is set, but {} does not tell the time of a loop\n  "
        "Leave it out and use the profiler of the plugin, or run on a built-in executor.",
        name, where));
  }
  if (!options.threads) return;
  throw ExecutionError(fmt::format(
      "run of '{}': RunOptions::threads is set, but the plugin of {} chooses its threads itself\n  "
      "Leave it out, or run on a built-in executor.",
      name, where));
}

const ir::Backend& backend() {
  static const PluginBackend plugins;
  return plugins;
}

}  // namespace rondo::pjrt
