// The cost of a branch for lanes that need not run it, and the depth of nested loops and branches.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"

namespace rondo::executor {

/// Cached facts about regions. Each region is walked once, so that a nest costs no more than its
/// nodes, whichever of its regions are requested. Regions may be expanded or not.
class BranchWork {
 public:
  /// Whether a loop that stands_for_branch does so much work for a lane that blocks of lanes had
  /// better test whether any of them takes the branch, and skip it if not.
  bool is_expensive(const ir::Node& loop);
  /// Whether loops and branches are nested so deep in a loop over lanes that it cannot be
  /// interchanged (executor/interchange.h), whatever its regions expand to. Expensive branches
  /// taken per lane count as the loops that they become.
  bool is_too_deep(const ir::Node& loop);
  /// Whether a region has loops, at any depth.
  bool has_loops(const Function& region) { return work_of(region, 1).loops; }

 private:
  struct Work {
    /// In ops of the lower IR, for a lane; the count stops once it makes the branch expensive.
    std::int64_t ops = 0;
    bool loops = false;
  };
  struct Levels {
    int count = -1;  // of loops and branches; innermost branches add none
  };
  template <class Entry>
  using Entries = absl::flat_hash_map<const void*, Entry>;  // by Function::identity
  template <class Entry, class Add>
  struct Visitor;

  Work work_of(const Function& region, std::int64_t lanes);
  bool is_expensive(const Function& branch, std::int64_t lanes);
  int levels_in(const Function& region, std::int64_t lanes);

  absl::flat_hash_map<std::int64_t, Entries<Work>> work_;  // by the number of lanes
  absl::flat_hash_map<std::int64_t, Entries<Levels>> levels_;
  std::vector<Function> kept_;  // keeps the regions alive, so that identities stay unique
};

}  // namespace rondo::executor
