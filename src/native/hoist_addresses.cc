#include "native/hoist_addresses.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "native/insertions.h"
#include "native/live_ranges.h"

namespace rondo::native_code {

namespace {

using Term = MachineAddress::Term;

class AddressHoister {
 public:
  AddressHoister(MachineCode& code, const Target& target)
      : code_(code), target_(target), depth_(code.units.size(), 0) {}

  void run() {
    walk([](const Instruction&) {},
         [&](const Instruction& i) {
           const auto here = static_cast<std::uint32_t>(open_.size());
           for_each_write(code_, i, [&](Unit u) { depth_[u] = std::max(depth_[u], here); });
         });
    walk(
        [&](const Instruction& i) {
          if (i.kind == Kind::kLoad || i.kind == Kind::kStore) hoist(i.bits);
        },
        [](const Instruction&) {});
    insert(code_, before_);
  }

 private:
  /// A loop is open already at `written` of its first instruction, and still at `read` of its last.
  template <class Read, class Written>
  void walk(Read&& read, Written&& written) {
    for (std::size_t at = 0; at < code_.code.size(); at++) {
      const Instruction& i = code_.code[at];
      read(i);
      if (ends_loop(i.kind)) open_.pop_back();
      if (begins_loop(i.kind)) open_.push_back(at);
      written(i);
    }
  }

  bool is_constant(Unit u) const { return code_.units[u].constant; }

  void hoist(std::size_t number) {
    const MachineAddress address = code_.addresses[number];
    const auto here = static_cast<std::uint32_t>(open_.size());
    if (here == 0 || depth_[address.base] == here) return;
    std::vector<Term> fixed, left;
    std::uint32_t depth = depth_[address.base];
    bool moves = address.lane_index != 0;
    for (const Term& term : address.terms) {
      if (is_constant(term.index) || depth_[term.index] == here) {
        moves = moves || !is_constant(term.index);
        left.push_back(term);
      } else {
        depth = std::max(depth, depth_[term.index]);
        fixed.push_back(term);
      }
    }
    const auto is_scale = [&](std::int64_t by) {
      const auto bits = static_cast<std::uint64_t>(by);
      return std::has_single_bit(bits) && (target_.index_scales & bits) != 0;
    };
    if (fixed.empty() || (fixed.size() == 1 && !moves && is_scale(fixed[0].stride))) return;
    Key key{open_[depth], address.base, {}};
    for (const Term& term : fixed) key.terms.emplace_back(term.index, term.stride);
    auto [found, is_new] = made_.try_emplace(std::move(key), 0);
    if (is_new) {
      UnitInfo pointer;
      pointer.type = lower::Type::kPointer;
      code_.units.push_back(pointer);
      found->second = static_cast<Unit>(code_.units.size() - 1);
      depth_.push_back(depth);
      MachineAddress sum;
      sum.base = address.base;
      sum.terms.assign(fixed.begin(), fixed.end());
      Instruction i;
      i.kind = Kind::kAddress;
      i.type = lower::Type::kPointer;
      i.bits = code_.addresses.size();
      i.result = found->second;
      code_.addresses.push_back(std::move(sum));
      before_[open_[depth]].push_back(i);
    }
    code_.addresses[number].base = found->second;
    code_.addresses[number].terms.assign(left.begin(), left.end());
  }

  /// A sum computed before the loop that begins at `loop`.
  struct Key {
    std::size_t loop;
    Unit base;
    std::vector<std::pair<Unit, std::int64_t>> terms;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.loop, k.base, k.terms);
    }
  };

  MachineCode& code_;
  const Target& target_;
  std::vector<std::uint32_t> depth_;  // the loops around a unit's definition
  std::vector<std::size_t> open_;     // the first instructions of the enclosing loops
  absl::flat_hash_map<Key, Unit> made_;
  Insertions before_;
};

}  // namespace

void hoist_addresses(MachineCode& code, const Target& target) {
  AddressHoister(code, target).run();
}

}  // namespace rondo::native_code
