// Measures where the time of a run goes: a tree of the loops and kernels in which it is, as they
// begin and end.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "rondo/error.h"
#include "rondo/profile.h"

namespace rondo::ir {

/// A loop or a kernel, where the program has it. Known by its address.
struct TimedPlace {
  std::string name;
  SourceLocation at;
  bool is_loop = false;
};

/// Where a run counts the trips of a loop.
struct TimedTrips {
  const std::int64_t* total = nullptr;    // of all executions; the present one may come at its end
  const std::int64_t* present = nullptr;  // begun in the present execution; or null
};

/// Used by one thread. A place may begin in several places of the tree, as a loop in a region that
/// two kernels call.
class TimeTree {
 public:
  TimeTree();

  /// Until end(), time passes in `place`, in what began before. Returns its number in the tree.
  /// `timed`: false if it only counts trips that were made elsewhere.
  std::uint32_t begin(const TimedPlace& place, const TimedTrips& trips = {}, bool timed = true);
  /// Ends what began last.
  void end();
  /// Begins a loop in place number `outer` whose time is not measured; the next end() ends it too.
  std::uint32_t begin_inside(const TimedPlace& place, const TimedTrips& trips, std::uint32_t outer);
  /// The number of the place that began last, and has not ended.
  std::uint32_t innermost() const { return current_; }

  struct Parts {
    std::uint64_t ticks;  // that passed here
    bool adds_trips;      // or those of the part that makes most count
    bool are_one_loop;    // that each of them enters
  };
  /// Adds what the parts of a loop measured, on any threads.
  void add_parts(const std::vector<TimeTree*>& trees, const Parts& parts);

  /// Ends what has not ended: as a run does that a limit ends.
  void end_all();
  /// Since it was made.
  Profile profile() const;

  /// A clock that is quick to read, in a unit that a run measures.
  static std::uint64_t ticks();

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  struct Node {
    const TimedPlace* place = nullptr;
    std::uint32_t outer = kNone, next = kNone;  // its next sibling
    std::uint32_t first = kNone, recent = kNone;
    std::int64_t entered = 0, trips = 0;
    std::uint64_t ticks = 0;
    bool timed = true;
    // While it is open.
    TimedTrips counters;
    std::int64_t counted = 0;  // when it began
    std::uint64_t began = 0;
  };
  std::uint32_t child(std::uint32_t outer, const TimedPlace& place);
  static void open(Node& node, const TimedTrips& trips);
  static void close(Node& node);

  std::vector<Node> nodes_;            // the first is the run
  std::vector<std::uint32_t> inside_;  // open ones that are not timed
  std::uint32_t current_ = 0;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace rondo::ir
