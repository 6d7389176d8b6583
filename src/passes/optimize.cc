#include "passes/optimize.h"

#include "ir/lazy.h"
#include "ir/region_walk.h"
#include "passes/control.h"
#include "passes/hoist.h"
#include "passes/prune.h"
#include "passes/simplify.h"

namespace rondo::passes {

namespace {

// What one round makes possible is done by the next. Programs that gain from more rounds than this
// are made for it.
constexpr int kMostRounds = 6;

bool is_simplified(const Function& function) {
  // Those of an empty function would be nowhere; what looks at its body says what is wrong with it.
  return !function.empty() && FunctionAccess::notes(function).has(FunctionNotes::kSimplified);
}

}  // namespace

Function optimize(const Function& function) {
  static_cast<void>(function.body());  // throws for an empty one
  const ir::EagerPause pause;
  const ir::BuildScope building;
  ir::StructureTable structures;
  const FunctionPass simplify = [&](const Function& f) { return simplify_function(f, structures); };
  const FunctionPass hoist = [](const Function& f) { return hoist_function(count_trips(f)); };
  if (is_simplified(function)) return function;
  // Derivatives of nested loops are simplified level by level: what was done for an inner one is
  // not done again for each loop around it.
  Function current = function;
  for (int round = 0; round < kMostRounds; round++) {
    const Function before = current;
    current = rewrite_regions(current, nullptr, simplify, is_simplified);
    // From the outside in, so that what an outer loop does not need is gone from the inner ones,
    // and back.
    current = rewrite_regions(current, prune_function, prune_function, is_simplified);
    current = rewrite_regions(current, nullptr, hoist, is_simplified);
    if (!current.same_as(before)) continue;
    for (const Function& done : ir::regions_inside_out(current, is_simplified))
      FunctionAccess::notes(done).add(FunctionNotes::kSimplified);
    break;
  }
  return current;
}

}  // namespace rondo::passes
