#include "ir/time_tree.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace rondo::ir {

namespace {

using Clock = std::chrono::steady_clock;

// Loops that are nested deeper are shown side by side.
constexpr std::uint32_t kDeepest = 256;

}  // namespace

std::uint64_t TimeTree::ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
#endif
}

TimeTree::TimeTree() : began_(Clock::now()) {
  nodes_.reserve(16);
  nodes_.emplace_back();
  nodes_.front().began = ticks();
}

std::uint32_t TimeTree::child(std::uint32_t outer, const TimedPlace& place) {
  Node& node = nodes_[outer];
  // Most often the same again, or the one after it.
  if (node.recent != kNone) {
    if (nodes_[node.recent].place == &place) return node.recent;
    const std::uint32_t next = nodes_[node.recent].next;
    if (next != kNone && nodes_[next].place == &place) return node.recent = next;
  }
  std::uint32_t last = kNone;
  for (std::uint32_t at = node.first; at != kNone; last = at, at = nodes_[at].next) {
    if (nodes_[at].place == &place) return node.recent = at;
  }
  const auto made = static_cast<std::uint32_t>(nodes_.size());
  (last == kNone ? node.first : nodes_[last].next) = made;
  node.recent = made;
  Node& fresh = nodes_.emplace_back();  // `node` is not valid any more
  fresh.place = &place;
  fresh.outer = outer;
  return made;
}

void TimeTree::open(Node& node, const TimedTrips& trips) {
  node.entered++;
  node.counters = trips;
  if (trips.total) node.counted = *trips.total;
}

void TimeTree::close(Node& node) {
  if (node.counters.total) node.trips += *node.counters.total - node.counted;
  node.counters = {};
}

std::uint32_t TimeTree::begin(const TimedPlace& place, const TimedTrips& trips, bool timed) {
  current_ = child(current_, place);
  Node& node = nodes_[current_];
  node.timed = timed;
  open(node, trips);
  node.began = ticks();
  return current_;
}

void TimeTree::end() {
  const std::uint64_t now = ticks();
  Node& node = nodes_[current_];
  // Clocks of two processors may differ.
  node.ticks += now > node.began ? now - node.began : 0;
  close(node);
  current_ = node.outer;
  for (const std::uint32_t inside : inside_) close(nodes_[inside]);
  inside_.clear();
}

std::uint32_t TimeTree::begin_inside(const TimedPlace& place, const TimedTrips& trips,
                                     std::uint32_t outer) {
  const std::uint32_t inside = child(outer, place);
  nodes_[inside].timed = false;
  open(nodes_[inside], trips);
  inside_.push_back(inside);
  return inside;
}

void TimeTree::end_all() {
  // The loop that a limit ends has begun a trip that it does not make.
  std::int64_t unmade = 1;
  while (current_ != 0) {
    Node& node = nodes_[current_];
    const TimedTrips counters = node.counters;
    const std::int64_t before = node.trips;
    end();
    if (counters.present) node.trips = std::max(node.trips, before + *counters.present - unmade);
    unmade = 0;
  }
}

void TimeTree::add_parts(const std::vector<TimeTree*>& trees, const Parts& parts) {
  std::uint64_t of_parts = 0;
  for (TimeTree* tree : trees) {
    tree->end_all();
    for (std::uint32_t at = tree->nodes_[0].first; at != kNone; at = tree->nodes_[at].next)
      of_parts += tree->nodes_[at].ticks;
  }
  // Parts on several threads take longer together than the time that passes.
  const double scale = of_parts > parts.ticks
                           ? static_cast<double>(parts.ticks) / static_cast<double>(of_parts)
                           : 1.0;
  struct Counts {
    std::int64_t entered = 0, trips = 0;
  };
  std::vector<Counts> counts;
  for (const TimeTree* tree : trees) {
    // An outer node comes before its inner ones, so its place here is known.
    std::vector<std::uint32_t> places(tree->nodes_.size(), current_);
    for (std::uint32_t from = 1; from < tree->nodes_.size(); from++) {
      const Node& other = tree->nodes_[from];
      const std::uint32_t at = places[from] = child(places[other.outer], *other.place);
      Node& node = nodes_[at];
      node.ticks += static_cast<std::uint64_t>(static_cast<double>(other.ticks) * scale);
      node.timed = node.timed && other.timed;
      if (counts.size() < nodes_.size()) counts.resize(nodes_.size());
      Counts& sum = counts[at];
      const bool is_split = parts.are_one_loop && other.outer == 0;
      sum.entered = is_split ? 1 : sum.entered + other.entered;
      sum.trips = parts.adds_trips ? sum.trips + other.trips : std::max(sum.trips, other.trips);
    }
  }
  for (std::size_t at = 0; at < counts.size(); at++) {
    nodes_[at].entered += counts[at].entered;
    nodes_[at].trips += counts[at].trips;
  }
}

Profile TimeTree::profile() const {
  const double all = std::chrono::duration<double>(Clock::now() - began_).count();
  const std::uint64_t now = ticks();
  const std::uint64_t passed = now > nodes_[0].began ? now - nodes_[0].began : 0;
  const double unit = passed > 0 ? all / static_cast<double>(passed) : 0;
  // The loop that each is shown in: the one around it, or around the kernel that called it.
  const std::size_t count = nodes_.size();
  std::vector<std::uint32_t> around(count, 0), depth(count, 0);
  for (std::uint32_t at = 1; at < count; at++) {
    const std::uint32_t outer = nodes_[at].outer;
    const bool opens = outer == 0 || nodes_[outer].place->is_loop;
    around[at] = opens && depth[outer] < kDeepest ? outer : around[outer];
    depth[at] = depth[around[at]] + 1;
  }
  // From the last to the first: what is in a loop is complete before it.
  std::vector<LoopProfile> loops(count);
  for (auto at = static_cast<std::uint32_t>(count); at-- > 0;) {
    const Node& node = nodes_[at];
    LoopProfile& loop = loops[at];
    std::reverse(loop.children.begin(), loop.children.end());
    std::reverse(loop.kernels.begin(), loop.kernels.end());
    if (at == 0) break;
    const double seconds = node.timed ? unit * static_cast<double>(node.ticks) : 0;
    const double share = all > 0 ? std::min(1.0, seconds / all) : 0;
    const TimedPlace& place = *node.place;
    if (place.is_loop) {
      loops[around[at]].children.push_back({place.name, place.at, node.entered, node.trips, seconds,
                                            share, node.timed, std::move(loop.children),
                                            std::move(loop.kernels)});
    } else {
      loops[around[at]].kernels.push_back({place.name, place.at, node.entered, seconds, share});
    }
  }
  return {all, std::move(loops[0].children), std::move(loops[0].kernels)};
}

}  // namespace rondo::ir
