// Kernels of nodes in lower programs, and what they see of the run.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "ir/kernel.h"
#include "lower/program.h"
#include "lower/run_frame.h"

namespace rondo::executor {

/// The state of a run that kernels reach by the frame.
class RunHost : public ir::Host {
 public:
  /// poll() for parts of a loop, on any thread: where that has been answered, they go on without
  /// looking again. `loop`: in the part, before trip number `trip`; or null.
  virtual void poll_part(const lower::LoopInfo* loop, std::int64_t trip) = 0;

  /// A host for a part of a loop, on any thread. It is used by one thread, and not after this one.
  virtual std::unique_ptr<RunHost> for_part() = 0;
  /// Adds what such a host counted.
  virtual void add_counts(const RunHost& part) = 0;

  std::exception_ptr failure;  // of a kernel
  std::string failed_in;       // the loops of a part in which that arose, for its message
};

/// The kernel of a node in loop `loop` of its program.
std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node, std::uint32_t loop);
/// Another kernel for a node, or for a part of its work.
std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node,
                                                 std::shared_ptr<const ir::Kernel> kernel,
                                                 std::size_t operands, std::size_t results,
                                                 std::uint32_t loop);

}  // namespace rondo::executor
