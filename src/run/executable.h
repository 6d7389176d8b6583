// The parts of an executable.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ir/backend.h"
#include "rondo/execute.h"

namespace rondo {

struct Executable::Impl {
  Function function;
  std::shared_ptr<const ir::Prepared> prepared;
  std::string executor;         // its name, and why it differs from the requested one
  bool runs_on_memory = false;  // plain runs at least
  std::vector<TensorType> param_types;
  MemoryPlan memory_plan;
  Function source;  // before any pass
  Function expanded;
  CompileOptions options;
  const ir::Backend* backend = nullptr;  // that compiled the program; null for devices
  bool ignores_limits = false;           // `prepared` keeps no state between the trips of some
                                         // loops
  bool batches_trips = false;            // all forms have products of all trips at once
  /// For runs with limits.
  mutable std::once_flag limited_made;
  mutable std::shared_ptr<const ir::Prepared> limited;
  /// For runs that only the reference supports.
  mutable std::once_flag reference_made;
  mutable std::shared_ptr<const ir::Prepared> reference;
  mutable std::once_flag inspected_made;
  mutable std::shared_ptr<const ir::Prepared> inspected;  // for the program as traced
  mutable std::mutex stats_mutex;
  mutable RunStats last_stats;
};

namespace run {

/// The program for a run with these options. Throws ExecutionError if it takes more memory than its
/// limit.
const ir::Prepared& prepared_for(const Executable::Impl& impl, const RunOptions& options);
/// The options with the checks that the environment requests.
RunOptions with_checks_of_environment(const RunOptions& options);
/// Whether the reference runs the program and checks each value or index; requested by the options
/// or the environment.
bool is_checked(const RunOptions& options);
/// The program for such a run.
const ir::Prepared& checked_program(const Executable::Impl& impl, const RunOptions& options);

}  // namespace run

}  // namespace rondo
