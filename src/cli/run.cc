// `rondo run`.
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>

#include "absl/cleanup/cleanup.h"
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
#include "rondo/text.h"

namespace rondo::cli {

namespace {

void print_stats(const RunStats& stats, std::ostream& out) {
  for (const LoopStats& loop : stats.loops)
    out << fmt::format("loop {}: {} trips\n", loop.name.empty() ? "while" : loop.name, loop.trips);
  out << fmt::format("peak memory: {} bytes\n", stats.peak_bytes);
}

/// What is wrong with a file for a profile, for CLI11.
std::string is_profile_file(const std::string& file) {
  if (file.ends_with(".html") || file.ends_with(".json")) return {};
  return file + " ends neither in .html nor in .json";
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
    CLI::Option* const profile =
        app.add_flag("--profile", profile_, "where the time goes, by loop and kernel, on stderr");
    CLI::Option* const profile_to =
        app.add_option("--profile-to", profile_to_,
                       "the same to a file: .html for a browser, .json for Perfetto")
            ->type_name("FILE")
            ->check(is_profile_file);
    CLI::Option* const reference =
        app.add_flag("--reference", reference_, "the reference interpreter, which is slow");
    app.add_option("--plugin", plugin_, "run on real XLA, by this PJRT plugin")
        ->type_name("SO")
        ->check(CLI::ExistingFile)
        ->excludes(stats)
        ->excludes(profile)
        ->excludes(profile_to)
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
    Profile profile;
    const absl::Cleanup show_profile = [&] {
      if (profile_) streams.err << profile;
    };
    const std::vector<Literal> results = results_of(program, arguments, stats, profile, streams);
    if (!profile_to_.empty()) write_profile(program, profile);
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

  void write_profile(const Function& program, const Profile& profile) const {
    std::ofstream file(profile_to_);
    file << (profile_to_.ends_with(".html") ? to_html(program, {.profile = &profile})
                                            : profile.to_json());
    file.close();
    if (!file)
      throw ParseError(fmt::format("--profile-to={}: the file cannot be written", profile_to_), 0,
                       0);
  }

  std::vector<Literal> results_of(const Function& program, const std::vector<Literal>& arguments,
                                  RunStats& stats, Profile& profile, const Streams& streams) const {
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
    if (profile_ || !profile_to_.empty()) options.profile = &profile;
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
  std::string out_, plugin_, profile_to_;
  std::vector<std::string> arguments_;
  bool stats_ = false, reference_ = false, profile_ = false;
  std::optional<std::int64_t> max_iterations_;
  std::optional<double> deadline_;
  std::optional<int> threads_;
};

}  // namespace

std::unique_ptr<Verb> make_run() { return std::make_unique<Run>(); }

}  // namespace rondo::cli
