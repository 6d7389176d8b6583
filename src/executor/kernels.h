// Kernels of nodes in lower programs, and what they see of the run.
#pragma once

#include <exception>
#include <memory>

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

  std::exception_ptr failure;  // of a kernel
};

/// The kernel of a node in loop `loop` of its program.
std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node, std::uint32_t loop);
/// Another kernel for a node, or for a part of its work.
std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node,
                                                 std::shared_ptr<const ir::Kernel> kernel,
                                                 std::size_t operands, std::size_t results,
                                                 std::uint32_t loop);

}  // namespace rondo::executor
