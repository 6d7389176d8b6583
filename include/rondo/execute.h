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

/// The statistics of a run.
struct RunStats {
  std::vector<LoopStats> loops;  // in program order; those called by kernels may come last
  /// Nodes that the reference executor evaluated; 0 on the others, whose code has no nodes.
  std::int64_t op_evaluations = 0;
  /// The most bytes of arrays alive at once, arguments and results included.
  std::int64_t peak_bytes = 0;
};

/// What a loop keeps for the backward pass, known before the program runs.
struct LoopResiduals {
  std::string loop;         // its name; "while" for one without
  Checkpoint policy;        // what was chosen, never automatic
  std::int64_t arrays = 0;  // stacked over trips, or in slots
  /// Per execution of the loop; per trip if the policy is a growing tape.
  std::int64_t bytes = 0;
};

/// What a run takes beside its arguments, as far as it is known in advance.
struct MemoryPlan : std::vector<LoopResiduals> {
  using std::vector<LoopResiduals>::vector;
  /// Of temporaries and carries, including residuals; 0 for the reference, which does not know.
  std::int64_t arena_bytes = 0;
  /// Of all results, by their types.
  std::int64_t result_bytes = 0;
};

/// The position in a loop: in which trip, from 1, and of how many, if that is known before it ends.
struct LoopPosition {
  std::string_view loop;
  std::int64_t trip = 0;
  std::optional<std::int64_t> of = std::nullopt;
};

/// The position of a run: that of the outermost loop that has advanced since the last report. The
/// trip count of a loop over integers is known even if its bounds are tensors.
struct Progress : LoopPosition {
  /// The enclosing loops, outermost first, and finally the loop itself. Empty for progress().
  std::vector<LoopPosition> path = {};
};

/// A duration of <chrono> in any unit: 500ms, std::chrono::duration<double>(0.5). A duration beyond
/// the range of nanoseconds (292 years), such as std::chrono::hours::max(), means no limit.
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

/// Limits of a run and what it reports. Exceeding a limit ends the run with TooManyIterations,
/// DeadlineExceeded or Stopped, between the trips of loops or inside a long op. The callbacks are
/// called on the thread that runs.
struct RunOptions {
  std::optional<std::int64_t> max_iterations =
      std::nullopt;                                  // trips of each execution of each loop, from 0
  std::optional<TimeLimit> deadline = std::nullopt;  // from the start of the run
  std::stop_token stop_token = {};
  /// Called a few times per second while a loop runs, and by progress().
  std::function<void(const Progress&)> on_progress = nullptr;
  /// Called by tap(); without it taps report nothing.
  std::function<void(std::string_view, const Literal&)> on_tap = nullptr;
  /// The most threads that a run may use, from 1; the default is 1. Large products of matrices and
  /// large loops over elements or lanes are split over them. Results do not depend on the number.
  std::optional<int> threads = std::nullopt;
  /// Ends the run with an ExecutionError where the first NaN or infinity is created: it names the
  /// op, the enclosing loops and their trips, the operands' values and the user's line. An infinity
  /// that is a constant of the program does not count. Runs on the reference executor, slowly.
  /// RONDO_CHECK_FINITE=1 sets it for all runs.
  bool check_finite = false;
  /// Ends the run with an ExecutionError at the first index out of range, which would otherwise be
  /// clamped, or its update dropped: it names the op, the index, the axis and its size, the
  /// enclosing loops and their trips, and the user's line. In vmapped loops and branches inactive
  /// lanes do not count. A signed index of a scatter that is the lowest number of its dtype drops
  /// an update on purpose, and does not count. Runs the program as it was traced, without passes,
  /// on the reference executor, slowly. RONDO_CHECK_BOUNDS=1 sets it for all runs.
  bool check_bounds = false;
  RunStats* stats = nullptr;  // filled with the statistics of this run
};

/// The executor that runs a program.
enum class Executor : std::uint8_t {
  /// The one named by the environment variable RONDO_EXECUTOR (`reference`, `bytecode`,
  /// `compiled`), else kCompiled; kReference for a program that is not to be optimized.
  kDefault,
  /// Node by node, as the IR defines it: the others are compared with it.
  kReference,
  /// Compiled to loops over scalars and buffers, which run as bytecode on any machine.
  kBytecode,
  /// The same as native code if the machine supports it; else as bytecode.
  kCompiled,
};

struct CompileOptions {
  /// False: the graph as it is, node by node, without any pass.
  bool optimize = true;
  /// Allows contraction: a product whose only use is a sum is rounded together with the sum (a
  /// fused multiply-add), as C++ compilers do; chains of constant factors and divisors become one
  /// factor; and sums of products may be added in another order, such as those of all trips of a
  /// loop at once. False: each op is rounded separately, in the order of the program, which gives
  /// the reference executor's bits. The reference never contracts.
  bool contract = true;
  Executor executor = Executor::kDefault;
  /// The bytes that a run may take beside its arguments, from 0: for its results, temporaries,
  /// carries and what is kept for the backward pass (MemoryPlan::result_bytes and arena_bytes
  /// together). compile throws ExecutionError for a program that is known to take more. So does a
  /// run with limits or progress, whose form of the program may take more, and one whose tapes grow
  /// beyond it (Checkpoint::tape() of a loop of unknown length). For the reference executor only
  /// the size of the results is known.
  std::optional<std::int64_t> memory_limit = std::nullopt;
  /// The device of a PJRT plugin that runs the program (rondo/pjrt.h), instead of an executor.
  /// compile throws TraceError for a program for a device that contains a tap, a print, progress or
  /// a growing tape, and names it.
  pjrt::Device device = {};
  /// The devices of PJRT plugins that run the program together, each on its part of the arrays that
  /// rondo::shard splits over them. It has devices, and the axes of the mesh that the program
  /// names; otherwise compile throws. Replaces `device`.
  std::optional<Mesh> mesh = std::nullopt;
  /// Parameters, by number from 0 (leaves of the arguments), that are donated: a program on a
  /// device may write results over their memory, even if other handles exist. An array passed for
  /// one cannot be used again. Arguments that are moved into a call are donated without a number.
  std::vector<std::int64_t> donate = {};
};

class Executable;

namespace detail {

/// Executable::run_on_device, where the run releases `handles[i]` handles of argument i: an
/// argument without further handles is donated. Empty `handles`: none is.
RONDO_API std::vector<pjrt::DeviceArray> run_on_device(const Executable& executable,
                                                       std::span<const pjrt::DeviceArray> arguments,
                                                       std::span<const long> handles,
                                                       const RunOptions& options);

}  // namespace detail

/// A compiled program. Copies share it; run() may be called from many threads at once.
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
  /// The same on the caller's memory: a pointer to the elements of each argument and each result,
  /// dense and in row-major order, aligned like their host types. No result may overlap another or
  /// an argument. Only the limits in the options are checked; stats() does not include such a run.
  /// The compiled executor copies no element and, for a program that needs little temporary memory,
  /// allocates nothing.
  void run_on_memory(const std::byte* const* arguments, std::byte* const* results,
                     const RunOptions& options = {}) const;
  /// Whether run_on_memory copies no element: on the compiled executor, and bytecode.
  bool runs_on_memory() const noexcept;
  /// Runs a program that was compiled for a device on arrays on that device; the results stay
  /// there. Returns before the program has ended; DeviceArray::await() waits for it. Throws
  /// ExecutionError if the program has no device, and for an array of another device, dtype or
  /// shape than the program takes.
  std::vector<pjrt::DeviceArray> run_on_device(std::span<const pjrt::DeviceArray> arguments,
                                               const RunOptions& options = {}) const;
  std::vector<pjrt::DeviceArray> run_on_device(const std::vector<pjrt::DeviceArray>& arguments,
                                               const RunOptions& options = {}) const;
  /// The same, donating arrays without other handles: results of the same type are written over the
  /// memory of the large ones. The first such run compiles the program once more.
  std::vector<pjrt::DeviceArray> run_on_device(std::vector<pjrt::DeviceArray>&& arguments,
                                               const RunOptions& options = {}) const;
  /// CompileOptions::device.
  const pjrt::Device& device() const;
  /// CompileOptions::mesh; null for a program that has none.
  const Mesh* mesh() const;
  /// The shardings of the arguments of a program for a mesh; empty for another program.
  std::span<const PartitionSpec> argument_specs() const;
  /// Runs a program that was compiled for a mesh on arrays on that mesh; the results stay there. An
  /// argument with another sharding than the program expects (rondo::shard) is resharded through
  /// the host. Returns before the program has ended. Throws ExecutionError if the program has no
  /// mesh, and for an array of another dtype or shape than the program takes.
  std::vector<pjrt::ShardedArray> run_on_mesh(const std::vector<pjrt::ShardedArray>& arguments,
                                              const RunOptions& options = {}) const;
  /// The same, donating arrays without other handles.
  std::vector<pjrt::ShardedArray> run_on_mesh(std::vector<pjrt::ShardedArray>&& arguments,
                                              const RunOptions& options = {}) const;
  /// The statistics of the last run() that ended, on any thread; empty before the first, and on a
  /// device. run_on_memory() keeps none unless RunOptions::stats requests them.
  RunStats stats() const;
  /// The loops that keep something for the backward pass, in program order; and the bytes of the
  /// arena.
  MemoryPlan memory_plan() const;
  /// The bytes that it holds: nodes, constants, instructions, machine code, and the memory that a
  /// run leaves for the next one. Without what only some runs create: those with limits or checks,
  /// or on several threads.
  std::int64_t bytes() const;
  /// The program that runs: after the passes, if any.
  const Function& function() const;
  /// The program that runs, as text to read: the executor, then loops and buffers, or the program
  /// node by node if the reference runs it (and why, if another executor was requested). Then how
  /// each loop runs: vectorized, or what prevents that. Runs with limits, and those on several
  /// threads, may use another form of the program; this is that of a plain run, and so are
  /// disassembly() and memory_plan().
  std::string program() const;
  /// The machine code that runs: of the loops of this name, or of everything. Each step of the
  /// program is printed above its instructions in Intel's syntax ("vaddps zmm1{k1}{z}, zmm2,
  /// zmm3"), each with its offset in hexadecimal, which jumps name; constants follow as bytes.
  /// Generated at each call. Empty if no machine code runs, or if no loop has the name.
  std::string disassembly(std::string_view loop = {}) const;

  /// Internal; null if there is no program.
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

/// Compiles a program: runs the passes, then plans kernels and their storage. Throws TraceError for
/// an empty Function.
RONDO_API Executable compile(const Function& function, const CompileOptions& options = {});

/// While one exists, each op of its thread is computed at once and loops call their lambdas on each
/// trip, so that a debugger or a printf in a body sees values. The results are those of the traced
/// program. It affects tensors outside traces: one created inside a traced function does nothing.
/// It may end on another thread than the one that created it and that it affects.
class RONDO_API EagerScope {
 public:
  EagerScope();
  ~EagerScope();
  EagerScope(const EagerScope&) = delete;
  EagerScope& operator=(const EagerScope&) = delete;

 private:
  std::shared_ptr<std::atomic<int>> scopes_;  // of the thread; null if it does nothing
};

}  // namespace rondo
