#include "lower/passes/trip_plan.h"

#include <algorithm>
#include <optional>
#include <utility>

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

/// Whether all carries may be reductions or counters, as far as the last ops of a trip tell.
bool may_combine(const Program& program, const For& loop, std::size_t begin, std::size_t end) {
  return std::all_of(loop.carries.begin(), loop.carries.end(), [&](const Carry& carry) {
    if (carry.type == Type::kPointer) return false;
    if (!is_float(carry.type)) return true;
    for (std::size_t at = end; at-- > begin;) {
      const Op& op = program.code[at];
      if (op.result != carry.next) continue;
      return op.code == Opcode::kMin || op.code == Opcode::kMax || op.code == Opcode::kSelect;
    }
    return true;
  });
}

/// Innermost loops outside of lanes without calls and moves of memory, by their ends.
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
      case Opcode::kFor:
      case Opcode::kRepeat:
        none_fits();
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
    TripPlan plan{begin, end, {}, {}, {}, {}};
    const For& loop = program_.fors[program_.code[begin].bits];
    if (loop.step != 1 || ranges_.of(loop.lower) != Range{0, 0}) return;
    if (ranges_.of(loop.upper).high < 2) return;
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
    if (!are_independent(loop, plan)) return;
    for (const Op& op : plan.trip) {
      if (op.code != Opcode::kLoad && op.code != Opcode::kStore) continue;
      const auto form = forms_.bytes(program_.addresses[op.bits]);
      if (form && !varies(loop, plan.values, *form)) plan.addresses.emplace(op.bits, *form);
    }
    plans_.loops.push_back(std::move(plan));
  }

  /// Whether it is in its memory, whatever branches are taken.
  bool is_inside(const Address& address, Type type) const {
    const auto place = forms_.place(address);
    const auto range = place ? forms_.range(place->bytes) : std::nullopt;
    return range && range->low >= 0 && range->high <= bytes_[place->base] - width(type);
  }

  /// Whether a sum has terms that change from trip to trip beside the loop's index.
  static bool varies(const For& loop, const TripValues& values, const Affine& form) {
    return std::any_of(form.terms.begin(), form.terms.end(), [&](const Address::Term& term) {
      const bool carried =
          std::any_of(loop.carries.begin(), loop.carries.end(),
                      [&](const Carry& carry) { return carry.param == term.index; });
      return carried || (term.index != loop.index && values.makers.contains(term.index));
    });
  }

  /// The memory that an op of a trip accesses.
  struct Access {
    std::optional<AffineForms::Place> place;  // none if it changes otherwise than by the index
    Value base;
    std::int64_t bytes;
    bool stores;
  };

  bool are_independent(const For& loop, const TripPlan& plan) const {
    std::vector<Access> accesses;
    for (const Op& op : plan.trip) {
      if (op.code != Opcode::kLoad && op.code != Opcode::kStore) continue;
      const bool stores = op.code == Opcode::kStore;
      const Address& address = program_.addresses[op.bits];
      // A store may store what the plan adds.
      Access access{forms_.place(address), address.base, width(op.type), stores};
      if (access.place) access.base = access.place->base;
      if (access.place && varies(loop, plan.values, access.place->bytes)) access.place.reset();
      accesses.push_back(std::move(access));
    }
    // Threshold: Pairs of accesses of a trip that are compared: compile time against loops that are
    // vectorized. Not measured.
    constexpr std::size_t kMostPairs = 4096;
    std::size_t pairs = 0;
    for (const Access& store : accesses) {
      if (!store.stores) continue;
      for (const Access& other : accesses) {
        if (++pairs > kMostPairs) return false;
        if (pointers_.may_overlap(store.base, other.base) && !differ(loop, store, other))
          return false;
      }
    }
    return true;
  }

  /// Whether what one access reaches in a trip is nothing that the other reaches in another trip.
  bool differ(const For& loop, const Access& a, const Access& b) const {
    if (!a.place || !b.place || a.base != b.base) return false;
    const std::int64_t stride = a.place->bytes.stride_of(loop.index);
    Affine distance = a.place->bytes;
    if (!distance.add(b.place->bytes, -1)) return false;
    if (distance.terms.empty() && stride != INT64_MIN && stride != 0) {
      // Multiples of the stride from the constant on, but the constant itself.
      const std::int64_t step = stride < 0 ? -stride : stride;
      const std::int64_t rest = ((distance.constant % step) + step) % step;
      if (rest >= b.bytes && step - rest >= a.bytes) return true;
      if (distance.constant == 0 && step >= std::max(a.bytes, b.bytes)) return true;
    }
    // One is behind the other in all trips.
    Affine before = a.place->bytes, after = b.place->bytes;
    const std::int64_t other_stride = after.stride_of(loop.index);
    if (!before.add(loop.index, -stride) || !after.add(loop.index, -other_stride) ||
        !before.add(after, -1))
      return false;
    const auto apart = forms_.range(before);
    const auto moved = forms_.range({0, {{loop.index, stride}}});
    const auto other_moved = forms_.range({0, {{loop.index, other_stride}}});
    std::int64_t least = 0, most = 0;
    if (!apart || !moved || !other_moved ||
        __builtin_add_overflow(apart->low, moved->low, &least) ||
        __builtin_sub_overflow(least, other_moved->high, &least) ||
        __builtin_add_overflow(apart->high, moved->high, &most) ||
        __builtin_sub_overflow(most, other_moved->low, &most))
      return false;
    return least >= b.bytes || most <= -a.bytes;
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
