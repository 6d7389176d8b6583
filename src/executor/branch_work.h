// What a branch costs the lanes that need not run it, and how deep loops and branches are nested.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"

namespace rondo::executor {

/// What was found out about regions. Each is walked once, so that a nest costs no more than its
/// nodes, whichever of its regions are asked for. Regions may be expanded or not.
class BranchWork {
 public:
  /// Whether a loop that stands for a branch (stands_for_branch) computes so much for a lane that
  /// blocks of lanes of which none takes it had better ask for that and leave it out.
  bool is_expensive(const ir::Node& loop);
  /// Whether loops and branches are nested so deep in a loop over lanes that it has no form
  /// (executor/interchange.h), whatever its regions expand to. Branches by lane count as the loops
  /// that they become where they are expensive.
  bool is_too_deep(const ir::Node& loop);
  /// Whether a region has loops, at any depth.
  bool has_loops(const Function& region) { return work_of(region, 1).loops; }

 private:
  struct Work {
    /// Of the lower IR, for a lane; no more are counted than make it expensive.
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
  std::vector<Function> kept_;  // so that an identity stays the one of its region
};

}  // namespace rondo::executor
