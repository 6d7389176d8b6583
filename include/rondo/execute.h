// Compiling and running a Function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/checkpoint.h"
#include "rondo/compile_options.h"
#include "rondo/detail/run_on_device.h"
#include "rondo/device.h"
#include "rondo/export.h"
#include "rondo/function.h"
#include "rondo/interrupted.h"
#include "rondo/literal.h"
#include "rondo/mesh.h"
#include "rondo/run_options.h"
#include "rondo/sharded_array.h"

namespace rondo {

/// How often a loop ran in a run: a part of RunStats.
struct LoopStats {
  std::string name;
  /// Over the whole run: an inner loop counts the trips of all its executions.
  std::int64_t trips = 0;
};

/// The statistics of a run.
struct RunStats {
  std::vector<LoopStats> loops;  // in program order; those called by kernels may come last
  /// Nodes that the reference executor evaluated, and for each trip of a counted loop the
  /// comparison and the addition of its counter; 0 on the others, whose code has no nodes.
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
  /// mesh, for an array of another dtype or shape than the program takes, and for one that would be
  /// resharded although this process does not have all of it (ShardedArray::is_whole_here).
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
