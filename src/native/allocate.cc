#include "native/allocate.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <queue>

namespace rondo::native_code {

namespace {

constexpr std::uint32_t kCalleeSaved = 1u << 3 | 1u << 5 | 1u << 12 | 1u << 13 | 1u << 14;
constexpr int kScratchVectors = 3;

std::vector<std::uint8_t> registers_of(RegisterClass register_class, Isa isa) {
  std::vector<std::uint8_t> out;
  switch (register_class) {
    case RegisterClass::kGeneral:
      return {6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14};
    case RegisterClass::kVector:
      for (int i = 0; i < vector_registers(isa) - kScratchVectors; i++)
        out.push_back(static_cast<std::uint8_t>(i));
      return out;
    case RegisterClass::kMask:
      return {1, 2, 3, 4, 5};
  }
  return out;
}

bool survives_calls(RegisterClass register_class, std::uint8_t number) {
  return register_class == RegisterClass::kGeneral && (kCalleeSaved >> number & 1) != 0;
}

/// The bundle that costs least on the stack: few reads and writes in a long life.
float priority(const Bundle& bundle) {
  return bundle.weight / static_cast<float>(bundle.end - bundle.begin + 1);
}

class LinearScan {
 public:
  LinearScan(const LiveRanges& ranges, Isa isa) : ranges_(ranges) {
    for (std::size_t c = 0; c < 3; c++) {
      registers_[c] = registers_of(static_cast<RegisterClass>(c), isa);
    }
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
          survives_calls(ranges_.bundles[i].register_class, place.number))
        out_.used_callee_saved |= 1u << place.number;
    }
    return std::move(out_);
  }

 private:
  void place(std::uint32_t number) {
    const Bundle& bundle = ranges_.bundles[number];
    const auto c = static_cast<std::size_t>(bundle.register_class);
    auto& occupant = occupant_[c];
    std::uint8_t chosen = 0;
    bool found = false, found_fitting = false;
    for (std::uint8_t r : registers_[c]) {
      const std::uint32_t other = occupant[r];
      if (other != 0 && ranges_.bundles[other].end >= bundle.begin) continue;
      const bool fitting = survives_calls(bundle.register_class, r) == bundle.crosses_call;
      if (!found || (fitting && !found_fitting)) chosen = r, found = true, found_fitting = fitting;
      if (found_fitting) break;
    }
    if (!found) {
      std::uint32_t least = number;
      for (std::uint8_t r : registers_[c]) {
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

  /// Places of one size are reused when their bundle has ended.
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
          !survives_calls(ranges_.bundles[number].register_class, place.number))
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
  std::array<std::vector<std::uint8_t>, 3> registers_;
  std::array<std::array<std::uint32_t, 32>, 3> occupant_;
  std::vector<std::uint32_t> order_;
  Allocation out_;
};

}  // namespace

int vector_registers(Isa isa) { return isa == Isa::kAvx512 ? 32 : 16; }

Allocation allocate(const LiveRanges& ranges, Isa isa) { return LinearScan(ranges, isa).run(); }

}  // namespace rondo::native_code
