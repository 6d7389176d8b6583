// What the carries of a counted loop are, if its trips do not wait for one another.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "lower/program.h"

namespace rondo::lower {

/// A carry whose value in each trip is known without the trips before.
struct TripCarry {
  enum class Kind : std::uint8_t {
    kSame,       // of all trips
    kInduction,  // each trip adds `step`
    kReduction,  // each trip combines it with a contribution, in any order
  };
  Kind kind = Kind::kSame;
  Value step = kNone;
  bool subtracts = false;  // `step`
  Opcode combine = Opcode::kAdd;
  absl::flat_hash_set<Value> combined;  // the carry, what it is combined to, choices of these
};

/// The values of one trip.
struct TripValues {
  absl::flat_hash_map<Value, const Op*> makers;   // of the values that the trip computes
  absl::flat_hash_map<Value, std::size_t> reads;  // by these ops and by the next trip
  absl::flat_hash_set<Value> indices;             // of loops in the trip
  absl::flat_hash_set<Value> carried;             // by this loop and those in the trip
  bool changes(Value value) const {
    return makers.contains(value) || indices.contains(value) || carried.contains(value);
  }
};

TripValues trip_values(const Program& program, const For& loop, const std::vector<Op>& trip);

/// Nothing if some carry is of no such kind. The ops of a trip are a straight line.
std::optional<std::vector<TripCarry>> trip_carries(const Program& program, const For& loop,
                                                   const std::vector<Op>& trip,
                                                   const TripValues& values);

/// Writes what a trip contributes to a reduction: `emit` writes an op and gives its result, with
/// `identity` where nothing is contributed.
Value contribution(const Carry& carry, const TripCarry& reduction, const TripValues& values,
                   Value identity, absl::FunctionRef<Value(Opcode, Value, Value, Value)> emit);

}  // namespace rondo::lower
