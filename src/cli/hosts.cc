// `rondo hosts`: starts the Python part, src/hosts, which has JAX's distributed runtime.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <ostream>

#include "cli/command.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::cli {

namespace {

struct Option {
  const char* name;
  const char* type;
  const char* description;
};

/// Handed on as they are: the Python part checks them.
constexpr Option kOptions[] = {
    {"inputs", "PATH",
     "the arguments: an .npz with arg0, arg1, ..., or a folder of arg0.npy, arg1.npy, ..."},
    {"outputs", "FOLDER", "where this process writes its parts of the results"},
    {"coordinator", "ADDRESS", "HOST:PORT, the machine of process 0 and a free port there"},
    {"processes", "N", "the number of processes"},
    {"rank", "I", "the number of this process, from 0 to N-1"},
    {"devices", "N", "CPU devices of each process; by default the mesh's divided by the processes"},
    {"platform", "NAME", "JAX's name of the devices; by default cpu"},
    {"checkpoints", "FOLDER", "where this process keeps its parts of the carries of loops"},
    {"every", "TRIPS", "trips from one checkpoint to the next; by default 1000"},
    {"heartbeat", "SECONDS", "silence after which a process counts as ended; by default 20"},
    {"connect-timeout", "SECONDS", "how long processes wait for one another; by default 60"},
    {"join", "FOLDER", "run nothing: put together what all processes wrote to --outputs"},
    {"output", "NPZ", "where --join writes the results, as out0, out1, ..."},
};

/// The folder of the Python part: installed, or in a build folder.
std::string folder_of_hosts() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  for (const char* const place : {"../share/rondo/hosts", "share/rondo/hosts"}) {
    const fs::path folder = (program.parent_path() / place).lexically_normal();
    if (fs::exists(folder / "__main__.py", error)) return folder.string();
  }
  throw Error(
      fmt::format("the Python part of `rondo hosts` is not where it is installed, at {}\n"
                  "  Install the component `command` of Rondo as a whole: cmake --install.",
                  (program.parent_path() / "../share/rondo/hosts").lexically_normal().string()));
}

class Hosts final : public Verb {
 public:
  Hosts()
      : Verb("hosts", "Run a program for a mesh over several processes, by JAX (pip install jax)",
             "  rondo hosts f.mlir --rank=0 ...        one process of several, with all of these:\n"
             "      --processes=2 --coordinator=host:9000 --inputs=x.npz --outputs=results\n"
             "  rondo hosts f.mlir --rank=0 ... --checkpoints=c --every=500   can be broken off\n"
             "  rondo hosts --join=results --output=r.npz   the parts of all processes\n") {}

  void add_options(CLI::App& app) override {
    app.add_option("FILE", file_, "StableHLO text with a mesh, as to_stablehlo_text prints it");
    for (std::size_t i = 0; i < std::size(kOptions); i++)
      app.add_option(fmt::format("--{}", kOptions[i].name), values_[i], kOptions[i].description)
          ->type_name(kOptions[i].type);
    app.add_flag("--verbose", verbose_, "the progress of each process, and what the runtime logs");
    app.add_option("--python", python_,
                   "a Python with jax; by default that of RONDO_PYTHON, or python3")
        ->type_name("PROGRAM");
  }

  /// Returns only if the Python cannot be started.
  int run(const Streams& streams) override {
    std::vector<std::string> words{python(), "-B", folder_of_hosts()};
    if (!file_.empty()) words.push_back(file_);
    for (std::size_t i = 0; i < std::size(kOptions); i++) {
      if (values_[i]) words.push_back(fmt::format("--{}={}", kOptions[i].name, *values_[i]));
    }
    if (verbose_) words.emplace_back("--verbose");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    streams.out.flush();
    streams.err.flush();
    execvp(arguments[0], arguments.data());
    throw ParseError(
        fmt::format("{}: {}\n  Name a Python that has jax by --python or RONDO_PYTHON.", words[0],
                    std::strerror(errno)),
        0, 0);
  }

 private:
  std::string python() const {
    if (python_) return *python_;
    const char* const named = std::getenv("RONDO_PYTHON");
    return named && *named ? named : "python3";
  }

  std::string file_;
  std::optional<std::string> values_[std::size(kOptions)], python_;
  bool verbose_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_hosts() { return std::make_unique<Hosts>(); }

}  // namespace rondo::cli
