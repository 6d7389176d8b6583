#include "passes/growing_tapes.h"

#include "ir/lazy.h"
#include "ir/region_facts.h"
#include "passes/control.h"
#include "passes/rewrite.h"

namespace rondo::passes {

namespace {

Function skip_in(const Function& function) {
  FunctionRewrite rewrite(function);
  for (const ir::Node* node : function.body()) {
    const Tensor rebuilt = rewrite.rebuilt(node);
    if (ir::may_make_none(node) || (rewrite.changed() && ends_at_once(rebuilt.node())))
      rewrite.replace(node, results_of_no_trip(rebuilt.node()));
    else if (rewrite.changed())
      rewrite.replace(node, rebuilt);
  }
  return rewrite.finish();
}

bool has_none(const Function& function) { return !ir::may_make_none(function); }

}  // namespace

Function without_growing_tapes(const Function& function) {
  if (has_none(function)) return function;
  const ir::EagerPause pause;
  const ir::BuildScope building;
  return rewrite_regions(function, nullptr, skip_in, has_none);
}

}  // namespace rondo::passes
