#include "executor/c_self_test.h"

#include <utility>

#include "executor/runtime/run.h"
#include "executor/runtime/unit.h"
#include "fmt/format.h"
#include "rondo/execute.h"

namespace rondo::executor {

namespace {

/// Threshold: Trips of a loop after which a test's program is taken not to end. Not measured.
constexpr std::int64_t kMostTrips = 10'000'000;

/// The arguments are nothing that the user chose: a loop need not end on them.
void check_that_it_ends(const Function& function, const std::vector<Literal>& arguments) {
  try {
    compile(function, {.contract = false}).run(arguments, {.max_iterations = kMostTrips});
  } catch (const ExecutionError& error) {
    throw TraceError(fmt::format(
        "to_c_source of '{}': on the arguments of its test_main the program fails:\n{}\n"
        "  Leave test_main out, and test the C with arguments of yours.",
        function.name(), error.what()));
  }
}

}  // namespace

c::SelfTest self_test_of(const Function& function, lower::Program program) {
  std::vector<Literal> arguments, results;
  for (const TensorType& type : function.params())
    arguments.push_back(c::test_argument(type, arguments.size()));
  check_that_it_ends(function, arguments);
  Unit unit;
  unit.function = function;
  unit.prepare(std::move(program), false);
  std::vector<const std::byte*> from;
  std::vector<std::byte*> to;
  results.reserve(function.results().size());
  for (const Literal& argument : arguments) from.push_back(argument.bytes());
  for (const TensorType& type : function.results()) {
    results.push_back(Literal::uninitialized(type));
    to.push_back(results.back().mutable_bytes());
  }
  lower::RunFrame frame;
  const TripCounts counts(*unit.program, frame);
  frame.arguments = only_read(from.data());
  frame.results = to.data();
  frame.program = unit.program.get();
  if (unit.run(frame, [](lower::Status) {}) != lower::Status::kDone)
    throw InternalError("the test of a C source fails where its program did not");
  return {std::move(results)};
}

}  // namespace rondo::executor
