#include "native/lane_streams.h"

#include "absl/container/flat_hash_map.h"
#include "native/machine_code.h"

namespace rondo::native_code {

namespace {

using lower::Opcode;
using lower::Value;

/// Threshold: Lane loops over more bytes use non-temporal stores and prefetch: a core's share of
/// the caches. Set by pointwise8 and reduce_sum in bench/anchors: 40 MB gain, 20 MB do not.
constexpr std::int64_t kUncached = std::int64_t{32} << 20;

struct Array {
  int loads = 0, stores = 0;
};

/// Whether the lanes are adjacent, in order of their index.
bool in_order(const lower::Address& address, Value index, std::int64_t width) {
  std::int64_t stride = 0;
  for (const lower::Address::Term& term : address.terms)
    stride += term.index == index ? term.stride : 0;
  return stride == width;
}

}  // namespace

LaneStreams lane_streams(const lower::Program& program, const LaneFacts& facts, std::size_t begin,
                         std::size_t end) {
  const lower::Lanes& lanes = program.lanes[program.code[begin].bits];
  absl::flat_hash_map<Value, Array> arrays;  // by their base
  for (std::size_t at = begin + 1; at < end; at++) {
    const lower::Op& op = program.code[at];
    if (op.code >= Opcode::kFor) return {};  // its loops are limited by computation, not by memory
    if (op.code != Opcode::kLoad && op.code != Opcode::kStore) continue;
    const bool stores = op.code == Opcode::kStore;
    const lower::Address& address = program.addresses[op.bits];
    const lower::Type type = stores ? program.types[op.a] : op.type;
    if (!in_order(address, lanes.index, width_of(type))) continue;
    Array& array = arrays[address.base];
    (stores ? array.stores : array.loads)++;
  }
  std::int64_t bytes = 0;
  int loads = 0;
  bool in_place = false;
  for (const auto& [base, array] : arrays) {
    bytes += facts.buffer_bytes[base];
    loads += array.loads;
    in_place = in_place || (array.loads != 0 && array.stores != 0);
  }
  if (bytes <= kUncached) return {};
  return {.stores = !in_place, .loads = loads == 1};
}

}  // namespace rondo::native_code
