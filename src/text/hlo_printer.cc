// A program as a module of HLO text.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/number_text.h"
#include "ir/function_data.h"
#include "ir/node.h"
#include "ir/sharding.h"
#include "passes/clamp_indices.h"
#include "passes/expand.h"
#include "passes/growing_tapes.h"
#include "passes/optimize.h"
#include "rondo/text.h"
#include "text/hlo_computation.h"
#include "text/names.h"

namespace rondo {

namespace text {

namespace {

// About the size of a line.
constexpr std::size_t kHloLineBytes = 64;

/// How each region of the functions is called: bit i for HloRole i.
absl::flat_hash_map<const void*, unsigned> roles_of_regions(
    const std::vector<Function>& functions) {
  absl::flat_hash_map<const void*, unsigned> roles;
  for (const Function& function : functions) {
    for (const ir::Node* node : function.body()) {
      for (std::size_t i = 0; i < node->regions.size(); i++) {
        roles[node->regions[i].identity()] |= 1u << static_cast<unsigned>(hlo_role(*node, i));
      }
    }
  }
  return roles;
}

void append_module_header(std::string& out, const Function& entry, std::string_view name,
                          const std::optional<ir::ProgramSharding>& sharding) {
  ((out += "HloModule ") += name) += ", entry_computation_layout={(";
  append_hlo_types(out, entry.parameters());
  out += ")->";
  append_hlo_shape(out, entry.outputs());
  out += '}';
  if (sharding) {
    out += ", num_partitions=";
    append_number(out, sharding->devices());
  }
  out += "\n\n";
}

}  // namespace

}  // namespace text

std::string to_hlo_text(const Function& function, const HloOptions& options) {
  using text::HloRole;
  const Function plain = passes::without_growing_tapes(function);
  Function entry =
      passes::expand(options.optimize ? passes::optimize(plain) : plain, passes::Target::kHlo);
  const std::optional<ir::ProgramSharding> sharding = ir::program_sharding(entry);
  if (sharding) entry = passes::expand(passes::clamp_indices(entry), passes::Target::kHloOnMesh);
  const std::vector<Function> functions = ir::regions_inside_out(entry);
  const absl::flat_hash_map<const void*, unsigned> roles = text::roles_of_regions(functions);

  text::NameTable names;
  const std::string_view name = names.add_whole(entry.name().empty() ? "main" : entry.name());
  text::ComputationNames computations;
  std::string out;
  std::size_t nodes = 1;
  for (const Function& each : functions) nodes += each.body().size();
  out.reserve(nodes * text::kHloLineBytes);
  text::append_module_header(out, entry, name, sharding);
  for (const Function& each : functions) {
    if (each.same_as(entry)) break;
    for (const HloRole role :
         {HloRole::kCombiner, HloRole::kCondition, HloRole::kBody, HloRole::kBranch}) {
      if (!(roles.at(each.identity()) >> static_cast<unsigned>(role) & 1)) continue;
      const std::string_view called = names.add_whole(each.name().empty() ? "region" : each.name());
      computations[{each.identity(), role}] = std::string(called);
      text::append_hlo_computation(out, each, role, called, computations, options.metadata,
                                   nullptr);
    }
  }
  text::append_hlo_computation(out, entry, HloRole::kEntry, name, computations, options.metadata,
                               sharding ? &*sharding : nullptr);
  out.pop_back();  // the empty line after the last one
  return out;
}

std::string to_hlo_text(const Tensor& lazy, const HloOptions& options) {
  return to_hlo_text(Function::make("main", {}, {lazy}), options);
}

}  // namespace rondo
