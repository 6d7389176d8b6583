// Programs that run on all devices of a mesh at once.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "device/sharded_array.h"
#include "fmt/format.h"
#include "passes/expand.h"
#include "pjrt/backend.h"
#include "pjrt/donating_program.h"
#include "pjrt/message.h"
#include "rondo/text.h"

namespace rondo::pjrt {

namespace {

using Placements = std::vector<std::shared_ptr<const Placement>>;

Placements placements_of(const std::vector<TensorType>& types,
                         std::vector<ir::Sharding> shardings) {
  Placements placements;
  for (std::size_t i = 0; i < types.size(); i++)
    placements.push_back(std::make_shared<const Placement>(types[i], std::move(shardings[i])));
  return placements;
}

std::vector<TensorType> part_types(const Placements& placements) {
  std::vector<TensorType> types;
  for (const auto& placement : placements) types.push_back(placement->part());
  return types;
}

std::vector<PartitionSpec> specs_of(const Placements& placements) {
  std::vector<PartitionSpec> specs;
  for (const auto& placement : placements) specs.push_back(ir::spec_of(placement->sharding()));
  return specs;
}

class OnMesh final : public ir::Prepared {
 public:
  /// `function` is the one that was printed: arguments may meet a sharding in the expansion of ops.
  OnMesh(const Function& function, const CompileOptions& options)
      : mesh_(*options.mesh),
        places_(places_here(mesh_, fmt::format("compile of '{}'", function.name()))) {
    ir::ProgramSharding sharding = *ir::program_sharding(function, mesh_);
    arguments_ = placements_of(function.params(), std::move(sharding.arguments));
    results_ = placements_of(function.results(), std::move(sharding.results));
    argument_specs_ = specs_of(arguments_);
    result_specs_ = specs_of(results_);
    ProgramOptions program;
    program.name = function.name();
    program.devices = mesh_.devices();
    program.parameters = part_types(arguments_);
    program.results = part_types(results_);
    program.donated = donated_parameters(function, options.donate);
    try {
      program_.emplace(function, mesh_, std::move(program));
    } catch (const PluginError& error) {
      throw located(error, function, mesh_);
    }
  }

  std::vector<Literal> run(std::span<const Literal> arguments, const RunOptions& options,
                           RunStats&) const override {
    refuse_limits(options);
    for (std::size_t i = 0; i < results_.size(); i++) check_readable(i);
    std::vector<ShardedArray> taken;
    for (std::size_t i = 0; i < arguments.size(); i++)
      taken.push_back(split(arguments[i], mesh_, arguments_[i]));
    std::vector<Literal> results;
    for (const ShardedArray& result : run_split(taken, {})) results.push_back(result.to_literal());
    return results;
  }

  std::vector<ShardedArray> run_on_mesh(std::span<const ShardedArray> arguments,
                                        std::span<const long> handles,
                                        const RunOptions& options) const override {
    refuse_limits(options);
    if (arguments.size() != arguments_.size()) {
      throw ExecutionError(fmt::format(
          "run of '{}': the number of arguments is {}, the program takes {}\n  Give one array for "
          "each parameter, in order.",
          name(), arguments.size(), arguments_.size()));
    }
    std::vector<ShardedArray> taken;
    std::vector<bool> unused(handles.size());
    for (std::size_t i = 0; i < arguments.size(); i++) {
      if (i < unused.size()) unused[i] = are_unused(arguments[i], handles[i]);
      taken.push_back(placed(arguments[i], i));
      // Values that were gathered on the host and sharded again may be read there.
      if (ShardedAccess::state(taken[i]) != ShardedAccess::state(arguments[i]) && i < unused.size())
        unused[i] = false;
    }
    return run_split(taken, unused);
  }

  const Mesh* mesh() const override { return &mesh_; }
  std::span<const PartitionSpec> argument_specs() const override { return argument_specs_; }
  std::span<const PartitionSpec> result_specs() const override { return result_specs_; }
  std::string text() const override { return program_->text(); }
  void count_held(HeldBytes& held) const override { held.add(program_->bytes()); }
  std::int64_t arena_bytes() const override { return program_->temporary_bytes(); }

 private:
  const std::string& name() const { return program_->options().name; }

  void refuse_limits(const RunOptions& options) const {
    const std::string where = "mesh " + mesh_.str();
    refuse_options(options, name(), where);
    const char* asked = options.max_iterations               ? "max_iterations"
                        : options.deadline                   ? "deadline"
                        : options.stop_token.stop_possible() ? "stop_token"
                        : options.on_progress                ? "on_progress"
                                                             : nullptr;
    if (!asked) return;
    throw ExecutionError(fmt::format(
        "run of '{}': RunOptions::{} is set, but {} runs a program as a whole\n  Leave it out, run "
        "on one device or a built-in executor, or call a program that makes some of the trips, and "
        "look between the calls.",
        name(), asked, where));
  }

  /// Before the run: a host that fails after it would leave the others waiting in the next one.
  void check_readable(std::size_t result) const {
    const Placement& placement = *results_[result];
    if (is_whole_at(placement, places_)) return;
    throw ExecutionError(fmt::format(
        "run of '{}': result {}, {},{}\n  Call run_on_mesh and take shards(), or return it "
        "replicated, without a shard().",
        name(), result, placed_text(mesh_, placement), slices_text(mesh_, placement, places_)));
  }

  /// The argument with the sharding that the program expects: itself, or through the host.
  ShardedArray placed(const ShardedArray& argument, std::size_t i) const {
    const ShardedState* state = ShardedAccess::state(argument).get();
    const Placement& wanted = *arguments_[i];
    if (!state || state->placement->whole() != wanted.whole()) {
      throw ExecutionError(fmt::format(
          "run of '{}': argument {} is {}, the program takes {}\n  Convert it, or trace the "
          "program "
          "for this type.",
          name(), i, state ? argument.str() : "an empty pjrt::ShardedArray", wanted.whole().str()));
    }
    if (state->mesh == mesh_ && state->placement->sharding() == wanted.sharding()) return argument;
    if (!is_whole_at(*state->placement, state->places)) {
      throw ExecutionError(
          fmt::format("run of '{}': the program takes argument {} as {}, and {}{}\n  Give it as "
                      "argument_specs() says, or let a program return it with that sharding.",
                      name(), i, placed_text(mesh_, wanted), argument.str(),
                      slices_text(state->mesh, *state->placement, state->places)));
    }
    return split(argument.to_literal(), mesh_, arguments_[i]);
  }

  static bool are_unused(const ShardedArray& array, long handles) {
    const auto& state = ShardedAccess::state(array);
    return state && state.use_count() <= handles &&
           std::all_of(state->shards.begin(), state->shards.end(),
                       [](const DeviceArray& shard) { return is_unused(shard, 1); });
  }

  std::vector<ShardedArray> run_split(const std::vector<ShardedArray>& arguments,
                                      const std::vector<bool>& unused) const {
    std::vector<std::vector<DeviceArray>> by_device(places_.size());
    for (const ShardedArray& argument : arguments) {
      for (std::size_t d = 0; d < by_device.size(); d++)
        by_device[d].push_back(argument.shards()[d]);
    }
    std::vector<std::vector<DeviceArray>> outputs = program_->run(by_device, unused);
    std::vector<ShardedArray> results;
    for (std::size_t i = 0; i < results_.size(); i++) {
      auto state = std::make_shared<ShardedState>(
          ShardedState{mesh_, result_specs_[i], results_[i], places_, {}});
      for (std::vector<DeviceArray>& of_device : outputs)
        state->shards.push_back(std::move(of_device[i]));
      results.push_back(ShardedAccess::make(std::move(state)));
    }
    return results;
  }

  Mesh mesh_;
  std::vector<std::size_t> places_;  // of this process's devices in the mesh
  Placements arguments_, results_;
  std::vector<PartitionSpec> argument_specs_, result_specs_;
  std::optional<DonatingProgram> program_;
};

}  // namespace

std::shared_ptr<const ir::Prepared> prepare_for_mesh(const Function& function,
                                                     const CompileOptions& options) {
  return std::make_shared<OnMesh>(passes::expand(function, passes::Target::kStablehlo), options);
}

}  // namespace rondo::pjrt
