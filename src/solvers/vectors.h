// A solver's tree as one vector, and the user's functions on it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/node.h"
#include "rondo/detail/leaves.h"
#include "rondo/tensor.h"

namespace rondo::solvers {

using detail::Leaves;
using detail::RegionCallable;

using VectorFunction = std::function<Tensor(const Tensor&)>;

/// The distance of 1 and the next number of a floating dtype.
double unit_of(DType dtype);
/// The largest |x|.
Tensor largest(const Tensor& x);
/// The 2-norm of a vector, without a derivative.
Tensor length_of(const Tensor& x);

/// One call of a solver: its name and place, its tree as a vector. The ops that it creates have the
/// line of the call, those of the user's functions their own.
class SolverCall {
 public:
  /// Throws TraceError unless all leaves are floats of one dtype, and there is one.
  SolverCall(const char* solver, const Leaves& tree, SourceLocation at);

  SourceLocation at() const { return at_; }
  const Tensor& vector() const { return vector_; }
  DType dtype() const { return vector_.dtype(); }
  std::int64_t size() const { return vector_.dim(0); }
  double unit() const { return unit_of(dtype()); }
  /// The tree of a vector.
  std::vector<Tensor> tree(const Tensor& vector) const;
  /// f, which returns a tree like the one it takes, on vectors. `called` names it in errors. It
  /// refers to f and this.
  VectorFunction endomorphism(const RegionCallable& f, const char* called) const;
  /// The same for f that returns one scalar of the dtype of the tree.
  VectorFunction objective(const RegionCallable& f) const;
  /// The same for f that returns a tree of floats of that dtype, as a vector.
  VectorFunction map(const RegionCallable& f, const char* called) const;
  /// f on the vector: the leaves of what it returns.
  Leaves call(const RegionCallable& f, const Tensor& vector) const;
  /// The same for f that takes a time after the leaves.
  Tensor slope(const RegionCallable& f, const Tensor& vector, const Tensor& time) const;
  Tensor event(const RegionCallable& f, const Tensor& vector, const Tensor& time) const;

  [[noreturn]] void fail(const std::string& message) const;
  /// Throws TraceError for a negative one.
  void check_tolerance(const char* option, double tolerance) const;
  void check_count(const char* option, std::int64_t count, std::int64_t least) const;

 private:
  Leaves call_at(const RegionCallable& f, const Tensor& vector, const Tensor& time) const;
  Tensor as_vector(Leaves results, const char* called) const;

  const char* solver_;
  SourceLocation at_;
  ir::LocationScope scope_;
  std::vector<TensorType> types_;
  std::vector<std::string> paths_;
  Tensor vector_;
};

}  // namespace rondo::solvers
