// `rondo bench`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>

#include "cli/argument.h"
#include "cli/command.h"
#include "cli/program.h"
#include "fmt/format.h"
#include "rondo/error.h"
#include "rondo/execute.h"
#include "rondo/ops.h"

namespace rondo::cli {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string duration_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3g} ms", seconds * 1e3);
  return fmt::format("{:.3g} s", seconds);
}

/// Floats between 0 and 1, the same in each run of the command; zeros of other types.
Literal made_up(const TensorType& type, std::uint32_t number) {
  if (!is_floating(type.dtype)) return Literal::zeros(type);
  const TensorType drawn{type.dtype == DType::kF64 ? DType::kF64 : DType::kF32, type.shape};
  return convert(random::uniform(random::key(number), drawn), type.dtype).eval();
}

class Bench final : public Verb {
 public:
  Bench()
      : Verb("bench", "Measure the time and memory of a program",
             "  rondo bench f.mlir            floats between 0 and 1, zeros for ints\n"
             "  rondo bench f.mlir x.npy 100  these arguments, and made up ones for the rest\n") {}

  void add_options(CLI::App& app) override {
    add_program_options(app, program_);
    app.add_option("ARG", arguments_, "arguments as in `rondo run`; those left out are made up");
    app.add_option("--runs", runs_, "how often it runs; by default for a second, at least 3 times")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    app.add_option("--threads", threads_, "threads that a run may use")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
  }

  int run(const Streams& streams) override {
    const Function program = program_of(program_, streams);
    const std::vector<Literal> arguments = given_or_made_up(program, streams.out);
    const Clock::time_point start = Clock::now();
    const Executable executable = compile(program);
    streams.out << fmt::format("compile: {}\n", duration_text(seconds_since(start)));
    const std::vector<double> times = times_of(executable, arguments);
    const double median = times[times.size() / 2];
    streams.out << fmt::format("run: {} median, {} min, {} max, {} runs\n", duration_text(median),
                               duration_text(times.front()), duration_text(times.back()),
                               times.size());
    const RunStats stats = executable.stats();
    for (const LoopStats& loop : stats.loops) {
      streams.out << fmt::format("loop {}: {} trips", loop.name.empty() ? "while" : loop.name,
                                 loop.trips);
      if (loop.trips > 0)
        streams.out << fmt::format(", {} of the run for each",
                                   duration_text(median / static_cast<double>(loop.trips)));
      streams.out << '\n';
    }
    streams.out << fmt::format("peak memory: {} bytes\n", stats.peak_bytes);
    return kFine;
  }

 private:
  std::vector<Literal> given_or_made_up(const Function& program, std::ostream& out) const {
    const std::vector<TensorType> types = program.params();
    const std::vector<std::string> names = program.param_names();
    if (arguments_.size() > types.size()) arguments_of(program, arguments_);  // says so
    std::vector<Literal> arguments;
    for (std::size_t i = 0; i < types.size(); i++) {
      if (i < arguments_.size()) {
        arguments.push_back(parse_argument(arguments_[i], types[i], names[i]));
        continue;
      }
      arguments.push_back(made_up(types[i], static_cast<std::uint32_t>(i)));
      out << fmt::format("argument {}: {}, made up: {}\n", names[i], types[i].str(),
                         is_floating(types[i].dtype) ? "between 0 and 1" : "zeros");
    }
    return arguments;
  }

  /// The first run, which makes what the others reuse, is not counted.
  std::vector<double> times_of(const Executable& executable,
                               const std::vector<Literal>& arguments) const {
    constexpr std::size_t kFewest = 3, kMost = 100'000;
    RunOptions options;
    options.threads = threads_;
    executable.run(arguments, options);
    std::vector<double> times;
    const Clock::time_point start = Clock::now();
    while (runs_ ? times.size() < *runs_
                 : times.size() < kFewest || (times.size() < kMost && seconds_since(start) < 1)) {
      const Clock::time_point before = Clock::now();
      executable.run(arguments, options);
      times.push_back(seconds_since(before));
    }
    std::sort(times.begin(), times.end());
    return times;
  }

  ProgramOptions program_;
  std::vector<std::string> arguments_;
  std::optional<std::size_t> runs_;
  std::optional<int> threads_;
};

}  // namespace

std::unique_ptr<Verb> make_bench() { return std::make_unique<Bench>(); }

}  // namespace rondo::cli
