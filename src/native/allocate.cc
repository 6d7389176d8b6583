#include "native/allocate.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>

namespace rondo::native_code {

namespace {

/// The cheapest bundle to spill: few reads and writes in a long live range.
float priority(const Bundle& bundle) {
  return bundle.weight / static_cast<float>(bundle.end - bundle.begin + 1);
}

class LinearScan {
 public:
  LinearScan(const LiveRanges& ranges, const Target& target) : ranges_(ranges), target_(target) {
    for (auto& of_class : occupant_) of_class.fill(0);
  }

  Allocation run() {
    const std::size_t count = ranges_.bundles.size();
    out_.places.resize(count);
    out_.save_offsets.assign(count, kNoOffset);
    order_.resize(count - 1);
    std::iota(order_.begin(), order_.end(), 1u);
    std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return ranges_.bundles[a].begin < ranges_.bundles[b].begin;
    });
    for (std::uint32_t number : order_) place(number);
    place_on_stack();
    find_saved();
    for (std::size_t i = 1; i < count; i++) {
      const Place& place = out_.places[i];
      if (place.kind == Place::Kind::kRegister &&
          target_.file(ranges_.bundles[i].register_class).survives_calls(place.number))
        out_.used_callee_saved |= 1u << place.number;
    }
    return std::move(out_);
  }

 private:
  void place(std::uint32_t number) {
    const Bundle& bundle = ranges_.bundles[number];
    const RegisterFile& file = target_.file(bundle.register_class);
    auto& occupant = occupant_[static_cast<std::size_t>(bundle.register_class)];
    std::uint8_t chosen = 0;
    bool found = false, found_fitting = false;
    for (std::uint8_t r : file.numbers) {
      const std::uint32_t other = occupant[r];
      if (other != 0 && ranges_.bundles[other].end >= bundle.begin) continue;
      const bool fitting = file.survives_calls(r) == bundle.crosses_call;
      if (!found || (fitting && !found_fitting)) chosen = r, found = true, found_fitting = fitting;
      if (found_fitting) break;
    }
    if (!found) {
      std::uint32_t least = number;
      for (std::uint8_t r : file.numbers) {
        const std::uint32_t other = occupant[r];
        if (priority(ranges_.bundles[other]) < priority(ranges_.bundles[least])) {
          least = other;
          chosen = r;
        }
      }
      out_.places[least].kind = Place::Kind::kStack;
      if (least == number) return;
    }
    occupant[chosen] = number;
    out_.places[number] = {Place::Kind::kRegister, chosen, 0};
  }

  /// Slots of one size are reused when their bundle has ended.
  void place_on_stack() {
    struct Busy {
      Time end;
      std::uint32_t offset;
      bool operator>(const Busy& o) const { return end > o.end; }
    };
    std::array<std::priority_queue<Busy, std::vector<Busy>, std::greater<>>, 4> busy;
    for (std::uint32_t number : order_) {
      if (out_.places[number].kind != Place::Kind::kStack) continue;
      const Bundle& bundle = ranges_.bundles[number];
      auto& of_size = busy[size_index(bundle.bytes)];
      std::uint32_t offset;
      if (!of_size.empty() && of_size.top().end < bundle.begin) {
        offset = of_size.top().offset;
        of_size.pop();
      } else {
        offset = new_place(bundle.bytes);
      }
      out_.places[number].offset = offset;
      of_size.push({bundle.end, offset});
    }
  }

  static std::size_t size_index(std::uint16_t bytes) {
    return bytes <= 8 ? 0 : bytes <= 16 ? 1 : bytes <= 32 ? 2 : 3;
  }

  std::uint32_t new_place(std::uint16_t bytes) {
    const std::uint32_t size = 8u << size_index(bytes);
    std::uint32_t& at = out_.stack_bytes;
    at = (at + size - 1) / size * size;
    const std::uint32_t offset = at;
    at += size;
    return offset;
  }

  void find_saved() {
    std::vector<std::uint32_t> in_registers;
    for (std::uint32_t number : order_) {
      const Place& place = out_.places[number];
      if (place.kind == Place::Kind::kRegister &&
          !target_.file(ranges_.bundles[number].register_class).survives_calls(place.number))
        in_registers.push_back(number);
    }
    for (auto& of_class : occupant_) of_class.fill(0);
    std::size_t next = 0;
    for (std::uint32_t position : ranges_.calls) {
      const Time at = 2 * position;
      for (; next < in_registers.size() && ranges_.bundles[in_registers[next]].begin <= at;
           next++) {
        const std::uint32_t number = in_registers[next];
        occupant_[static_cast<std::size_t>(ranges_.bundles[number].register_class)]
                 [out_.places[number].number] = number;
      }
      auto& saved = out_.saved.emplace_back();
      for (const auto& of_class : occupant_) {
        for (std::uint32_t number : of_class) {
          if (number == 0 || ranges_.bundles[number].end <= at) continue;
          saved.push_back(number);
          if (out_.save_offsets[number] == kNoOffset)
            out_.save_offsets[number] = new_place(ranges_.bundles[number].bytes);
        }
      }
    }
    out_.stack_bytes = (out_.stack_bytes + 63) / 64 * 64;
  }

  const LiveRanges& ranges_;
  const Target& target_;
  std::array<std::array<std::uint32_t, 32>, 3> occupant_;
  std::vector<std::uint32_t> order_;
  Allocation out_;
};

}  // namespace

Allocation allocate(const LiveRanges& ranges, const Target& target) {
  return LinearScan(ranges, target).run();
}

}  // namespace rondo::native_code
