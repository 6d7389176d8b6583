#include "ir/region_facts.h"

#include <algorithm>

#include "ir/function_data.h"
#include "ir/layout.h"

namespace rondo::ir {

namespace {

bool is_uncounted_loop(const Node* node) {
  const auto layout = region_layout(node);
  return layout && layout->is_loop() && !layout->trip_count;
}

bool is_loop_to_skip(const Node* node) {
  const auto layout = region_layout(node);
  return layout && layout->residuals && layout->residuals->may_make_none;
}

bool is_noted(const Function& function) {
  return FunctionAccess::notes(function).has(FunctionNotes::kLookedAt);
}

bool has(const Function& function, FunctionNotes::Note note) {
  constexpr FunctionNotes::Note kAtAnyDepth[] = {
      FunctionNotes::kObserves, FunctionNotes::kMayNotEnd, FunctionNotes::kOwnForward,
      FunctionNotes::kIndices, FunctionNotes::kMayMakeNone};
  for (const Function& region : regions_inside_out(function, is_noted)) {
    int found = FunctionNotes::kLookedAt;
    for (const Node* node : region.body()) {
      if (node->op->observer) found |= FunctionNotes::kObserves;
      if (node->op->derivative.own_forward) found |= FunctionNotes::kOwnForward;
      if (node->op->structure.indices) found |= FunctionNotes::kIndices;
      if (node->op->batching.blend) found |= FunctionNotes::kUpdates;
      if (is_uncounted_loop(node)) found |= FunctionNotes::kMayNotEnd;
      if (is_loop_to_skip(node)) found |= FunctionNotes::kMayMakeNone;
      for (const Function& inside : node->regions) {
        for (const auto of : kAtAnyDepth)
          if (FunctionAccess::notes(inside).has(of)) found |= of;
        if (node->op->expansion.inlines_regions &&
            FunctionAccess::notes(inside).has(FunctionNotes::kUpdates))
          found |= FunctionNotes::kUpdates;
      }
    }
    FunctionAccess::notes(region).add(found);
  }
  return FunctionAccess::notes(function).has(note);
}

}  // namespace

bool observes(const Function& function) { return has(function, FunctionNotes::kObserves); }
bool observes(const Node* node) {
  const auto in_region = [](const Function& region) { return observes(region); };
  return node->op->observer || std::any_of(node->regions.begin(), node->regions.end(), in_region);
}

bool may_not_end(const Function& function) { return has(function, FunctionNotes::kMayNotEnd); }
bool may_not_end(const Node* node) {
  const auto in_region = [](const Function& region) { return may_not_end(region); };
  return is_uncounted_loop(node) ||
         std::any_of(node->regions.begin(), node->regions.end(), in_region);
}

bool may_make_none(const Function& function) { return has(function, FunctionNotes::kMayMakeNone); }
bool may_make_none(const Node* node) { return is_loop_to_skip(node); }

bool takes_indices(const Function& function) { return has(function, FunctionNotes::kIndices); }
bool takes_indices(const Node* node) {
  const auto in_region = [](const Function& region) { return takes_indices(region); };
  return node->op->structure.indices ||
         std::any_of(node->regions.begin(), node->regions.end(), in_region);
}

bool inlines_updates(const Function& function) {
  const auto updates = [](const Function& inside) { return has(inside, FunctionNotes::kUpdates); };
  return std::any_of(function.body().begin(), function.body().end(), [&](const Node* node) {
    return node->op->expansion.inlines_regions &&
           std::any_of(node->regions.begin(), node->regions.end(), updates);
  });
}

bool has_own_forward(const Function& function) { return has(function, FunctionNotes::kOwnForward); }

}  // namespace rondo::ir
