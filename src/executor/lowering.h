// Lowers a Function to a program of the lower IR.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lower/builder.h"
#include "lower/program.h"
#include "rondo/function.h"

namespace rondo::executor {

class Interchanges;

/// Why a program cannot be lowered; empty if it can. The function is in executor ops.
std::string why_not_lowered(const Function& function);

/// Makes the kernel of a node that has no loops; the call is in loop `loop` of the program.
using MakeKernel =
    std::function<std::shared_ptr<const lower::Kernel>(const ir::Node& node, std::uint32_t loop)>;

struct LoweringOptions {
  /// Whether loops may be interchanged with their lanes.
  const Interchanges& interchanges;
  /// Loops check the limits of a run on each trip, also those interchanged with their lanes.
  bool has_limits = false;
  /// The state of a run that is ended in a loop is known: by a limit, or because max_trip_count is
  /// exceeded.
  bool keeps_states = false;
  /// Sums of products may be added in an order other than the kernels', and each addition may be
  /// fused with its product (one rounding).
  bool reorders = false;
  /// Loop-invariant operands may be packed for kernels, which takes memory.
  bool packs = true;
  /// Products of arrays may be kernels; else they are loops.
  bool calls_for_products = true;
  /// Memory holds elements of one type only.
  bool typed_memory = false;
  /// The program has the user's variables.
  bool variables = false;
  /// The program has the locations of its values.
  bool locations = false;
  /// What mathematical functions are.
  lower::Builder::Functions functions = lower::Builder::Functions::kInlined;
};

/// The program: its arguments are the parameters, its results the outputs.
lower::Program lower_function(const Function& function, const MakeKernel& make_kernel,
                              const LoweringOptions& options);

}  // namespace rondo::executor
