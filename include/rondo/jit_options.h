// Options of jit.
#pragma once

#include <optional>

#include "rondo/compile_options.h"
#include "rondo/device.h"
#include "rondo/mesh.h"
#include "rondo/run_options.h"

namespace rondo {

/// Options of jit.
struct JitOptions {
  RunOptions run = {};          // of each call; see Jitted::with for those of one call
  CompileOptions compile = {};  // of each program
  /// Whether a call traces the function again, and throws TraceError if that gives another program
  /// than the one that would run, because a captured C++ value or tensor has changed. It costs a
  /// trace. True: in each call. False: never. By default the environment variable
  /// RONDO_CHECK_CAPTURES decides (1: in each call, 0: never), and without it the second call of
  /// each program checks if jit was compiled without NDEBUG: what changes from call to call has
  /// changed by then.
  std::optional<bool> check_captures = std::nullopt;
  /// Shorthand for compile.device: the device of a PJRT plugin (rondo/pjrt.h) that runs the
  /// programs. Their results stay there, and are copied to the host if something there needs them.
  pjrt::Device device = {};
  /// Shorthand for compile.mesh: the devices that run the programs together.
  std::optional<Mesh> mesh = std::nullopt;
};

}  // namespace rondo
