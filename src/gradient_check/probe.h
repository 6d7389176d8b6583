// A function of leaves at one point, as numbers: its values there and on either side, its tangents
// and pullbacks.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "gradient_check/directions.h"
#include "rondo/function.h"
#include "rondo/gradients.h"

namespace rondo::gradient_check {

/// The numbers of each leaf: directions, tangents, cotangents.
using LeafNumbers = std::vector<Numbers>;

/// The same, but zeros outside of the numbers [begin, end) of one leaf.
LeafNumbers only(const LeafNumbers& all, std::size_t leaf, std::size_t begin = 0,
                 std::size_t end = std::numeric_limits<std::size_t>::max());

/// Leaves that have values.
struct Computed {
  std::vector<Literal> values;
  std::vector<std::string> paths;
  LeafNumbers numbers;

  Computed(std::vector<Literal> computed, std::vector<std::string> named);
  const TensorType& type(std::size_t leaf) const { return values[leaf].type(); }
  std::size_t size() const { return values.size(); }
};

/// A function's results on both sides of a point: a step away, and half a step.
struct Differences {
  Computed low, near_low, near_high, high;
  double step;

  /// Central differences by the five-point formula, with an error of the fourth power of the step:
  /// with the two-point formula, third derivatives would show where the first is 0. Equal
  /// infinities count as unchanged.
  LeafNumbers slopes() const;
};

/// The point at which functions are probed. The functions that it returns must not outlive it.
class Probe {
 public:
  /// Throws TraceError if the arguments have no values.
  Probe(const detail::Leaves& arguments, SourceLocation at);

  const Computed& point() const { return point_; }
  SourceLocation place() const { return place_; }

  Computed values(const detail::RegionCallable& f) const { return run(f, point_.values); }
  LeafNumbers numbers(const detail::RegionCallable& f) const { return values(f).numbers; }
  Differences differences(const detail::RegionCallable& f, const LeafNumbers& direction,
                          double step) const;

  /// The tangents of f's results along a direction, as a function of the arguments.
  detail::RegionCallable tangent_of(const detail::RegionCallable& f,
                                    const LeafNumbers& direction) const;
  /// The cotangents of the arguments for those of f's results.
  detail::RegionCallable pullback_of(const detail::RegionCallable& f, const Computed& results,
                                     const LeafNumbers& cotangents) const;
  /// f as a program.
  Function traced(const detail::RegionCallable& f) const;

 private:
  Computed run(const detail::RegionCallable& f, const std::vector<Literal>& at) const;
  detail::ArgumentLeaves arguments(std::span<const Tensor> x) const;

  Computed point_;
  SourceLocation place_;
};

}  // namespace rondo::gradient_check
