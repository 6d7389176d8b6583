#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <istream>
#include <iterator>
#include <optional>
#include <ostream>

#include "cli/argument.h"
#include "cli/check.h"
#include "fmt/format.h"
#include "rondo/execute.h"
#include "rondo/text.h"
#include "rondo/version.h"

namespace rondo::cli {

namespace {

struct PrintOptions {
  std::string file, format = "ir";
  bool optimize = false;
};
struct RunCommandOptions {
  std::string file, out;
  std::vector<std::string> arguments;
  bool stats = false, reference = false;
  std::optional<std::int64_t> max_iterations;
  std::optional<double> deadline;
  std::optional<int> threads;
};

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

/// The program of a file, or of the input for `-`.
Function program_of(const std::string& file, std::istream& in) {
  if (file != "-") return load_program(file);
  return parse_program(std::string(std::istreambuf_iterator<char>(in), {}));
}

int print_program(const PrintOptions& options, const Streams& streams) {
  const Function program = program_of(options.file, streams.in);
  if (options.format == "hlo")
    streams.out << to_hlo_text(program, {.optimize = options.optimize});
  else if (options.format == "stablehlo")
    streams.out << to_stablehlo_text(program, {.optimize = options.optimize});
  else if (options.format == "dot")
    streams.out << to_dot(program);
  else
    streams.out << to_text(program);
  return kFine;
}

std::vector<Literal> arguments_of(const Function& program, const std::vector<std::string>& texts) {
  const std::vector<TensorType> types = program.params();
  const std::vector<std::string> names = program.param_names();
  if (texts.size() != types.size()) {
    std::string wanted;
    for (std::size_t i = 0; i < types.size(); i++)
      wanted += fmt::format("\n  {}: {}", names[i], types[i].str());
    throw ParseError(fmt::format("the program takes {} arguments, and gets {}{}", types.size(),
                                 texts.size(), wanted),
                     0, 0);
  }
  std::vector<Literal> arguments;
  for (std::size_t i = 0; i < types.size(); i++)
    arguments.push_back(parse_argument(texts[i], types[i], names[i]));
  return arguments;
}

void print_stats(const RunStats& stats, std::ostream& out) {
  for (const LoopStats& loop : stats.loops)
    out << fmt::format("loop {}: {} trips\n", loop.name.empty() ? "while" : loop.name, loop.trips);
  out << fmt::format("peak memory: {} bytes\n", stats.peak_bytes);
}

int run_program(const RunCommandOptions& options, const Streams& streams) {
  const Function program = program_of(options.file, streams.in);
  const std::vector<Literal> arguments = arguments_of(program, options.arguments);
  RunOptions run;
  RunStats stats;
  run.max_iterations = options.max_iterations;
  run.threads = options.threads;
  if (options.deadline) run.deadline = std::chrono::duration<double>(*options.deadline);
  if (options.stats) run.stats = &stats;
  const Executable executable =
      options.reference ? compile(program, {.executor = Executor::kReference}) : compile(program);
  const std::vector<Literal> results = executable.run(arguments, run);
  if (!options.out.empty()) std::filesystem::create_directories(options.out);
  for (std::size_t i = 0; i < results.size(); i++) {
    if (options.out.empty())
      streams.out << results[i] << '\n';
    else
      results[i].save_npy(fmt::format("{}/out{}.npy", options.out, i));
  }
  if (options.stats) print_stats(stats, streams.err);
  return kFine;
}

constexpr const char* kExamples =
    "Examples:\n"
    "  rondo print f.mlir --to=hlo            a program of JAX as HLO\n"
    "  rondo run f.mlir x.npy 3 '{1, 2, 3}'   its results for a file and two literals\n"
    "  rondo run f.hlo x.npy --out=results    as results/out0.npy, ...\n"
    "  rondo check f.mlir g.mlir              the checks that the programs hold\n";

}  // namespace

int run_command(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
                std::ostream& err) {
  const Streams streams{in, out, err};
  CLI::App app("Prints and runs programs of HLO and StableHLO.", "rondo");
  app.footer(kExamples);
  app.set_version_flag("--version", "rondo " RONDO_VERSION_STRING);
  app.require_subcommand(1);

  PrintOptions print;
  CLI::App* const printing = app.add_subcommand("print", "Print a program in another format");
  printing
      ->add_option("FILE", print.file,
                   "HLO or StableHLO text or an artifact, told apart by its content; - is stdin")
      ->required();
  printing->add_option("--to", print.format, "the format")
      ->check(CLI::IsMember({"hlo", "stablehlo", "ir", "dot"}))
      ->capture_default_str();
  printing->add_flag("--optimize", print.optimize, "run the passes first (hlo and stablehlo)");

  RunCommandOptions run;
  CLI::App* const running = app.add_subcommand("run", "Run a program and print its results");
  running
      ->add_option("FILE", run.file,
                   "HLO or StableHLO text or an artifact, told apart by its content; - is stdin")
      ->required();
  running->add_option(
      "ARGUMENT", run.arguments,
      "one for each parameter: a .npy file or a literal, 3, {1, 2} or f32[2]{1, 2}");
  running->add_option("--out", run.out, "write the results to this folder, as out0.npy, ...");
  running->add_flag("--stats", run.stats, "trips of each loop and peak memory, on stderr");
  running->add_flag("--reference", run.reference, "the reference interpreter, which is slow");
  running->add_option("--max-iterations", run.max_iterations, "trips of each loop, at most");
  running->add_option("--deadline", run.deadline, "seconds that the run may take");
  running->add_option("--threads", run.threads, "threads that the run may use")
      ->check(CLI::PositiveNumber);

  std::vector<std::string> checked;
  CLI::App* const checking =
      app.add_subcommand("check", "Run the functions of StableHLO that hold `check.*` operations");
  checking->add_option("FILE", checked, "StableHLO text or an artifact; - is stdin")->required();

  try {
    // CLI11 takes them from the back.
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? kFine : kBadInput;
  }
  try {
    if (checking->parsed()) return check_programs(checked, in, out, err);
    return printing->parsed() ? print_program(print, streams) : run_program(run, streams);
  } catch (const ParseError& error) {
    err << "rondo: " << error.what() << '\n';
    return kBadInput;
  } catch (const std::exception& error) {
    err << "rondo: " << error.what() << '\n';
    return kFailed;
  }
}

}  // namespace rondo::cli
