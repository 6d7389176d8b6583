// Compiling and running a Function.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "rondo/checkpoint.h"
#include "rondo/device.h"
#include "rondo/function.h"
#include "rondo/interrupted.h"
#include "rondo/literal.h"
#include "rondo/mesh.h"
#include "rondo/sharded_array.h"

namespace rondo {

struct LoopStats {
  std::string name;
  /// Over the whole run: an inner loop counts the trips of all its executions.
  std::int64_t trips = 0;
};

/// What a run did.
struct RunStats {
  std::vector<LoopStats> loops;  // in program order; those that kernels call may come last
  /// Nodes that the reference executor evaluated; 0 on the others, whose code has no nodes.
  std::int64_t op_evaluations = 0;
  /// The most bytes of arrays alive at once, arguments and results included.
  std::int64_t peak_bytes = 0;
};

/// What a loop keeps for the reverse pass, known before the program runs.
struct LoopResiduals {
  std::string loop;         // its name; "while" for one without
  Checkpoint policy;        // what was chosen, never automatic
  std::int64_t arrays = 0;  // stacked over trips, or in slots
  /// Of each execution of the loop; of one trip where the policy is a tape that grows.
  std::int64_t bytes = 0;
};

/// What a run takes beside its arguments, as far as it is known before.
struct MemoryPlan : std::vector<LoopResiduals> {
  using std::vector<LoopResiduals>::vector;
  /// Of temporaries and carries, those of residuals among them; 0 where the reference runs, which
  /// does not know.
  std::int64_t arena_bytes = 0;
  /// Of all results, by their types.
  std::int64_t result_bytes = 0;
};

/// Where a loop stands: in which trip, from 1, and of how many, where that is known before it ends.
struct LoopPosition {
  std::string_view loop;
  std::int64_t trip = 0;
  std::optional<std::int64_t> of = std::nullopt;
};

/// Where a run stands: the position of the outermost loop that has moved since the last report. The
/// trip count of a loop over integers is known, also where its bounds are tensors.
struct Progress : LoopPosition {
  /// The loops around it, from the outermost on, and itself last. Empty for progress().
  std::vector<LoopPosition> path = {};
};

/// A duration of <chrono> in any unit: 500ms, std::chrono::duration<double>(0.5). One that is
/// longer than nanoseconds can count (292 years), such as std::chrono::hours::max(), is no limit.
struct TimeLimit {
  std::int64_t nanoseconds = 0;

  template <class Duration>
  requires requires(Duration limit) {
    limit.count();
    Duration::period::num;
    Duration::period::den;
  }
  constexpr TimeLimit(Duration limit) : nanoseconds(of(limit)) {}

 private:
  template <class Duration>
  static constexpr std::int64_t of(Duration limit) {
    constexpr std::int64_t kNano = 1'000'000'000;
    constexpr double kLongest = 9.2e9;
    using Unit = typename Duration::period;
    const double seconds = static_cast<double>(limit.count()) * Unit::num / Unit::den;
    if (!(seconds < kLongest)) return INT64_MAX;
    if (seconds < -kLongest) return INT64_MIN;
    if constexpr (std::is_integral_v<typename Duration::rep> && Unit::num <= kNano &&
                  kNano % Unit::den == 0) {
      return static_cast<std::int64_t>(limit.count()) * Unit::num * (kNano / Unit::den);
    } else {
      return static_cast<std::int64_t>(seconds * kNano);
    }
  }
};

/// Limits of a run and what it reports. What exceeds a limit ends the run with TooManyIterations,
/// DeadlineExceeded or Stopped, between the trips of loops or inside a long op; the callbacks are
/// called on the thread that runs.
struct RunOptions {
  std::optional<std::int64_t> max_iterations =
      std::nullopt;                                  // trips of each execution of each loop, from 0
  std::optional<TimeLimit> deadline = std::nullopt;  // from the start of the run
  std::stop_token stop_token = {};
  /// Called a few times per second while a loop runs, and by progress().
  std::function<void(const Progress&)> on_progress = nullptr;
  /// Called by tap(); without it taps are silent.
  std::function<void(std::string_view, const Literal&)> on_tap = nullptr;
  /// The most threads that a run may use, from 1; 1 where nothing is said. Large products of
  /// matrices and large loops over elements or lanes are split over them. Results do not depend on
  /// the number.
  std::optional<int> threads = std::nullopt;
  /// The run ends with an ExecutionError where the first NaN or infinity arises: it names the op,
  /// the loops around it and their trips, the operands' values and the user's line. An infinity
  /// that the program has as a constant is none. It runs on the reference executor, slowly.
  /// RONDO_CHECK_FINITE=1 sets it for all runs.
  bool check_finite = false;
  /// The run ends with an ExecutionError at the first index out of range, which would else be
  /// clamped, or its update dropped: it names the op, the index, the axis and its size, the loops
  /// around it and their trips, and the user's line. Of vmapped loops and branches the lanes that
  /// take no part do not count. A signed index of a scatter that is the least number of its dtype
  /// leaves an update out on purpose, and is none. It runs the program as it was traced, without
  /// passes, on the reference executor, slowly. RONDO_CHECK_BOUNDS=1 sets it for all runs.
  bool check_bounds = false;
  RunStats* stats = nullptr;  // filled with the statistics of this run
};

/// What runs a program.
enum class Executor : std::uint8_t {
  /// What the environment variable RONDO_EXECUTOR names (`reference`, `bytecode`, `compiled`), else
  /// kCompiled; kReference for a program that is not to be optimized.
  kDefault,
  /// Node by node, as the IR says it: what the others are compared with.
  kReference,
  /// Compiled to loops over scalars and buffers, which run as bytecode on any machine.
  kBytecode,
  /// The same as native code, where the machine has that; else as bytecode.
  kCompiled,
};

struct CompileOptions {
  /// False: the graph as it stands, node by node, without any pass.
  bool optimize = true;
  /// A product that is only added to something is rounded together with the sum (a fused
  /// multiply-add), as C++ compilers do, constant factors and divisors in a row are one factor, and
  /// sums of products may be added up in another order: those of all trips of a loop at once.
  /// False: each op is rounded by itself, in the order of the program, which gives the reference
  /// executor's bits. The reference never contracts.
  bool contract = true;
  Executor executor = Executor::kDefault;
  /// Bytes that a run may take beside its arguments, from 0: for its results, temporaries, carries
  /// and what is kept for the reverse pass (MemoryPlan::result_bytes and arena_bytes together).
  /// compile throws ExecutionError for a program that is known to take more; so does a run with
  /// limits or progress, whose form of the program may take more, and one whose tapes grow beyond
  /// it (Checkpoint::tape() of a loop of unknown length). Of what the reference executor takes only
  /// the results are known.
  std::optional<std::int64_t> memory_limit = std::nullopt;
  /// The device of a PJRT plugin that runs the program (rondo/pjrt.h), in place of an executor. A
  /// program for a device that holds a tap, a print, progress or a tape that grows is refused:
  /// compile throws TraceError naming it.
  pjrt::Device device = {};
  /// The devices of PJRT plugins that run the program together, each on its part of the arrays that
  /// rondo::shard spreads over them. It has devices, and the axes of the mesh that the program
  /// names: else compile throws. In place of `device`.
  std::optional<Mesh> mesh = std::nullopt;
  /// The parameters, by number from 0 (leaves of the arguments), whose memory a program on a device
  /// may write its results over, whoever holds it. An array that was given for one cannot be used
  /// again. What is moved into a call needs no number.
  std::vector<std::int64_t> donate = {};
};

class Executable;

namespace detail {

/// Executable::run_on_device, where `handles[i]` handles of argument i go with the run: one that
/// has no more is not used again. Empty `handles`: all are.
RONDO_API std::vector<pjrt::DeviceArray> run_on_device(const Executable& executable,
                                                       std::span<const pjrt::DeviceArray> arguments,
                                                       std::span<const long> handles,
                                                       const RunOptions& options);

}  // namespace detail

/// A program that is ready to run. Copies share it; run() may be called from many threads at once.
class RONDO_API Executable {
 public:
  Executable() = default;
  /// Runs the program. Throws ExecutionError if the number, dtype or shape of the arguments is
  /// wrong (naming the parameter), or if a limit in the options is exceeded (naming the loop and
  /// its trip).
  std::vector<Literal> run(std::span<const Literal> arguments,
                           const RunOptions& options = {}) const;
  std::vector<Literal> run(const std::vector<Literal>& arguments,
                           const RunOptions& options = {}) const;
  std::vector<Literal> run(std::initializer_list<Literal> arguments,
                           const RunOptions& options = {}) const;
  /// The same on memory of the caller's: a pointer to the elements of each argument and each
  /// result, dense and in row-major order, aligned as their host types. No result may overlap
  /// another or an argument. Only the limits in the options are checked; stats() does not tell of
  /// such a run. The compiled executor copies no element and, for a program that needs little
  /// memory of its own, allocates nothing.
  void run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                     const RunOptions& options = {}) const;
  /// Whether run_on_memory copies no element: the compiled executor, and bytecode.
  bool runs_on_memory() const noexcept;
  /// Runs a program that was compiled for a device on arrays that are there already; the results
  /// stay there. Returns before the program has ended, DeviceArray::await() waits for it. Throws
  /// ExecutionError if the program has no device, and for an array of another device, dtype or
  /// shape than the program takes.
  std::vector<pjrt::DeviceArray> run_on_device(std::span<const pjrt::DeviceArray> arguments,
                                               const RunOptions& options = {}) const;
  std::vector<pjrt::DeviceArray> run_on_device(const std::vector<pjrt::DeviceArray>& arguments,
                                               const RunOptions& options = {}) const;
  /// The same, where the arrays are not used again unless somebody else holds a handle to them: of
  /// those that are large, results of their type are written over the memory. Where such a run is
  /// asked for the first time, the program is compiled once more.
  std::vector<pjrt::DeviceArray> run_on_device(std::vector<pjrt::DeviceArray>&& arguments,
                                               const RunOptions& options = {}) const;
  /// CompileOptions::device.
  const pjrt::Device& device() const;
  /// CompileOptions::mesh; null for a program that has none.
  const Mesh* mesh() const;
  /// How the arguments of a program for a mesh lie on it; empty for another program.
  std::span<const PartitionSpec> argument_specs() const;
  /// Runs a program that was compiled for a mesh on arrays that lie there already; the results stay
  /// there. An argument that lies otherwise than the program wants it (rondo::shard) is brought
  /// there through the host. Returns before the program has ended. Throws ExecutionError if the
  /// program has no mesh, and for an array of another dtype or shape than the program takes.
  std::vector<pjrt::ShardedArray> run_on_mesh(const std::vector<pjrt::ShardedArray>& arguments,
                                              const RunOptions& options = {}) const;
  /// The same, where the arrays are not used again unless somebody else holds a handle to them.
  std::vector<pjrt::ShardedArray> run_on_mesh(std::vector<pjrt::ShardedArray>&& arguments,
                                              const RunOptions& options = {}) const;
  /// Of the last run() that ended, on any thread; empty before the first, and on a device.
  /// run_on_memory() keeps none unless RunOptions::stats asks for them.
  RunStats stats() const;
  /// The loops that keep something for the reverse pass, in program order; and the bytes of the
  /// arena.
  MemoryPlan memory_plan() const;
  /// The bytes that it holds: nodes, constants, instructions, machine code, and the memory that a
  /// run leaves for the next one. Without what only some runs make: those with limits or checks, or
  /// on several threads.
  std::int64_t bytes() const;
  /// The program that is run: after the passes, if there were any.
  const Function& function() const;
  /// What runs, as text to read: the executor, then loops and buffers, or the program node by node
  /// where it is the reference that runs it (and why, if another one was asked for). Then how each
  /// loop runs: vectorized, or what is in the way of that. Runs with limits, and those on several
  /// threads, may take another form of the program; this is that of a plain run, and so
  /// are disassembly() and memory_plan().
  std::string program() const;
  /// The machine code that runs: of the loops of this name, or of everything. Each step of the
  /// program is printed above its instructions in Intel's syntax ("vaddps zmm1{k1}{z}, zmm2,
  /// zmm3"), each with its offset in hexadecimal, which jumps name; constants follow as bytes. Made
  /// anew at each call. Empty where no machine code runs, or no loop has the name.
  std::string disassembly(std::string_view loop = {}) const;

  /// The library's own; null where there is no program.
  struct Impl;
  const Impl* impl() const noexcept { return impl_.get(); }

 private:
  friend RONDO_API Executable compile(const Function& function, const CompileOptions& options);
  friend RONDO_API std::vector<pjrt::DeviceArray> detail::run_on_device(
      const Executable& executable, std::span<const pjrt::DeviceArray> arguments,
      std::span<const long> handles, const RunOptions& options);
  std::vector<pjrt::ShardedArray> run_parts(std::span<const pjrt::ShardedArray> arguments,
                                            std::span<const long> handles,
                                            const RunOptions& options) const;
  std::shared_ptr<const Impl> impl_;
};

/// Makes a program ready to run: the passes, then a plan of kernels and their storage. Throws
/// TraceError for an empty Function.
RONDO_API Executable compile(const Function& function, const CompileOptions& options = {});

/// While it lives, each op of its thread is computed at once and loops call their lambdas trip by
/// trip, so that a debugger or a printf in a body sees values. The results are those of the traced
/// program. It acts on tensors outside traces: one that is made inside a traced function does
/// nothing. It may end on another thread than that which made it and for which it acts.
class RONDO_API EagerScope {
 public:
  EagerScope();
  ~EagerScope();
  EagerScope(const EagerScope&) = delete;
  EagerScope& operator=(const EagerScope&) = delete;

 private:
  std::shared_ptr<std::atomic<int>> scopes_;  // of the thread; null where it does nothing
};

}  // namespace rondo
