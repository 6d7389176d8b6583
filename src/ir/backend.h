// Backends, which run programs: the reference interpreter, the compiled executor, a PJRT plugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/held_bytes.h"
#include "rondo/device.h"
#include "rondo/execute.h"
#include "rondo/function.h"

namespace rondo::ir {

/// What runs a form of a program is for, beside plain ones.
struct Form {
  bool has_limits = false;   // runs that may be ended or report progress (ir::has_limits)
  bool is_measured = false;  // runs that fill in RunOptions::profile
};

/// A program prepared by a backend. Immutable: it runs on many threads at once.
class Prepared {
 public:
  virtual ~Prepared() = default;
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  /// Runs the program on arguments of its parameters' types. `stats` is filled in however the run
  /// ends. Throws the exception that ends it: ExecutionError if a limit of the options is exceeded.
  virtual std::vector<Literal> run(std::span<const Literal> arguments, const RunOptions& options,
                                   RunStats& stats) const = 0;
  /// Whether it can run on the elements of arguments and results in place.
  virtual bool runs_on_memory() const { return false; }
  /// Such a run, without statistics; only called if runs_on_memory().
  virtual void run_on_memory(const std::byte* const* /*arguments*/, std::byte* const* /*results*/,
                             const RunOptions& /*options*/) const {}
  /// The same for a run without limits or reports (is_plain). False, without running, if the
  /// program needs options or the state of a run.
  virtual bool run_alone(const std::byte* const* /*arguments*/,
                         std::byte* const* /*results*/) const {
    return false;
  }
  /// The program as it runs, as text to read.
  virtual std::string text() const = 0;
  /// How each loop runs, a line for each, which the text has too. Empty if that is not known.
  virtual std::string loop_report() const { return {}; }
  /// The machine code of the loops of this name, or of everything if it is empty, as text to read.
  /// Empty if no machine code runs.
  virtual std::string disassembly(std::string_view /*loop*/) const { return {}; }
  /// Adds what it holds, including the object itself.
  virtual void count_held(HeldBytes& held) const = 0;
  /// Whether some of its loops ignore the limits of a run and have no state between trips. Runs
  /// with limits then use Form::has_limits.
  virtual bool ignores_limits() const { return false; }
  /// Whether its runs fill in RunOptions::profile, or refuse to. Else these use Form::is_measured.
  virtual bool measures() const { return true; }
  /// Memory that a run takes beside arguments and results, if known before it runs.
  virtual std::int64_t arena_bytes() const { return 0; }
  /// Where arguments and results may stay between runs; none if they are literals.
  virtual const pjrt::Device& device() const {
    static const pjrt::Device none;
    return none;
  }
  /// Runs the program on its device; may return before it has ended. An argument with no more
  /// handles than `handles[i]`, which the run releases, is not used again, and is donated: results
  /// may be written over it. Empty `handles`: no argument is donated.
  virtual std::vector<pjrt::DeviceArray> run_on_device(std::span<const pjrt::DeviceArray>,
                                                       std::span<const long> /*handles*/,
                                                       const RunOptions&) const {
    throw InternalError("a backend without a device was given arrays on one");
  }
  /// The mesh of a program for a mesh; else null.
  virtual const Mesh* mesh() const { return nullptr; }
  virtual std::span<const PartitionSpec> argument_specs() const { return {}; }
  virtual std::span<const PartitionSpec> result_specs() const { return {}; }
  virtual std::vector<pjrt::ShardedArray> run_on_mesh(std::span<const pjrt::ShardedArray>,
                                                      std::span<const long> /*handles*/,
                                                      const RunOptions&) const {
    throw InternalError("a backend without a mesh was given arrays on one");
  }
};

/// What results of these types take together; INT64_MAX if that overflows.
std::int64_t result_bytes(std::span<const TensorType> results);
/// What CompileOptions::memory_limit leaves for the arena and tapes of a function; nullopt without
/// a limit.
std::optional<std::int64_t> arena_limit(const Function& function, const CompileOptions& options);

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  /// Why it cannot run a function in ops that executors have; empty where it can.
  virtual std::string why_not(const Function&) const { return {}; }
  /// The function in the ops that this backend prefers; none where those are what passes::expand
  /// makes for all executors.
  virtual std::optional<Function> expanded(const Function&) const { return std::nullopt; }
  /// Prepares a function whose ops executors have (passes::Target::kInterpreter); a backend for
  /// devices takes any.
  virtual std::shared_ptr<const Prepared> prepare(const Function& function,
                                                  const CompileOptions& options,
                                                  const Form& form) const = 0;
};

/// Makes an executor known to compile(). Called as the program starts, by the library that has it;
/// `backend` is called when programs are compiled.
using BackendOf = const Backend& (*)();
void register_executor(Executor executor, BackendOf backend);
/// The executor that was registered; null where the program is linked without it.
const Backend* registered_executor(Executor executor);

}  // namespace rondo::ir
