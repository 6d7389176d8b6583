// Linear scan register allocation: each bundle has one register or stack slot for its whole live
// range.
#pragma once

#include <cstdint>
#include <vector>

#include "native/live_ranges.h"

namespace rondo::native_code {

struct Place {
  enum class Kind : std::uint8_t { kNone, kRegister, kStack };
  Kind kind = Kind::kNone;
  std::uint8_t number = 0;   // of the register
  std::uint32_t offset = 0;  // from the start of the frame's stack slots
};

struct Allocation {
  std::vector<Place> places;                      // of each bundle
  std::vector<std::vector<std::uint32_t>> saved;  // for each call, bundles in registers that it may
                                                  // clobber, to be saved
  std::vector<std::uint32_t> save_offsets;        // where a bundle is saved during calls, or none
  std::uint32_t stack_bytes = 0;                  // a multiple of 64
  std::uint32_t used_callee_saved = 0;            // general registers, a bit for each
};

inline constexpr std::uint32_t kNoOffset = 0xffffffffu;

Allocation allocate(const LiveRanges& ranges, const Target& target);

}  // namespace rondo::native_code
