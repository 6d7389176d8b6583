// Linear scan: a register or a place on the stack for each bundle, for all of its life.
#pragma once

#include <cstdint>
#include <vector>

#include "native/live_ranges.h"

namespace rondo::native_code {

struct Place {
  enum class Kind : std::uint8_t { kNone, kRegister, kStack };
  Kind kind = Kind::kNone;
  std::uint8_t number = 0;   // of the register
  std::uint32_t offset = 0;  // from the first byte of the frame's places
};

struct Allocation {
  std::vector<Place> places;                      // of each bundle
  std::vector<std::vector<std::uint32_t>> saved;  // at each call, bundles in registers it may
                                                  // change, to be kept
  std::vector<std::uint32_t> save_offsets;        // where a bundle is kept during calls, or none
  std::uint32_t stack_bytes = 0;                  // a multiple of 64
  std::uint32_t used_callee_saved = 0;            // general registers, a bit for each
};

inline constexpr std::uint32_t kNoOffset = 0xffffffffu;

Allocation allocate(const LiveRanges& ranges, const Target& target);

}  // namespace rondo::native_code
