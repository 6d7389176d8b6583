#include "lower/passes/trip_plan.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "lower/opcodes.h"
#include "lower/passes/pointers.h"
#include "lower/passes/ranges.h"
#include "lower/passes/straight_line.h"

namespace rondo::lower {

namespace {

/// Where a loop begins and ends.
struct Candidate {
  std::size_t begin, end;
};

/// Whether all carries may be reductions or counters, as far as the ops tell that make their next
/// values.
bool may_combine(const Program& program, const For& loop, std::size_t begin, std::size_t end) {
  absl::flat_hash_set<Value> floats;
  for (const Carry& carry : loop.carries) {
    if (carry.type == Type::kPointer) return false;
    if (is_float(carry.type)) floats.insert(carry.next);
  }
  if (floats.empty()) return true;
  return std::none_of(program.code.begin() + static_cast<std::ptrdiff_t>(begin),
                      program.code.begin() + static_cast<std::ptrdiff_t>(end), [&](const Op& op) {
                        return floats.contains(op.result) && op.code != Opcode::kMin &&
                               op.code != Opcode::kMax && op.code != Opcode::kSelect;
                      });
}

/// Loops outside of lanes that have counted loops at most, no calls and no moves of memory, by
/// their ends.
std::vector<Candidate> find_candidates(const Program& program) {
  struct Open {
    std::size_t begin;
    bool fits;
  };
  std::vector<Open> open;
  std::vector<Candidate> found;
  bool in_lanes = false;
  const auto none_fits = [&] {
    for (Open& loop : open) loop.fits = false;
  };
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Op& op = program.code[at];
    switch (op.code) {
      case Opcode::kRepeat:
        none_fits();
        [[fallthrough]];
      case Opcode::kFor:
        open.push_back({at, op.code == Opcode::kFor && !in_lanes});
        break;
      case Opcode::kEndFor:
      case Opcode::kEndRepeat: {
        const auto [begin, fits] = open.back();
        open.pop_back();
        if (fits && may_combine(program, program.fors[op.bits], begin, at))
          found.push_back({begin, at});
        break;
      }
      case Opcode::kLanes:
      case Opcode::kEndLanes:
        in_lanes = op.code == Opcode::kLanes;
        none_fits();
        break;
      case Opcode::kView:
      case Opcode::kCopy:
      case Opcode::kCall:
      case Opcode::kTapeRead:
      case Opcode::kTapeWrite:
      case Opcode::kTapeSet:
        none_fits();
        break;
      default:
        break;
    }
  }
  return found;
}

class TripFinder {
 public:
  explicit TripFinder(const Program& program)
      : program_(program),
        ranges_(program),
        forms_(program, ranges_),
        pointers_(program),
        bytes_(bytes_behind(program)) {}

  TripPlans run(const std::vector<Candidate>& candidates) {
    auto next = candidates.begin();
    ranges_.walk([&](std::size_t at) {
      if (next == candidates.end() || at != next->end) return;
      plan(next->begin, at);
      ++next;
    });
    return std::move(plans_);
  }

 private:
  void plan(std::size_t begin, std::size_t end) {
    // A loop in it is vectorized.
    if (!plans_.loops.empty() && plans_.loops.back().begin > begin) return;
    TripPlan plan;
    plan.begin = begin;
    plan.end = end;
    const For& loop = program_.fors[program_.code[begin].bits];
    if (loop.step != 1 || ranges_.of(loop.lower) != Range{0, 0}) return;
    // Threshold: Trips of loops that become lanes: fewer fill less than half of a small vector. Set
    // by gradients/spring_network in bench/workloads.
    constexpr std::int64_t kLeastTrips = 4;
    if (ranges_.of(loop.upper).high < kLeastTrips) return;
    // Lanes compute both branches.
    ranges_.forget_branches(begin + 1, end);
    const auto new_value = [&](Type type) {
      plans_.added.push_back(type);
      return static_cast<Value>(program_.types.size() + plans_.added.size() - 1);
    };
    const auto is_inside = [&](const Address& address, Type type) {
      return this->is_inside(address, type);
    };
    StraightLine line(program_, new_value, is_inside);
    if (!line.write(begin + 1, end)) return;
    plan.trip = line.ops();
    plan.values = trip_values(program_, loop, plan.trip);
    const auto carries = trip_carries(program_, loop, plan.trip, plan.values);
    if (!carries) return;
    plan.carries = *carries;
    if (!has_same_trips(loop, plan) || !find_order(loop, plan)) return;
    for (const Op& op : plan.trip) {
      if (op.code != Opcode::kLoad && op.code != Opcode::kStore) continue;
      const auto form = forms_.bytes(program_.addresses[op.bits]);
      if (form && !varies(plan.values, *form)) plan.addresses.emplace(op.bits, *form);
    }
    plans_.loops.push_back(std::move(plan));
  }

  /// Whether it is in its memory, whatever branches are taken.
  bool is_inside(const Address& address, Type type) const {
    const auto place = forms_.place(address);
    const auto range = place ? forms_.range(place->bytes) : std::nullopt;
    return range && range->low >= 0 && range->high <= bytes_[place->base] - width(type);
  }

  /// Whether the loops in a trip have as many trips in each, which a run without limits counts
  /// together.
  bool has_same_trips(const For& loop, TripPlan& plan) const {
    for (const Op& op : plan.trip) {
      if (op.code != Opcode::kFor) continue;
      const For& inner = program_.fors[op.bits];
      if (inner.step != 1 || ranges_.of(inner.lower) != Range{0, 0}) return false;
      if (inner.upper == loop.index || plan.values.changes(inner.upper)) return false;
      if (inner.loop != kNoLoop) {
        const LoopInfo& info = program_.loops[inner.loop];
        if (info.polls || info.max_trip_count) return false;
      }
      plan.has_loops = true;
    }
    if (!plan.has_loops || loop.loop == kNoLoop) return true;
    return !program_.loops[loop.loop].polls && !program_.loops[loop.loop].max_trip_count;
  }

  /// Whether a sum has terms that change from trip to trip and are no index of a loop.
  static bool varies(const TripValues& values, const Affine& form) {
    return std::any_of(form.terms.begin(), form.terms.end(), [&](const Address::Term& term) {
      return values.makers.contains(term.index) || values.carried.contains(term.index);
    });
  }

  /// The memory that an op of a trip accesses: stride * index + inner + outside, from `base` on.
  struct Access {
    Value base = kNone;
    std::int64_t bytes = 0;
    bool stores = false;
    bool known = false;  // else it changes otherwise than by indices
    std::int64_t stride = 0;
    Range inner{0, 0};  // of what the indices of loops in the trip add
    Affine outside;
  };

  Access access(const For& loop, const TripPlan& plan, const Op& op) const {
    const Address& address = program_.addresses[op.bits];
    Access to;
    to.base = address.base;
    to.bytes = width(op.type);
    to.stores = op.code == Opcode::kStore;
    const auto place = forms_.place(address);
    if (!place) return to;
    to.base = place->base;
    if (varies(plan.values, place->bytes)) return to;
    Affine inner;
    to.outside.constant = place->bytes.constant;
    for (const Address::Term& term : place->bytes.terms) {
      if (term.index == loop.index)
        to.stride = term.stride;
      else if (plan.values.indices.contains(term.index))
        inner.terms.push_back(term);
      else
        to.outside.terms.push_back(term);
    }
    const auto range = forms_.range(inner);
    to.known = range && to.stride != INT64_MIN;
    if (range) to.inner = *range;
    return to;
  }

  /// Whether no trip waits for another, or a trip only stores what trips before it have loaded.
  bool find_order(const For& loop, TripPlan& plan) const {
    std::vector<Access> accesses;
    for (const Op& op : plan.trip) {
      if (op.code == Opcode::kLoad || op.code == Opcode::kStore)
        accesses.push_back(access(loop, plan, op));
    }
    // Threshold: Pairs of accesses of a trip that are compared: compile time against loops that are
    // vectorized. Not measured.
    constexpr std::size_t kMostPairs = 4096;
    std::size_t pairs = 0;
    for (std::size_t s = 0; s < accesses.size(); s++) {
      if (!accesses[s].stores) continue;
      for (std::size_t i = 0; i < accesses.size(); i++) {
        if (++pairs > kMostPairs) return false;
        const Access &store = accesses[s], &other = accesses[i];
        if (!pointers_.may_overlap(store.base, other.base) || differ(loop, store, other)) continue;
        if (other.stores || i > s || plan.has_loops || !is_loaded_before(store, other))
          return false;
        plan.ascending = true;
      }
    }
    return true;
  }

  /// The distance of two accesses of one trip.
  std::optional<Affine> distance(const Access& a, const Access& b) const {
    Affine apart = a.outside;
    if (!a.known || !b.known || a.base != b.base || !apart.add(b.outside, -1)) return std::nullopt;
    return apart;
  }

  /// Whether what one access reaches in a trip is nothing that the other reaches in another trip.
  bool differ(const For& loop, const Access& a, const Access& b) const {
    const auto apart = distance(a, b);
    if (!apart) return false;
    const auto range = forms_.range(*apart);
    Range around;
    const bool known = range && !__builtin_sub_overflow(a.inner.low, b.inner.high, &around.low) &&
                       !__builtin_sub_overflow(a.inner.high, b.inner.low, &around.high);
    if (!known) return false;
    const bool is_inner = around != Range{0, 0};
    const std::int64_t step = std::max(a.stride, -a.stride);
    const std::int64_t bytes = std::max(a.bytes, b.bytes);
    if (a.stride == b.stride && step != 0 && apart->terms.empty()) {
      // Of all multiples of the step that are added, only none reaches.
      std::int64_t low = 0, high = 0;
      if (!__builtin_add_overflow(apart->constant, around.low, &low) &&
          !__builtin_add_overflow(apart->constant, around.high, &high) && low >= bytes - step &&
          high <= step - bytes)
        return true;
      // None is so near.
      const std::int64_t rest = ((apart->constant % step) + step) % step;
      if (!is_inner && rest >= b.bytes && step - rest >= a.bytes) return true;
    }
    const auto moved = forms_.range({0, {{loop.index, a.stride}}});
    const auto other_moved = forms_.range({0, {{loop.index, b.stride}}});
    if (!moved || !other_moved) return false;
    if (a.stride == b.stride && !is_inner && step >= bytes &&
        are_rows(*apart, std::max(moved->high, -moved->low), bytes))
      return true;
    // One is behind the other in all trips.
    std::int64_t least = 0, most = 0;
    if (__builtin_add_overflow(range->low, around.low, &least) ||
        __builtin_add_overflow(least, moved->low, &least) ||
        __builtin_sub_overflow(least, other_moved->high, &least) ||
        __builtin_add_overflow(range->high, around.high, &most) ||
        __builtin_add_overflow(most, moved->high, &most) ||
        __builtin_sub_overflow(most, other_moved->low, &most))
      return false;
    return least >= b.bytes || most <= -a.bytes;
  }

  /// Whether a distance is a number of rows that a loop moving so far does not leave: other trips
  /// are then at other places of the same row, or in other rows.
  static bool are_rows(const Affine& apart, std::int64_t moves, std::int64_t bytes) {
    std::int64_t row = 0;
    for (const Address::Term& term : apart.terms) row = std::gcd(row, term.stride);
    return row != 0 && apart.constant % row == 0 && moves <= row - bytes;
  }

  /// Whether what a trip stores is nothing that a later trip loads.
  bool is_loaded_before(const Access& store, const Access& load) const {
    const auto apart = distance(store, load);
    const auto range = apart ? forms_.range(*apart) : std::nullopt;
    const std::int64_t step = std::max(store.stride, -store.stride);
    if (!range || store.stride != load.stride || step < std::max(store.bytes, load.bytes))
      return false;
    return store.stride > 0 ? range->high <= 0 : range->low >= 0;
  }

  const Program& program_;
  Ranges ranges_;
  AffineForms forms_;
  Pointers pointers_;
  std::vector<std::int64_t> bytes_;
  TripPlans plans_;
};

}  // namespace

TripPlans plan_trips(const Program& program) {
  const std::vector<Candidate> candidates = find_candidates(program);
  return candidates.empty() ? TripPlans() : TripFinder(program).run(candidates);
}

}  // namespace rondo::lower
