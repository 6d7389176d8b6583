// Expresses ops that a backend lacks by ops that it has. Lowering scan and fori_loop to while is
// one case.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo::passes {

enum class Target : std::uint8_t {
  kHlo,
  kStablehlo,
  /// The same in a text that names a mesh: XLA's partitioner splits each op
  /// (OpText::can_partition).
  kHloOnMesh,
  kStablehloOnMesh,
  kInterpreter,
  /// The interpreter if each op is inspected as it runs: inactive lanes compute on the values of an
  /// active one.
  kInspected
};

/// The same program, at every depth, in ops that the target has: those with an HLO or StableHLO
/// name (unless OpText::can_express excludes the node), or with a kernel or a Flow; constants and
/// parameters always count. Other nodes are replaced by what the expand rule of their record
/// returns, which is expanded in turn. Returns the same object if nothing changed. Texts contain no
/// growing tapes (passes/growing_tapes.h). Throws TraceError for an op without a rule.
Function expand(const Function& function, Target target);

/// For executors that generate loops. They also keep the nodes that `keeps` accepts, with their
/// regions expanded; and they expand nodes that `decomposes` accepts although they could keep them.
using Chooses = absl::FunctionRef<bool(const ir::Node& node)>;
/// `declines` tells of nodes whose regions are not expanded yet that `keeps` would reject them.
/// Without it, or if it cannot tell, regions are expanded first. For code that calls no kernels a
/// node is expanded in lanes if these have no choice or prefer it (OpExpansion), else in loops, and
/// else by the rule for all executors.
Function expand(const Function& function, Chooses keeps, Chooses decomposes);
Function expand(const Function& function, Chooses keeps, Chooses declines, Chooses decomposes,
                const ir::LoopCode& code);

}  // namespace rondo::passes
