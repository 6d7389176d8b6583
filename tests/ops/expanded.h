// Runs a program both with its own ops and in the ops that HLO has.
#pragma once

#include <vector>

#include "ir/node.h"
#include "passes/expand.h"
#include "support/expect.h"

namespace rondo::testing {

/// The results of f on literals after every op without an HLO opcode was replaced by its expansion.
template <class F, class... Args>
std::vector<Literal> run_expanded(F f, const Args&... arguments) {
  const Function expanded = passes::expand(trace(f, arguments.type()...), passes::Target::kHlo);
  expanded.verify();
  for (const ir::Node* node : expanded.body())
    EXPECT_FALSE(node->op->text.hlo.empty()) << node->op->name;
  return compile(expanded, {.optimize = false}).run({arguments...});
}

}  // namespace rondo::testing
