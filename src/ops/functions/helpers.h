// Shared by functions that are Tensor code over other ops: checks of their arguments, and the
// source location of the user's call for all nodes that they create.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/node.h"
#include "ops/support.h"

namespace rondo::ops {

/// Exists while the function of this name, called at `at`, runs. If another helper calls it, the
/// user's call is that of the outer one.
class Helper {
 public:
  Helper(std::string_view name, SourceLocation at)
      : name_(name), at_(ir::place_in_force(at)), scope_(at_) {}

  SourceLocation at() const { return at_; }
  [[noreturn]] void fail(const std::string& message) const { ops::fail(name_, message, at_); }

  /// The operand as a tensor. Throws TraceError for an empty one.
  Tensor any(const Operand& operand) const { return any_tensor(name_, operand); }
  /// The same, of f16, bf16, f32 or f64.
  Tensor floating(const Operand& operand) const;
  /// The same, of f16, bf16, f32, f64 or complex.
  Tensor inexact(const Operand& operand) const;
  /// The same, of an integer dtype.
  Tensor integer(const Operand& operand) const;
  /// The operand, called `what` in errors, which must have this rank.
  void check_rank(const Tensor& x, std::string_view what, std::int64_t rank) const;

  std::int64_t axis(std::int64_t axis, const Tensor& x) const {
    return normal_axis(name_, axis, x.rank(), at_);
  }
  std::vector<std::int64_t> axes(const std::vector<std::int64_t>& axes, const Tensor& x) const {
    return normal_axes(name_, axes, x.rank(), at_);
  }
  /// How many elements of x are reduced into one result over these axes.
  std::int64_t count(const Tensor& x, const std::vector<std::int64_t>& over) const;

 private:
  std::string_view name_;
  SourceLocation at_;
  ir::LocationScope scope_;
};

/// f32 for f16 and bf16, in which sums of them are accumulated; else the dtype.
DType wide_dtype(DType dtype);
/// |x|^2, a real number.
Tensor squared_magnitude(const Tensor& x);
/// sqrt(x) with the derivative 0 at 0, where the derivative of sqrt is infinite.
Tensor flat_at_zero_sqrt(const Tensor& x);

}  // namespace rondo::ops
