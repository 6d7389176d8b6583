// Ops that a backend lacks, said in ops that it has. Lowering scan and fori to while is a case of
// it.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "ir/node.h"
#include "rondo/function.h"

namespace rondo::passes {

enum class Target : std::uint8_t {
  kHlo,
  kStablehlo,
  /// The same in a text that names a mesh: XLA's partitioner splits each op (OpDef::splits).
  kHloOnMesh,
  kStablehloOnMesh,
  kInterpreter,
  /// The interpreter where each op is looked at as it runs: lanes that take no part compute on the
  /// values of one that does.
  kInspected
};

/// The same program, at every depth, in ops that the target has: those with an HLO or StableHLO
/// name (unless OpDef::in_text says that this node is none), or with a kernel or a Flow; constants
/// and parameters always count. Other nodes are replaced
/// by what the expand rule of their record makes, which is expanded in its turn. The same object
/// where nothing changed. Texts are without tapes that grow (passes/growing_tapes.h). Throws
/// TraceError for an op without such a rule.
Function expand(const Function& function, Target target);

/// For executors that write loops. They have other nodes as well: those that `keeps` takes, with
/// their regions expanded; and rather have what others expand to: those that `divides` takes.
using Chooses = absl::FunctionRef<bool(const ir::Node& node)>;
/// `declines` says of nodes whose regions are not expanded yet that `keeps` would not take them.
/// Without it, or where it does not know, regions are expanded first.
Function expand(const Function& function, Chooses keeps, Chooses divides);
Function expand(const Function& function, Chooses keeps, Chooses declines, Chooses divides);

}  // namespace rondo::passes
