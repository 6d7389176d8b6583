// From a Function to a lower program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lower/program.h"
#include "rondo/function.h"

namespace rondo::executor {

class LaneForms;

/// Why a program cannot be lowered; empty where it can. The function is expanded for executors.
std::string why_not_lowered(const Function& function);

/// Makes the kernel of a node that has no loops; it stands in loop `loop` of the program.
using MakeKernel =
    std::function<std::shared_ptr<const lower::Kernel>(const ir::Node& node, std::uint32_t loop)>;

/// The program: its arguments are the parameters, its results the outputs. `keeps_states`: what is
/// left of a run that is ended in a loop is to be known. Loops of `lane_forms` run by lane, so that
/// such a run has no state between two trips of them.
lower::Program lower_function(const Function& function, const MakeKernel& make_kernel,
                              bool keeps_states, const LaneForms& lane_forms);

}  // namespace rondo::executor
