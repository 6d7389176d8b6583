#include "native/share_addresses.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "native/insertions.h"

namespace rondo::native_code {

namespace {

/// Code after it may run a different number of times, or read other values of the same units.
bool ends_straight_line(Kind kind) { return kind >= Kind::kForBegin; }

class AddressSharer {
 public:
  AddressSharer(MachineCode& code, const Target& target) : code_(code), target_(target) {}

  void run() {
    for (std::size_t at = 0; at < code_.code.size(); at++) {
      const Instruction& i = code_.code[at];
      if (i.kind == Kind::kLoad || i.kind == Kind::kStore) note(at, i);
      if (ends_straight_line(i.kind)) share_all();
    }
    share_all();
    insert(code_, before_);
  }

 private:
  struct Key {
    Unit base;
    std::vector<std::pair<Unit, std::int64_t>> terms;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.base, k.terms);
    }
  };
  struct Group {
    Key key;
    std::size_t first;                     // the instruction of the first access
    std::vector<std::uint64_t> addresses;  // of all
    int unfit = 0;                         // accesses that would compute it
  };

  void note(std::size_t at, const Instruction& i) {
    const MachineAddress& address = code_.addresses[i.bits];
    Key key{address.base, {}};
    for (const MachineAddress::Term& term : address.terms) {
      if (!code_.units[term.index].constant) key.terms.emplace_back(term.index, term.stride);
    }
    if (key.terms.empty() || address.lane_index != 0) return;
    const auto [found, is_new] = numbers_.try_emplace(key, groups_.size());
    if (is_new) groups_.push_back({std::move(key), at, {}});
    Group& group = groups_[found->second];
    group.addresses.push_back(i.bits);
    if (!fits(address, width_of(i.type) * i.lanes)) group.unfit++;
  }

  /// Constant terms are part of the offset.
  bool fits(const MachineAddress& address, int bytes) const {
    MachineAddress variable = address;
    variable.terms.clear();
    for (const MachineAddress::Term& term : address.terms) {
      const UnitInfo& unit = code_.units[term.index];
      if (unit.constant) {
        variable.offset += static_cast<std::int64_t>(unit.bits) * term.stride;
      } else {
        variable.terms.push_back(term);
      }
    }
    return target_.fits_access(variable, bytes);
  }

  void share_all() {
    for (const Group& group : groups_) {
      if (group.unfit < 2) continue;
      UnitInfo pointer;
      pointer.type = lower::Type::kPointer;
      code_.units.push_back(pointer);
      MachineAddress sum;
      sum.base = group.key.base;
      for (const auto& [index, stride] : group.key.terms) sum.terms.push_back({index, stride});
      Instruction i;
      i.kind = Kind::kAddress;
      i.type = lower::Type::kPointer;
      i.result = static_cast<Unit>(code_.units.size() - 1);
      i.bits = code_.addresses.size();
      code_.addresses.push_back(std::move(sum));
      before_[group.first].push_back(i);
      for (const std::uint64_t number : group.addresses) {
        MachineAddress& address = code_.addresses[number];
        address.base = i.result;
        const auto variable = [&](const MachineAddress::Term& term) {
          return !code_.units[term.index].constant;
        };
        address.terms.erase(std::remove_if(address.terms.begin(), address.terms.end(), variable),
                            address.terms.end());
      }
    }
    groups_.clear();
    numbers_.clear();
  }

  MachineCode& code_;
  const Target& target_;
  std::vector<Group> groups_;  // in their order in the code, of one straight line
  absl::flat_hash_map<Key, std::size_t> numbers_;
  Insertions before_;
};

}  // namespace

void share_addresses(MachineCode& code, const Target& target) {
  if (target.fits_access != nullptr) AddressSharer(code, target).run();
}

}  // namespace rondo::native_code
