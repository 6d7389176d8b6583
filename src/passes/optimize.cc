#include "passes/optimize.h"

#include "ir/lazy.h"
#include "passes/control.h"
#include "passes/hoist.h"
#include "passes/prune.h"
#include "passes/simplify.h"

namespace rondo::passes {

namespace {

// What one round makes possible is done by the next. Programs that gain from more rounds than this
// are made for it.
constexpr int kMostRounds = 6;

}  // namespace

Function optimize(const Function& function) {
  const ir::EagerPause pause;
  StructureTable structures;
  RegionFacts facts;
  const FunctionPass simplify = [&](const Function& f) {
    return simplify_function(f, structures, facts);
  };
  const FunctionPass prune = [&](const Function& f) { return prune_function(f, facts); };
  const FunctionPass hoist = [&](const Function& f) { return hoist_function(f, facts); };
  Function current = function;
  for (int round = 0; round < kMostRounds; round++) {
    const Function before = current;
    current = rewrite_regions(current, nullptr, simplify);
    // From the outside in, so that what an outer loop does not need is gone from the inner ones,
    // and back.
    current = rewrite_regions(current, prune, prune);
    current =
        rewrite_regions(current, nullptr, [&](const Function& f) { return hoist(count_trips(f)); });
    if (current.same_as(before)) break;
  }
  return current;
}

}  // namespace rondo::passes
