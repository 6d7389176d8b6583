// What the pointers of a program point to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "lower/program.h"

namespace rondo::lower {

/// The size of the memory that each pointer defined outside lanes addresses.
std::vector<std::int64_t> bytes_behind(const Program& program);

/// Buffers and tapes that pointers may point to.
class Pointers {
 public:
  explicit Pointers(const Program& program);

  /// Whether the memory behind two pointers may overlap.
  bool may_overlap(Value a, Value b) const;

 private:
  using Roots = absl::InlinedVector<std::uint32_t, 2>;  // buffers, then tapes; ascending

  bool find_roots(const Op& op);
  bool overlap(std::uint32_t a, std::uint32_t b) const;
  bool add(Value to, Value from);
  bool begin(const std::vector<Carry>& carries);
  bool end(const std::vector<Carry>& carries);
  void note_exchanges(const std::vector<Carry>& carries);

  const Program& program_;
  absl::flat_hash_map<Value, Roots> roots_;
  /// Pointers of one number are of one loop, which exchanges them from trip to trip: they differ,
  /// because they do before the loop.
  absl::flat_hash_map<Value, std::size_t> exchanged_;
  std::size_t exchanges_ = 0;
};

}  // namespace rondo::lower
