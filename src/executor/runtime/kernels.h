// Kernels of nodes in lower programs, and their view of the run.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "ir/kernel.h"
#include "ir/time_tree.h"
#include "lower/program.h"
#include "lower/run_frame.h"

namespace rondo::executor {

/// The state of a run that kernels reach through the frame.
class RunHost : public ir::Host {
 public:
  /// poll() for parts of a loop, on any thread: once that has been answered, they continue without
  /// polling again. `loop`: in the part, before trip number `trip`; or null.
  virtual void poll_part(const lower::LoopInfo* loop, std::int64_t trip) = 0;

  /// A host for a part of a loop, on any thread. One thread uses it, and this host must outlive it.
  virtual std::unique_ptr<RunHost> for_part() = 0;
  /// Adds the counts of such a host.
  virtual void add_counts(const RunHost& part) = 0;

  ir::TimeTree* times = nullptr;  // of a run that measures a profile
  std::exception_ptr failure;     // of a kernel
  std::string failed_in;          // the loops of a part in which it occurred, for its message
};

/// The kernel of a node in loop `loop` of its program.
std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node, std::uint32_t loop);
/// An alternative kernel for a node, or for a part of its work.
std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node,
                                                 std::shared_ptr<const ir::Kernel> kernel,
                                                 std::size_t operands, std::size_t results,
                                                 std::uint32_t loop);

}  // namespace rondo::executor
