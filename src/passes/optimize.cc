#include "passes/optimize.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "ir/lazy.h"
#include "ir/region_walk.h"
#include "passes/control.h"
#include "passes/hoist.h"
#include "passes/prune.h"
#include "passes/simplify.h"

namespace rondo::passes {

namespace {

// Threshold: Rounds of the passes: compile time against what one round makes possible for the next.
// Not measured.
constexpr int kMostRounds = 6;

template <FunctionNotes::Note note>
bool has_note(const Function& function) {
  // An empty function has no notes. Code that needs its body reports the error.
  return !function.empty() && FunctionAccess::notes(function).has(note);
}

bool is_simplified(const Function& function) {
  return has_note<FunctionNotes::kSimplified>(function);
}
bool is_tidied(const Function& function) {
  return is_simplified(function) || has_note<FunctionNotes::kTidied>(function);
}

/// Runs rounds of all passes. `finished` is called for each function in which they find nothing
/// more, innermost first.
Function in_rounds(const Function& function, bool (*is_done)(const Function&),
                   const FunctionPass& hoist,
                   const std::function<void(const Function&)>& finished) {
  static_cast<void>(function.body());  // throws for an empty one
  const ir::EagerPause pause;
  const ir::BuildScope building;
  ir::StructureTable structures;
  const FunctionPass simplify = [&](const Function& f) { return simplify_function(f, structures); };
  if (is_done(function)) return function;
  // Derivatives of nested loops are simplified level by level, so the work on an inner loop is not
  // repeated for each loop around it.
  Function current = function;
  for (int round = 0; round < kMostRounds; round++) {
    const Function before = current;
    current = rewrite_regions(current, nullptr, simplify, is_done);
    // Outermost first, so that what an outer loop does not need is removed from the inner ones, and
    // then innermost first.
    current = rewrite_regions(current, prune_function, prune_function, is_done);
    current = rewrite_regions(current, nullptr, hoist, is_done);
    if (!current.same_as(before)) continue;
    for (const Function& done : ir::regions_inside_out(current, is_done)) finished(done);
    break;
  }
  return current;
}

}  // namespace

Function optimize(const Function& function) {
  const FunctionPass hoist = [](const Function& f) { return hoist_function(count_trips(f)); };
  return in_rounds(function, is_simplified, hoist, [](const Function& done) {
    FunctionAccess::notes(done).add(FunctionNotes::kSimplified);
  });
}

Function optimize_traced(const Function& function) {
  absl::flat_hash_set<const void*> withheld;  // in the last round
  const FunctionPass hoist = [&](const Function& f) {
    Hoisted hoisted = hoist_unchecked(count_trips(f));
    if (hoisted.withheld) withheld.insert(hoisted.function.identity());
    return std::move(hoisted.function);
  };
  return in_rounds(function, is_tidied, hoist, [&](const Function& done) {
    const auto has_more = [](const ir::Node* node) {
      return !std::all_of(node->regions.begin(), node->regions.end(), is_simplified);
    };
    const bool more = withheld.contains(done.identity()) ||
                      std::any_of(done.body().begin(), done.body().end(), has_more);
    FunctionAccess::notes(done).add(more ? FunctionNotes::kTidied : FunctionNotes::kSimplified);
  });
}

}  // namespace rondo::passes
