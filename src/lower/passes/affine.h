// Integers of a program as sums of multiples of others.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lower/passes/range.h"
#include "lower/passes/ranges.h"
#include "lower/program.h"

namespace rondo::lower {

/// constant + sum of index * stride, computed without overflow. The indices are integers of any
/// type, each in one term, and no stride is 0.
struct Affine {
  std::int64_t constant = 0;
  absl::InlinedVector<Address::Term, 4> terms;

  std::int64_t stride_of(Value index) const;
  /// Whether both differ by a constant.
  bool has_terms_of(const Affine& other) const;
  /// Adds `factor` times the other; false where a number does not fit 64 bits.
  [[nodiscard]] bool add(const Affine& other, std::int64_t factor);
  [[nodiscard]] bool add(Value index, std::int64_t stride);
};

/// Follows sums, differences, products by constants and conversions that cannot overflow, with the
/// ranges that `ranges` has at the op that its walk is at.
class AffineForms {
 public:
  AffineForms(const Program& program, const Ranges& ranges);

  /// A value that is no such sum is a term by itself.
  Affine of(Value value) const;
  /// A place in memory: the pointer that no view gave, and the bytes from there on.
  struct Place {
    Value base = kNone;
    Affine bytes;
  };
  std::optional<Place> place(const Address& address) const;
  /// The bytes from the address's own base.
  std::optional<Affine> bytes(const Address& address) const;
  /// The range of a form; none where it does not fit 64 bits.
  std::optional<Range> range(const Affine& form) const;

 private:
  bool add(Affine& to, Value value, std::int64_t factor, int depth) const;

  const Program& program_;
  const Ranges& ranges_;
  std::vector<const Op*> maker_;
};

}  // namespace rondo::lower
