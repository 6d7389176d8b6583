// A Function as C: lowered as for the executors of this machine, but without what only they have
// (kernels, packed operands, vectors), and written by c/file.h.
#include "executor/c_source.h"

#include <utility>

#include "c/names.h"
#include "executor/c_self_test.h"
#include "executor/for_loops.h"
#include "executor/interchange.h"
#include "executor/lowering.h"
#include "ir/function_data.h"
#include "lower/passes/clamps.h"
#include "lower/passes/comparisons.h"
#include "lower/passes/dead_code.h"
#include "lower/passes/forward_stores.h"
#include "lower/passes/induction.h"
#include "passes/growing_tapes.h"
#include "passes/inline_calls.h"
#include "passes/optimize.h"
#include "passes/small_types.h"

namespace rondo {

namespace executor {

namespace {

/// What a user can do about an op that C cannot have.
std::string_view remedy_for(const ir::Node& node) {
  if (node.op->observer)
    return "It reports to the process that runs the program. Leave it out of what is written as C.";
  return "Write the value in other ops, or compute it before the program and give it as an "
         "argument.";
}

std::shared_ptr<const lower::Kernel> no_kernel(const ir::Node& node, std::uint32_t) {
  std::string operands;
  for (std::size_t i = 0; i < node.operands.size(); i++)
    operands += (i == 0 ? "" : ", ") + node.operand_type(i).str();
  throw TraceError(fmt::format("to_c_source: {}({}) has no form in C\n  at {}\n  {}", node.op->name,
                               operands, node.location().str(), remedy_for(node)),
                   node.location());
}

lower::Program lowered_for_c(const Function& function, lower::Builder::Functions functions) {
  const Function expanded = for_loops_alone(function);
  if (const std::string why_not = why_not_lowered(expanded); !why_not.empty())
    throw TraceError("to_c_source of '" + function.name() + "': " + why_not);
  const Interchanges interchanges(expanded, false);
  const MakeKernel make = no_kernel;
  lower::Program program = lower_function(expanded, make,
                                          {.interchanges = interchanges,
                                           .packs = false,
                                           .calls_for_products = false,
                                           .typed_memory = true,
                                           .variables = true,
                                           .functions = functions});
  if (!program.tapes.empty()) {
    throw TraceError(fmt::format(
        "to_c_source of '{}': what loop '{}' keeps for its gradient grows with its trips, and "
        "C has no memory that grows\n  Give the loop a max_trip_count, or another checkpoint.",
        function.name(), program.tapes.front().loop));
  }
  lower::remove_counters(program);
  lower::remove_clamps(program);
  lower::forward_stores(program);
  lower::decide_comparisons(program);  // compilers take those that are left for mistakes
  lower::remove_dead_code(program);
  return program;
}

/// `types`: in memory, where small dtypes are bytes; the user's types are said in comments.
std::vector<c::Field> parameters_of(const Function& function,
                                    const std::vector<TensorType>& types) {
  std::vector<c::Field> fields;
  const std::vector<std::string> names = function.param_names();
  const std::vector<TensorType> meant = function.params();
  for (std::size_t i = 0; i < types.size(); i++)
    fields.push_back({names[i], types[i], meant[i].str()});
  return fields;
}

std::vector<c::Field> results_of(const Function& function, const std::vector<TensorType>& types) {
  std::vector<c::Field> fields;
  const std::vector<TensorType> meant = function.results();
  const std::vector<std::string>& names = function.result_names();
  for (std::size_t i = 0; i < types.size(); i++) {
    std::string name = i < names.size() ? names[i] : "";
    // Programs that were read may number them.
    if (name.find_first_not_of("0123456789") == std::string::npos)
      name = types.size() == 1 ? "result" : fmt::format("result{}", i);
    fields.push_back({std::move(name), types[i], meant[i].str()});
  }
  return fields;
}

}  // namespace

c::File c_file(const Function& function, const COptions& options) {
  if (!options.name.empty() && c::Names().unique(options.name, "") != options.name) {
    throw TraceError(
        fmt::format("to_c_source: COptions::name is '{}', which C cannot name a function\n  Use "
                    "letters, digits and underscores, no word or function of C or C++, no index "
                    "such as i, and no type such as _f32 at the end.",
                    options.name));
  }
  c::FileOptions file;
  // "main" is what trace() calls a program that has no name.
  const std::string given = function.name() == "main" ? "" : function.name();
  file.name = options.name.empty() ? c::Names().unique(given, "program") : options.name;
  file.header = options.header.empty() ? file.name + ".h" : options.header;
  file.program = fmt::format("Written by Rondo from '{}'.", function.name());
  file.has_double = options.has_double;
  file.static_workspace = options.workspace == CWorkspace::kStatic;
  const Function plain =
      passes::on_bytes(passes::without_growing_tapes(passes::inline_calls(function)));
  using Functions = lower::Builder::Functions;
  const Function optimized = passes::optimize(plain);
  const lower::Program program = lowered_for_c(
      optimized, options.math == CMath::kLibm ? Functions::kOfLibrary : Functions::kOfProgram);
  c::SelfTest test;
  if (options.test_main) {
    test = self_test_of(plain, lowered_for_c(optimized, Functions::kInlined));
    file.test = &test;
  }
  return c::write(program, parameters_of(function, plain.params()),
                  results_of(function, plain.results()), file);
}

}  // namespace executor

CSource to_c_source(const Function& function, const COptions& options) {
  c::File made = executor::c_file(function, options);
  return {std::move(made.source), std::move(made.header), made.workspace_bytes};
}

}  // namespace rondo
