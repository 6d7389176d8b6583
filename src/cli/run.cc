// `rondo run`.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>

#include "cli/argument.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "fmt/format.h"
#include "rondo/error.h"
#include "rondo/execute.h"
#include "rondo/interrupted.h"
#include "rondo/pjrt.h"

namespace rondo::cli {

namespace {

void print_stats(const RunStats& stats, std::ostream& out) {
  for (const LoopStats& loop : stats.loops)
    out << fmt::format("loop {}: {} trips\n", loop.name.empty() ? "while" : loop.name, loop.trips);
  out << fmt::format("peak memory: {} bytes\n", stats.peak_bytes);
}

/// Where Ctrl-C stopped a run.
std::string stopped_text(const Stopped& stopped) {
  if (stopped.trip() == 0) return "interrupted";
  const std::string name = stopped.loop().empty() ? "" : fmt::format("'{}' ", stopped.loop());
  return fmt::format("interrupted in the loop {}at {}, after {} trips", name,
                     stopped.location().str(), stopped.trip());
}

class Run final : public Verb {
 public:
  Run()
      : Verb("run", "Run a program and print its results",
             "  rondo run f.mlir x.npy 3 '{1, 2, 3}'   its results for a file and two literals\n"
             "  rondo run f.mlir params.npz:w x.npy    an array of an archive\n"
             "  rondo run f.hlo x.npy --out=results    as results/out0.npy, ...\n"
             "  rondo run f.hlo x.npy --deadline=10    stops after ten seconds, and says where\n") {
  }

  void add_options(CLI::App& app) override {
    add_program_options(app, program_);
    app.add_option("ARG", arguments_,
                   "one for each parameter: a .npy file, an array of an archive, x.npz:NAME, or a "
                   "literal, 3, {1, 2} or f32[2]{1, 2}");
    app.add_option("--out", out_, "write the results to this folder, as out0.npy, ...")
        ->type_name("DIR");
    CLI::Option* const stats =
        app.add_flag("--stats", stats_, "trips of each loop and peak memory, on stderr");
    CLI::Option* const reference =
        app.add_flag("--reference", reference_, "the reference interpreter, which is slow");
    app.add_option("--plugin", plugin_, "run on real XLA, by this PJRT plugin")
        ->type_name("SO")
        ->check(CLI::ExistingFile)
        ->excludes(stats)
        ->excludes(reference);
    app.add_option("--max-iterations", max_iterations_, "trips of each loop, at most")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--deadline", deadline_, "seconds that the run may take")
        ->type_name("SECONDS")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--threads", threads_, "threads that the run may use")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
  }

  int run(const Streams& streams) override {
    const Function program = program_of(program_, streams);
    const std::vector<Literal> arguments = arguments_of(program, arguments_);
    make_folder();
    RunStats stats;
    const std::vector<Literal> results = results_of(program, arguments, stats, streams);
    for (std::size_t i = 0; i < results.size(); i++) {
      if (out_.empty())
        streams.out << results[i] << '\n';
      else
        results[i].save_npy(fmt::format("{}/out{}.npy", out_, i));
    }
    if (stats_) print_stats(stats, streams.err);
    return kFine;
  }

 private:
  /// Before the program runs, which may take long.
  void make_folder() const {
    if (out_.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(out_, error);
    if (error) throw ParseError(fmt::format("--out={}: {}", out_, error.message()), 0, 0);
  }

  std::vector<Literal> results_of(const Function& program, const std::vector<Literal>& arguments,
                                  RunStats& stats, const Streams& streams) const {
    RunOptions options;
    options.max_iterations = max_iterations_;
    options.threads = threads_;
    if (deadline_) options.deadline = std::chrono::duration<double>(*deadline_);
    if (!plugin_.empty()) {
      // As a whole unless limits are asked for, which split it at its loops.
      const pjrt::Client client(pjrt::Plugin::load(plugin_));
      return compile(program, {.device = client.devices()[0]}).run(arguments, options);
    }
    if (stats_) options.stats = &stats;
    const Executable executable =
        compile(program, {.executor = reference_ ? Executor::kReference : Executor::kDefault});
    const StopOnInterrupt interrupt;
    options.stop_token = interrupt.token();
    std::optional<ProgressBar> bar;
    if (streams.err_is_terminal) {
      bar.emplace(streams.err);
      options.on_progress = [&](const Progress& progress) { bar->show(progress); };
    }
    try {
      return executable.run(arguments, options);
    } catch (const Stopped& stopped) {
      throw ExecutionError(stopped_text(stopped), stopped.location());
    }
  }

  ProgramOptions program_;
  std::string out_, plugin_;
  std::vector<std::string> arguments_;
  bool stats_ = false, reference_ = false;
  std::optional<std::int64_t> max_iterations_;
  std::optional<double> deadline_;
  std::optional<int> threads_;
};

}  // namespace

std::unique_ptr<Verb> make_run() { return std::make_unique<Run>(); }

}  // namespace rondo::cli
