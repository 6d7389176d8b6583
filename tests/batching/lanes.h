// Compares a batched function with the plain loop over its lanes.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rondo/rondo.h"
#include "support/compare.h"

namespace rondo::testing {

using LaneFunction = std::function<std::vector<Tensor>(std::span<const Tensor>)>;
using LaneAxes = std::vector<std::optional<std::int64_t>>;

/// Entry `index` along an axis, computed element by element.
inline Literal entry_along(const Literal& x, std::int64_t axis, std::int64_t index) {
  std::vector<std::int64_t> dims = x.shape().vector();
  dims.erase(dims.begin() + axis);
  Literal entry = Literal::zeros({x.dtype(), Shape(dims)});
  const std::int64_t width = byte_width(x.dtype());
  std::int64_t inner = width, outer = 1;
  for (std::int64_t i = 0; i < axis; i++) outer *= x.shape()[i];
  for (std::int64_t i = axis + 1; i < x.shape().rank(); i++) inner *= x.shape()[i];
  for (std::int64_t i = 0; i < outer && inner > 0; i++) {
    std::memcpy(entry.mutable_bytes() + i * inner,
                x.bytes() + (i * x.shape()[axis] + index) * inner, static_cast<std::size_t>(inner));
  }
  return entry;
}

inline detail::RegionCallable on_leaves(const LaneFunction& f) {
  return [f](std::span<const Tensor> given) {
    detail::Leaves out{f(given), {}};
    for (std::size_t i = 0; i < out.values.size(); i++)
      out.paths.push_back("result" + std::to_string(i));
    return out;
  };
}

/// f batched along the axes, computed.
inline std::vector<Literal> batched(const LaneFunction& f, const std::vector<Literal>& arguments,
                                    const LaneAxes& axes, const OutAxes& out_axes = 0) {
  detail::ArgumentLeaves leaves;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    leaves.leaves.values.push_back(Tensor(arguments[i]));
    leaves.leaves.paths.push_back("arg" + std::to_string(i));
    leaves.owner.push_back(i);
  }
  VmapOptions options;
  options.in_axes = axes;
  options.out_axes = out_axes;
  std::vector<Literal> results;
  for (const Tensor& result :
       detail::vmap(on_leaves(f), leaves, arguments.size(), options, SourceLocation::current()))
    results.push_back(result.eval());
  return results;
}

/// The results of f in each lane.
inline std::vector<std::vector<Literal>> lane_by_lane(const LaneFunction& f,
                                                      const std::vector<Literal>& arguments,
                                                      const LaneAxes& axes) {
  std::int64_t lanes = 0;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    if (axes[i]) lanes = arguments[i].shape()[*axes[i]];
  }
  std::vector<std::vector<Literal>> of_lanes;
  for (std::int64_t lane = 0; lane < lanes; lane++) {
    std::vector<Tensor> given;
    for (std::size_t i = 0; i < arguments.size(); i++)
      given.push_back(Tensor(axes[i] ? entry_along(arguments[i], *axes[i], lane) : arguments[i]));
    std::vector<Literal> results;
    for (const Tensor& result : f(given)) results.push_back(result.eval());
    of_lanes.push_back(std::move(results));
  }
  return of_lanes;
}

/// vmap(f) gives in each lane the result of f for that lane.
inline void expect_like_loop(const LaneFunction& f, const std::vector<Literal>& arguments,
                             const LaneAxes& axes, const Tolerance& tolerance = kExactly) {
  const auto want = lane_by_lane(f, arguments, axes);
  const std::vector<Literal> got = batched(f, arguments, axes);
  for (std::size_t lane = 0; lane < want.size(); lane++) {
    ASSERT_EQ(got.size(), want[lane].size());
    for (std::size_t i = 0; i < got.size(); i++) {
      EXPECT_EQ(difference(entry_along(got[i], 0, static_cast<std::int64_t>(lane)), want[lane][i],
                           tolerance),
                "")
          << "lane " << lane << ", result " << i;
    }
  }
}

}  // namespace rondo::testing
