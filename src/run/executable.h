// The parts of an executable.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ir/backend.h"
#include "rondo/execute.h"

namespace rondo {

namespace run {

/// A form of a program that is made when a run first asks for it, by any thread.
class FormOnRequest {
 public:
  template <class Make>
  const ir::Prepared& get(const Make& make) const {
    std::call_once(made_, [&] { form_ = make(); });
    return *form_;
  }

 private:
  mutable std::once_flag made_;
  mutable std::shared_ptr<const ir::Prepared> form_;
};

}  // namespace run

struct Executable::Impl {
  struct Stages {
    Function source;  // before any pass
    Function optimized;
    Function expanded;
  };
  struct PlainForm {
    std::shared_ptr<const ir::Prepared> prepared;
    bool runs_on_memory = false;
    bool ignores_limits = false;  // it keeps no state between the trips of some loops
    bool batches_trips = false;   // all forms have products of all trips at once
  };
  struct LastRun {
    std::mutex mutex;
    RunStats stats;
  };

  Stages stages;
  PlainForm plain;
  run::FormOnRequest limited;    // for runs with limits
  run::FormOnRequest reference;  // for runs that only the reference supports
  run::FormOnRequest inspected;  // the same, of the program as traced
  run::FormOnRequest measured;   // for runs that fill in a profile
  run::FormOnRequest limited_and_measured;
  std::string executor;  // its name, and why it differs from the requested one
  std::vector<TensorType> param_types;
  /// The program with small dtypes, if `stages` are of one on their bytes (passes/small_types.h).
  std::optional<Function> with_small_types;
  MemoryPlan memory_plan;
  CompileOptions options;
  const ir::Backend* backend = nullptr;  // that compiled the program; null for devices
  mutable LastRun last;
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
