#include "lower/passes/large_loops.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "lower/opcodes.h"
#include "lower/reduction_order.h"

namespace rondo::lower {

namespace {

/// In ops on one lane, for vectorized ops.
double work_of(const Op& op, bool in_lanes) {
  double work = 1;
  switch (op.code) {
    case Opcode::kConstant:
    case Opcode::kBase:
      return 0;
    case Opcode::kMathCall:
      return 256;  // lanes one at a time
    case Opcode::kDivide:
    case Opcode::kRemainder:
    case Opcode::kSqrt:
      work = 8;
      break;
    case Opcode::kLoad:
    case Opcode::kStore:
      work = 4;
      break;
    default:
      break;
  }
  // Threshold: Lanes that vector code computes at once: a scalar op counts as this many. Not
  // measured.
  constexpr double kLanesAtOnce = 8;
  return in_lanes ? work : work * kLanesAtOnce;
}

/// Threshold: Trips assumed for a loop of unknown length when its work is estimated. Not measured.
constexpr double kTrips = 16;

/// Finds the loops that are worth splitting; none is inside another one.
class Finder {
 public:
  Finder(const Program& program, double least_work) : p_(program), least_work_(least_work) {}

  std::vector<LargeLoop> run() {
    open_.push_back({});
    for (std::size_t at = 0; at < p_.code.size(); at++) {
      const Op& op = p_.code[at];
      switch (op.code) {
        case Opcode::kFor:
          begin(at, p_.fors[op.bits].loop);
          counting_ += counts_lane_trips(op);
          break;
        case Opcode::kRepeat:
          begin(at, p_.whiles[op.bits].loop);
          break;
        case Opcode::kLanes:
          in_lanes_ = true;
          begin(at, kNoLoop);
          break;
        case Opcode::kIf:
          begin(at, kNoLoop);
          break;
        case Opcode::kEndFor:
          counting_ -= counts_lane_trips(op);
          [[fallthrough]];
        case Opcode::kEndRepeat:
        case Opcode::kEndLanes:
        case Opcode::kEndIf:
          end(at);
          break;
        case Opcode::kCall:
          open_.back().known_work = false;
          [[fallthrough]];
        case Opcode::kCopy:
          open_.back().moves_on = true;
          break;
        case Opcode::kTapeRead:
        case Opcode::kTapeWrite:
        case Opcode::kTapeSet:
          open_.back().in_order = true;
          break;
        default:
          if (op.code == Opcode::kConstant) constants_.emplace(op.result, op.bits);
          open_.back().work += work_of(op, in_lanes_);
      }
    }
    return std::move(found_);
  }

 private:
  struct Open {
    std::size_t begin = 0;
    std::size_t found = 0;  // before it
    std::uint32_t loop = kNoLoop;
    double work = 0;
    bool in_order = false;  // something in it depends on the whole run
    bool moves_on = false;  // it has calls, copies or user loops
    bool known_work = true;
  };

  void begin(std::size_t at, std::uint32_t loop) {
    const bool is_users = loop != kNoLoop && !in_lanes_;
    open_.push_back(
        {at, found_.size(), loop == kNoLoop ? open_.back().loop : loop, 0, false, is_users, true});
  }

  int counts_lane_trips(const Op& op) const { return p_.fors[op.bits].lane_loops.empty() ? 0 : 1; }

  double trips_of(const Op& op) const {
    const auto of_loop = [&](std::uint32_t loop, std::optional<std::int64_t> trips) {
      if (!trips && loop != kNoLoop) trips = p_.loops[loop].trip_count;
      return trips ? static_cast<double>(*trips) : kTrips;
    };
    switch (op.code) {
      case Opcode::kFor:
        return of_loop(p_.fors[op.bits].loop, p_.fors[op.bits].trips);
      case Opcode::kRepeat:
        if (p_.whiles[op.bits].predicated) return 1;
        return of_loop(p_.whiles[op.bits].loop, std::nullopt);
      case Opcode::kLanes:
        return static_cast<double>(p_.lanes[op.bits].known_count.value_or(0));
      default:
        return 1;
    }
  }

  bool has_known_trips(const Op& op) const {
    const auto of_loop = [&](std::uint32_t loop) {
      return loop != kNoLoop && p_.loops[loop].trip_count;
    };
    if (op.code == Opcode::kFor) {
      const For& loop = p_.fors[op.bits];
      return loop.loop == kNoLoop || loop.trips || of_loop(loop.loop);
    }
    if (op.code != Opcode::kRepeat) return true;
    const While& loop = p_.whiles[op.bits];
    return loop.predicated || of_loop(loop.loop);
  }

  void end(std::size_t at) {
    Open closed = open_.back();
    open_.pop_back();
    const Op& op = p_.code[closed.begin];
    closed.work *= trips_of(op);
    if (!has_known_trips(op)) closed.known_work = false;
    const bool has_found = found_.size() > closed.found;
    const bool has_all = op.code == Opcode::kFor && p_.fors[op.bits].loop != kNoLoop;
    const bool is_large = closed.work >= least_work_ || (has_all && !closed.known_work);
    // What counts the trips in lanes is divided as a whole.
    const bool divides = counting_ == 0 && !closed.in_order && (has_all || !closed.moves_on);
    if (divides && is_large) {
      const std::optional<Division> division = division_of(op, closed.work, has_found);
      if (division) {
        found_.resize(closed.found);
        found_.push_back(
            {closed.begin, at, closed.work, *division, open_.back().loop, closed.known_work});
      }
    }
    if (op.code == Opcode::kLanes) in_lanes_ = false;
    open_.back().work += closed.work;
    open_.back().in_order |= closed.in_order;
    open_.back().moves_on |= closed.moves_on;
    open_.back().known_work &= closed.known_work;
  }

  std::optional<Division> division_of(const Op& op, double work, bool has_found) const {
    // Threshold: Trips or lanes from which a loop is split over threads: parts of fewer would
    // differ much, and parts of an ordered sum wait for one another. Not measured.
    constexpr std::int64_t kManyTrips = 8, kFewLanes = 32, kManyLanes = 512;
    if (op.code == Opcode::kFor) {
      const For& loop = p_.fors[op.bits];
      const auto lower = constants_.find(loop.lower);
      if (!loop.independent || loop.step != 1 || !loop.trips || lower == constants_.end() ||
          lower->second != 0)
        return std::nullopt;
      if (*loop.trips < (has_found ? kManyTrips : 2)) return std::nullopt;
      return Division::kTrips;
    }
    if (op.code != Opcode::kLanes) return std::nullopt;
    const Lanes& lanes = p_.lanes[op.bits];
    if (!lanes.known_count || *lanes.known_count < kFewLanes || lanes.ascending)
      return std::nullopt;
    const bool any_order =
        std::all_of(lanes.reductions.begin(), lanes.reductions.end(),
                    [](const Lanes::Reduction& r) { return is_in_any_order(r.combine, r.type); });
    if (any_order) return Division::kLanes;
    // Threshold: Work for each lane of an ordered sum: parts that do little but combine would wait
    // for one another. Not measured; SeveralLoops in bench/rondo_bench.cc runs it.
    constexpr double kWorkOfLane = 16;
    const auto count = static_cast<double>(*lanes.known_count);
    if (!lanes.loops.empty() || *lanes.known_count < kManyLanes || work < kWorkOfLane * count)
      return std::nullopt;
    return Division::kInOrder;
  }

  const Program& p_;
  double least_work_;
  std::vector<Open> open_;
  std::vector<LargeLoop> found_;
  absl::flat_hash_map<Value, std::uint64_t> constants_;
  bool in_lanes_ = false;
  int counting_ = 0;  // open loops that count the trips in lanes
};

}  // namespace

std::vector<LargeLoop> large_loops(const Program& program, double least_work) {
  return Finder(program, least_work).run();
}

}  // namespace rondo::lower
