// The ops of a trip without branches: loops are left as they are.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lower/program.h"

namespace rondo::lower {

/// Ops that run both branches of each if: selects choose the results, and a store in a branch
/// stores what is there where the branch is not taken.
class StraightLine {
 public:
  /// `new_value` gives values of a type. `is_inside` says of an address whether it is in its memory
  /// although no branch has been taken.
  StraightLine(const Program& program, absl::FunctionRef<Value(Type)> new_value,
               absl::FunctionRef<bool(const Address&, Type)> is_inside)
      : program_(program), new_value_(new_value), is_inside_(is_inside) {}

  /// The ops from `begin` to `end`; false if some cannot be written so.
  bool write(std::size_t begin, std::size_t end);
  const std::vector<Op>& ops() const { return ops_; }

 private:
  bool add(const Op& op);
  void choose(const If& branches);
  Value emit(Opcode code, Type type, Value a, Value b = kNone, Value c = kNone,
             std::uint64_t bits = 0);

  const Program& program_;
  absl::FunctionRef<Value(Type)> new_value_;
  absl::FunctionRef<bool(const Address&, Type)> is_inside_;
  std::vector<Op> ops_;
  std::vector<Value> masks_;  // where the branches that are open are taken
};

}  // namespace rondo::lower
