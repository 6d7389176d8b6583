#include "lower/passes/lane_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

constexpr std::uint32_t kNoLanes = 0xffffffffu;
/// Threshold: Trips of a loop of unknown length, to compare how often a layout serves and how often
/// it does not. Not measured.
constexpr double kUnknownTrips = 16;

struct Access {
  std::uint32_t address;
  std::uint32_t lanes = kNoLanes;  // around it, in Program::lanes
  Type type;
  Value stored;  // none if it is a load
  double times;  // that it is made
};

/// What the program does with a place.
struct Use {
  std::vector<Access> accesses;
  bool escapes = false;  // it is used otherwise too
  // The ops from the first use to the last, with the loops around them.
  std::size_t first = SIZE_MAX, last = 0;
};

/// Elements of `width` bytes, in rows of `row` bytes for each of `lanes` lanes.
struct Rows {
  std::int64_t width, row, lanes;
  std::int64_t block() const { return row * lanes; }
};

/// A value below `end`, from 0 on.
using Limits = absl::flat_hash_map<Value, std::int64_t>;

class LaneLayout {
 public:
  explicit LaneLayout(Program& program) : program_(program), uses_(program.buffers.size()) {}

  void run() {
    find_uses();
    order_places();
    for (std::uint32_t i = 0; i < uses_.size(); i++) {
      const std::optional<Rows> rows = rows_of(i);
      if (rows && is_alone(i)) rearrange(uses_[i], *rows);
    }
  }

 private:
  void find_uses() {
    std::uint32_t lanes = kNoLanes;
    std::vector<double> times{1};  // of the loops and branches that are open
    std::size_t begin = 0;
    std::vector<std::uint32_t> inside;  // places used in the outermost loop that is open
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      const Op& op = program_.code[at];
      if (op.code == Opcode::kBase) places_.emplace(op.result, static_cast<std::uint32_t>(op.bits));
      if (op.code == Opcode::kConstant) constants_.emplace(op.result, op.bits);
      if (begins(op.code)) {
        if (times.size() == 1) begin = at;
        times.push_back(times.back() * (op.code == Opcode::kIf ? 1 : trips_of(op)));
      }
      if (op.code == Opcode::kLanes) lanes = static_cast<std::uint32_t>(op.bits);
      if (op.code == Opcode::kEndLanes) lanes = kNoLanes;
      const bool accesses = op.code == Opcode::kLoad || op.code == Opcode::kStore;
      for_each_read(program_, op, [&](Value read) {
        const auto found = places_.find(read);
        if (found == places_.end()) return;
        Use& use = uses_[found->second];
        use.escapes = use.escapes || !accesses;
        use.first = std::min(use.first, times.size() == 1 ? at : begin);
        use.last = std::max(use.last, at);
        inside.push_back(found->second);
      });
      if (accesses) {
        const auto address = static_cast<std::uint32_t>(op.bits);
        const auto found = places_.find(program_.addresses[address].base);
        if (found != places_.end())
          uses_[found->second].accesses.push_back(
              {address, lanes, op.code == Opcode::kLoad ? op.type : program_.types[op.a], op.a,
               times.back()});
      }
      if (ends(op.code)) times.pop_back();
      if (times.size() > 1) continue;
      for (const std::uint32_t place : inside) uses_[place].last = at;
      inside.clear();
    }
    for (const LoopInfo& loop : program_.loops) {
      for (const CarriedLeaf& leaf : loop.state) {
        for (const Value part : leaf.parts) {
          if (const auto found = places_.find(part); found != places_.end())
            uses_[found->second].escapes = true;
        }
      }
    }
  }
  /// Of a loop that begins; what is known of its index is a limit.
  double trips_of(const Op& op) {
    if (op.code == Opcode::kRepeat) return kUnknownTrips;
    if (op.code == Opcode::kLanes) {
      const Lanes& loop = program_.lanes[op.bits];
      if (!loop.known_count) return kUnknownTrips;
      limits_.emplace(loop.index, *loop.known_count);
      return static_cast<double>(*loop.known_count);
    }
    const For& loop = program_.fors[op.bits];
    const auto lower = constants_.find(loop.lower), upper = constants_.find(loop.upper);
    if (lower == constants_.end() || lower->second != 0 || upper == constants_.end())
      return kUnknownTrips;
    const auto limit = static_cast<std::int64_t>(upper->second);
    limits_.emplace(loop.index, limit);
    return static_cast<double>(limit) / static_cast<double>(loop.step);
  }
  static bool begins(Opcode code) {
    return code == Opcode::kFor || code == Opcode::kLanes || code == Opcode::kRepeat ||
           code == Opcode::kIf;
  }
  static bool ends(Opcode code) {
    return code == Opcode::kEndFor || code == Opcode::kEndLanes || code == Opcode::kEndRepeat ||
           code == Opcode::kEndIf;
  }

  std::int64_t stride_of_lane(const Access& access) const {
    std::int64_t stride = 0;
    if (access.lanes == kNoLanes) return stride;
    for (const Address::Term& term : program_.addresses[access.address].terms) {
      if (term.index == program_.lanes[access.lanes].index) stride += term.stride;
    }
    return stride;
  }

  /// How the lanes use the place, if all accesses fit that and most are of lanes on rows.
  std::optional<Rows> rows_of(std::uint32_t place) const {
    const Buffer& buffer = program_.buffers[place];
    const Use& use = uses_[place];
    if (buffer.storage != Storage::kArena || use.escapes || use.accesses.empty()) return {};
    Rows rows{width(use.accesses[0].type), 0, 0};
    for (const Access& access : use.accesses) {
      const std::int64_t stride = stride_of_lane(access);
      if (width(access.type) != rows.width) return {};
      if (stride <= rows.row || !program_.lanes[access.lanes].known_count) continue;
      rows.row = stride;
      rows.lanes = *program_.lanes[access.lanes].known_count;
    }
    if (rows.row <= rows.width || rows.row % rows.width != 0 || rows.lanes <= 1 ||
        buffer.bytes % rows.block() != 0)
      return {};
    double gained = 0;
    for (const Access& access : use.accesses) {
      const std::int64_t stride = stride_of_lane(access);
      if (fills(access, rows, buffer.bytes)) continue;
      if (!fits(program_.addresses[access.address], rows)) return {};
      if (stride == rows.row) gained += access.times;
      if (stride == rows.width) gained -= access.times;
    }
    if (gained <= 0) return {};
    return rows;
  }

  /// Whether each index selects a block of rows, a row or an element of a row, and none passes the
  /// end of that.
  bool fits(const Address& address, const Rows& rows) const {
    if (address.offset < 0) return false;
    const std::int64_t in_block = address.offset % rows.block();
    std::int64_t most_row = in_block / rows.row, most_byte = in_block % rows.row;
    if (most_byte % rows.width != 0) return false;
    for (const Address::Term& term : address.terms) {
      if (term.stride % rows.block() == 0) continue;
      const auto limit = limits_.find(term.index);
      if (limit == limits_.end() || term.stride < 0) return false;
      if (term.stride == rows.row)
        most_row += limit->second - 1;
      else if (term.stride < rows.row && term.stride % rows.width == 0)
        most_byte += (limit->second - 1) * term.stride;
      else
        return false;
    }
    return most_row < rows.lanes && most_byte < rows.row;
  }

  /// Whether it stores one constant to all of the place: in any layout.
  bool fills(const Access& access, const Rows& rows, std::int64_t bytes) const {
    const Address& address = program_.addresses[access.address];
    return constants_.contains(access.stored) && access.lanes != kNoLanes && address.offset == 0 &&
           address.terms.size() == 1 && stride_of_lane(access) == rows.width &&
           program_.lanes[access.lanes].known_count == bytes / rows.width;
  }

  /// The places of the arena by their offsets, each with the farthest end so far.
  void order_places() {
    for (std::uint32_t i = 0; i < uses_.size(); i++) {
      if (program_.buffers[i].storage == Storage::kArena) by_offset_.push_back({i, 0});
    }
    const auto offset = [&](const Placed& placed) { return program_.buffers[placed.place].offset; };
    std::sort(by_offset_.begin(), by_offset_.end(),
              [&](const Placed& a, const Placed& b) { return offset(a) < offset(b); });
    std::int64_t end = 0;
    for (Placed& placed : by_offset_)
      placed.end = end = std::max(end, offset(placed) + program_.buffers[placed.place].bytes);
  }

  /// Whether no other place is in its memory while it is in use.
  bool is_alone(std::uint32_t place) const {
    const Buffer& own = program_.buffers[place];
    auto next =
        std::partition_point(by_offset_.begin(), by_offset_.end(),
                             [&](const Placed& placed) { return placed.end <= own.offset; });
    for (; next != by_offset_.end(); ++next) {
      const Buffer& other = program_.buffers[next->place];
      if (other.offset >= own.offset + own.bytes) break;
      if (next->place == place || own.offset >= other.offset + other.bytes) continue;
      const Use &use = uses_[place], &of_other = uses_[next->place];
      if (of_other.escapes || (of_other.first <= use.last && use.first <= of_other.last))
        return false;
    }
    return true;
  }

  void rearrange(const Use& use, const Rows& rows) {
    std::vector<std::uint32_t> addresses;
    for (const Access& access : use.accesses) {
      if (!fits(program_.addresses[access.address], rows)) continue;
      addresses.push_back(access.address);
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    for (const std::uint32_t index : addresses) {
      Address& address = program_.addresses[index];
      const std::int64_t in_block = address.offset % rows.block();
      address.offset +=
          in_block / rows.row * rows.width + in_block % rows.row * rows.lanes - in_block;
      for (Address::Term& term : address.terms) {
        if (term.stride % rows.block() == 0) continue;
        term.stride = term.stride == rows.row ? rows.width : term.stride * rows.lanes;
      }
    }
  }

  Program& program_;
  std::vector<Use> uses_;  // of each place
  struct Placed {
    std::uint32_t place;
    std::int64_t end;
  };
  std::vector<Placed> by_offset_;
  absl::flat_hash_map<Value, std::uint32_t> places_;
  absl::flat_hash_map<Value, std::uint64_t> constants_;
  Limits limits_;
};

}  // namespace

void lay_out_by_lane(Program& program) { LaneLayout(program).run(); }

}  // namespace rondo::lower
