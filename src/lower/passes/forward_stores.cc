#include "lower/passes/forward_stores.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "lower/op_writer.h"
#include "lower/opcodes.h"
#include "lower/passes/affine.h"
#include "lower/passes/pointers.h"
#include "lower/passes/ranges.h"

namespace rondo::lower {

namespace {

/// Threshold: Pairs of a store and a load that are compared in a loop: compile time against
/// carries. Not measured.
constexpr std::size_t kMostCompared = 4096;

/// A load that a carry replaces.
struct Forwarded {
  std::size_t loop, load;  // positions of the ops
  Value stored;
  Affine first;  // where the first trip loads, from the load's base
};

class StoreFinder {
 public:
  explicit StoreFinder(const Program& program)
      : program_(program),
        ranges_(program),
        forms_(program, ranges_),
        pointers_(program),
        bytes_(bytes_behind(program)) {}

  std::vector<Forwarded> run(const std::vector<std::pair<std::size_t, std::size_t>>& loops) {
    auto next = loops.begin();
    ranges_.walk([&](std::size_t at) {
      if (next == loops.end() || at != next->second) return;
      find(next->first, next->second);
      ++next;
    });
    return std::move(found_);
  }

 private:
  void find(std::size_t begin, std::size_t end) {
    const For& loop = program_.fors[program_.code[begin].bits];
    if (loop.step != 1 || ranges_.of(loop.lower) != Range{0, 0}) return;
    std::vector<std::size_t> stores;
    std::size_t loads = 0;
    absl::flat_hash_set<Value> made;
    for (const Carry& carry : loop.carries) made.insert(carry.param);
    for (std::size_t at = begin + 1; at < end; at++) {
      const Op& op = program_.code[at];
      if (op.result != kNone) made.insert(op.result);
      if (op.code == Opcode::kStore) stores.push_back(at);
      if (op.code == Opcode::kLoad) loads++;
    }
    if (stores.size() * (stores.size() + loads) > kMostCompared) return;
    const auto base_of = [&](std::size_t at) {
      return program_.addresses[program_.code[at].bits].base;
    };
    for (const std::size_t store : stores) {
      const bool alone = std::all_of(stores.begin(), stores.end(), [&](std::size_t other) {
        return other == store || !pointers_.may_overlap(base_of(store), base_of(other));
      });
      if (!alone) continue;
      for (std::size_t at = begin + 1; at < end; at++) {
        if (program_.code[at].code != Opcode::kLoad) continue;
        const auto first = first_of(loop, program_.code[store], program_.code[at], made);
        if (first) found_.push_back({begin, at, program_.code[store].a, *first});
      }
    }
  }

  /// Where the first trip loads, if later ones load what the trip before has stored.
  std::optional<Affine> first_of(const For& loop, const Op& store, const Op& load,
                                 const absl::flat_hash_set<Value>& made) const {
    if (store.type != load.type) return std::nullopt;
    const auto to = forms_.place(program_.addresses[store.bits]);
    const auto from = forms_.place(program_.addresses[load.bits]);
    auto first = forms_.bytes(program_.addresses[load.bits]);
    if (!to || !from || !first || to->base != from->base || made.contains(to->base))
      return std::nullopt;
    const bool changes =
        std::any_of(from->bytes.terms.begin(), from->bytes.terms.end(),
                    [&](const Address::Term& term) { return made.contains(term.index); });
    const std::int64_t stride = from->bytes.stride_of(loop.index);
    Affine apart = to->bytes, inside = from->bytes;
    if (changes || stride == INT64_MIN || std::max(stride, -stride) < width(load.type) ||
        !apart.add(from->bytes, -1) || !apart.terms.empty() || apart.constant != stride ||
        !inside.add(loop.index, -stride) || !first->add(loop.index, -stride))
      return std::nullopt;
    // It is loaded although there may be no trip.
    const auto range = forms_.range(inside);
    if (!range || range->low < 0 || range->high > bytes_[from->base] - width(load.type))
      return std::nullopt;
    return first;
  }

  const Program& program_;
  Ranges ranges_;
  AffineForms forms_;
  Pointers pointers_;
  std::vector<std::int64_t> bytes_;
  std::vector<Forwarded> found_;
};

/// Counted loops outside of lanes without loops, branches and calls, which store and load, by their
/// ends.
std::vector<std::pair<std::size_t, std::size_t>> straight_loops(const Program& program) {
  std::vector<std::pair<std::size_t, std::size_t>> loops;
  std::size_t begin = 0;
  bool fits = false, loads = false, stores = false, in_lanes = false;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Opcode code = program.code[at].code;
    if (code == Opcode::kLanes || code == Opcode::kEndLanes) in_lanes = code == Opcode::kLanes;
    if (code == Opcode::kFor) {
      begin = at;
      fits = !in_lanes;
      loads = stores = false;
    } else if (code == Opcode::kEndFor) {
      if (fits && loads && stores) loops.emplace_back(begin, at);
      fits = false;
    } else if (code == Opcode::kLoad) {
      loads = true;
    } else if (code == Opcode::kStore) {
      stores = true;
    } else if (code > Opcode::kBase) {
      fits = false;
    }
  }
  return loops;
}

void carry(Program& program, const std::vector<Forwarded>& found) {
  std::vector<Op> code;
  std::vector<bool> gone(program.code.size(), false);
  auto next = found.begin();
  for (std::size_t at = 0; at < program.code.size(); at++) {
    for (; next != found.end() && next->loop == at; ++next) {
      if (gone[next->load]) continue;
      gone[next->load] = true;
      const Op& load = program.code[next->load];
      Address first{program.addresses[load.bits].base, next->first.constant, {}};
      for (const auto& [index, stride] : next->first.terms) {
        Value wide = index;
        if (program.types[index] != Type::kS64) {
          wide = new_value(program, Type::kS64);
          code.push_back(
              {Opcode::kConvert, Type::kS64, program.types[index], wide, index, kNone, kNone, 0});
        }
        first.terms.push_back({wide, stride});
      }
      const Value before = OpWriter(program, code).load(load.type, first);
      For& loop = program.fors[program.code[at].bits];
      loop.independent = false;
      loop.carries.push_back(
          {load.type, before, load.result, next->stored, new_value(program, load.type)});
    }
    if (!gone[at]) code.push_back(program.code[at]);
  }
  program.code = std::move(code);
}

}  // namespace

void forward_stores(Program& program) {
  const auto loops = straight_loops(program);
  if (loops.empty()) return;
  const std::vector<Forwarded> found = StoreFinder(program).run(loops);
  if (!found.empty()) carry(program, found);
}

}  // namespace rondo::lower
