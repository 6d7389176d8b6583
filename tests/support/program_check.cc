#include "support/program_check.h"

#include <gtest/gtest.h>

#include <string>

#include "rondo/execute.h"
#include "rondo/text.h"
#include "support/compare.h"
#include "support/far_limits.h"
#include "support/xla.h"
#include "support/xla_plugin.h"

namespace rondo::testing {

namespace {

// Units are rounded at every step; exact kinds differ by 1 or not at all.
constexpr Tolerance kUnitTolerance{.rtol = 0.0, .atol = 2e-4};

std::vector<Literal> run_on_tensors(const Program& program, const std::vector<Literal>& arguments) {
  const std::vector<Tensor> tensors(arguments.begin(), arguments.end());
  std::vector<Literal> results;
  for (const Tensor& result : program(tensors)) results.push_back(result.eval());
  return results;
}

std::vector<Literal> run_eagerly(const Program& program, const std::vector<Literal>& arguments) {
  const EagerScope eager;
  return run_on_tensors(program, arguments);
}

/// Reports results that differ, with the part of the program that computes the first of them.
void compare(const Program& program, const std::string& who, const std::vector<Literal>& got,
             const std::vector<Literal>& want, const Tolerance& tolerance) {
  for (std::size_t i = 0; i < want.size(); i++) {
    const std::string what = difference(got[i], want[i], tolerance);
    if (what.empty()) continue;
    ADD_FAILURE() << who << ": result " << i << " differs:\n"
                  << what << program.traced_result(i).str();
    return;
  }
}

/// With limits that end no run the bits are those of a run without. The combination of limits
/// depends on the seed.
void compare_with_limits(const Program& program, const std::string& who,
                         const Executable& executable, const std::vector<Literal>& arguments,
                         const std::vector<Literal>& want, std::uint64_t turn) {
  const FarLimits limits;
  const auto kinds = static_cast<unsigned>(1 + turn % FarLimits::kAll);
  compare(program, who + " with " + FarLimits::name(kinds),
          executable.run(arguments, limits.options(kinds)), want, kExactly);
}

std::string seed_text(std::uint64_t seed) {
  return "random program of seed " + std::to_string(seed);
}

}  // namespace

void expect_consistent(std::uint64_t seed, const ProgramSize& size) {
  SCOPED_TRACE(seed_text(seed));
  Function function;
  try {
    const Program program = Program::random(seed, size);
    function = program.traced();
    function.verify();
    const std::vector<Literal> arguments = program.arguments(seed);
    const std::vector<Literal> want =
        compile(function, {.optimize = false, .executor = Executor::kReference}).run(arguments);
    ASSERT_EQ(want.size(), function.results().size());
    const Executable optimized = compile(function, {.executor = Executor::kReference});
    optimized.function().verify();
    compare(program, "the optimised program", optimized.run(arguments), want, kExactly);
    // Compiled programs have their own mathematical functions, and contract.
    const Executable on_bytecode = compile(function, {.executor = Executor::kBytecode});
    const std::vector<Literal> bytecode = on_bytecode.run(arguments);
    compare(program, "bytecode", bytecode, want, kUnitTolerance);
    const Executable native = compile(function, {.executor = Executor::kCompiled});
    compare(program, "native code", native.run(arguments), bytecode, kExactly);
    compare(program, "native code on three threads", native.run(arguments, {.threads = 3}),
            bytecode, kExactly);
    compare_with_limits(program, "native code", native, arguments, bytecode, seed);
    // Bytecode runs for every fourth seed.
    if (seed % 4 == 0)
      compare_with_limits(program, "bytecode", on_bytecode, arguments, bytecode, seed / 4);
    const bool is_native = seed % 4 != 1;
    const Executable exact = compile(
        function,
        {.contract = false, .executor = is_native ? Executor::kCompiled : Executor::kBytecode});
    compare_with_limits(program, is_native ? "exact native code" : "exact bytecode", exact,
                        arguments, exact.run(arguments), is_native ? seed : seed / 4);
    compare(program, "EagerScope", run_eagerly(program, arguments), want, kUnitTolerance);
    compare(program, "lazy evaluation", run_on_tensors(program, arguments), want, kUnitTolerance);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << (function.empty() ? "" : function.str());
  }
}

void expect_program_same_as_xla(std::uint64_t seed, const ProgramSize& size) {
  SCOPED_TRACE(seed_text(seed));
  Function function;
  std::string text;
  try {
    const Program program = Program::random(seed, size);
    function = program.traced();
    const std::vector<Literal> arguments = program.arguments(seed);
    const std::vector<Literal> ours = compile(function).run(arguments);
    // One program in three uses HLO text, the others StableHLO text. Each form is printed as traced
    // for one half of them, optimised for the other.
    const bool optimize = seed % 2 == 0, where = seed % 4 < 2;
    std::vector<Literal> xla;
    if (seed % 3 == 0) {
      text = to_hlo_text(function, {.metadata = where, .optimize = optimize});
      xla = XlaOracle::shared().run(XlaOracle::Form::kHlo, text, arguments);
    } else {
      text = to_stablehlo_text(function, {.locations = where, .optimize = optimize});
      xla = XlaPlugin::shared().run(function, text, arguments);
    }
    compare(program, "XLA", xla, ours, kUnitTolerance);
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what() << "\n" << (function.empty() ? "" : function.str()) << text;
  }
}

}  // namespace rondo::testing
