// From a Function to a lower program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lower/program.h"
#include "rondo/function.h"

namespace rondo::executor {

class Interchanges;

/// Why a program cannot be lowered; empty where it can. The function is expanded for executors.
std::string why_not_lowered(const Function& function);

/// Makes the kernel of a node that has no loops; it stands in loop `loop` of the program.
using MakeKernel =
    std::function<std::shared_ptr<const lower::Kernel>(const ir::Node& node, std::uint32_t loop)>;

struct LoweringOptions {
  /// Loops that run by lane.
  const Interchanges& interchanges;
  /// Loops look at the limits of a run on each trip, those that run by lane as well.
  bool has_limits = false;
  /// What is left of a run that is ended in a loop is known: by a limit, or by a promise that is
  /// broken.
  bool keeps_states = false;
  /// Sums of products may be added up in another order than the kernels', and each of them with its
  /// product be rounded once.
  bool reorders = false;
  /// Operands that a loop never changes may be packed for kernels, which takes memory.
  bool packs = true;
};

/// The program: its arguments are the parameters, its results the outputs.
lower::Program lower_function(const Function& function, const MakeKernel& make_kernel,
                              const LoweringOptions& options);

}  // namespace rondo::executor
