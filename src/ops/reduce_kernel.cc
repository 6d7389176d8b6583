// How reductions run: tight loops for the common combiners, a call of the region per element for
// all others.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ops/box.h"
#include "ops/reduce.h"

namespace rondo::ops {

namespace {

struct ReduceAxis {
  std::int64_t size;
  std::int64_t stride;  // in the result; 0 for an axis that is reduced
};
using ReduceAxes = absl::InlinedVector<ReduceAxis, 6>;

/// The axes of the operand without those of size 1, neighbours of a kind merged.
ReduceAxes merged_axes(const Shape& shape, std::span<const std::int64_t> reduced) {
  ReduceAxes axes;
  std::int64_t kept = 1;
  std::size_t next = reduced.size();
  for (std::int64_t axis = shape.rank() - 1; axis >= 0; axis--) {
    const bool vanishes = next > 0 && reduced[next - 1] == axis;
    if (vanishes) next--;
    const std::int64_t size = shape[axis];
    if (size == 1) continue;
    if (!axes.empty() && (axes.back().stride == 0) == vanishes)
      axes.back().size *= size;
    else
      axes.push_back({size, vanishes ? 0 : kept});
    if (!vanishes) kept *= size;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}

/// Calls run(x_offset, result_offset) for each run along the innermost axis, in row-major order.
/// There are elements.
template <class Run>
void for_each_inner_run(const ReduceAxes& axes, Run&& run) {
  if (axes.size() == 1) return run(std::int64_t{0}, std::int64_t{0});
  const std::size_t outer = axes.size() - 1;
  const std::int64_t length = axes[outer].size;
  absl::InlinedVector<std::int64_t, 6> index(outer, 0);
  std::int64_t from = 0, to = 0;
  while (true) {
    run(from, to);
    from += length;
    std::size_t axis = outer;
    while (true) {
      if (axis-- == 0) return;
      to += axes[axis].stride;
      if (++index[axis] < axes[axis].size) break;
      to -= axes[axis].stride * axes[axis].size;
      index[axis] = 0;
    }
  }
}

/// What a sum of Ts is accumulated in.
template <class T>
struct SumType {
  using Type = T;
};
template <>
struct SumType<float> {
  using Type = double;
};
template <>
struct SumType<std::complex<float>> {
  using Type = std::complex<double>;
};

/// Whether the elements of a row may be combined in another order than their own. Products of
/// floats may not: they could overflow on the way where the product in order does not.
template <class T, class Combine>
inline constexpr bool kReorders = std::is_integral_v<T> ||
                                  std::is_same_v<Combine, MaximumElements> ||
                                  std::is_same_v<Combine, MinimumElements> ||
                                  (std::is_same_v<Combine, AddElements> && !kIsHalf<T>);

template <class Acc, class T, class Combine>
Acc combine_row(Acc acc, const T* x, std::int64_t n, Combine combine) {
  std::int64_t i = 0;
  if constexpr (kReorders<T, Combine>) {
    // Independent lanes, which the compiler can hold in vectors; their number fixes the order,
    // whatever the machine. Lanes of bounded length keep the rounding error of long sums small.
    constexpr std::int64_t kLanes = sizeof(Acc) >= 8 ? 8 : 16, kLaneLength = 512;
    while (n - i >= 2 * kLanes) {
      const std::int64_t end = std::min(n, i + kLanes * kLaneLength);
      Acc lanes[kLanes];
      for (std::int64_t lane = 0; lane < kLanes; lane++)
        lanes[lane] = static_cast<Acc>(x[i + lane]);
      for (i += kLanes; i + kLanes <= end; i += kLanes) {
        for (std::int64_t lane = 0; lane < kLanes; lane++)
          lanes[lane] = combine(lanes[lane], static_cast<Acc>(x[i + lane]));
      }
      for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
        for (std::int64_t lane = 0; lane < width; lane++)
          lanes[lane] = combine(lanes[lane], lanes[lane + width]);
      }
      acc = combine(acc, lanes[0]);
    }
  }
  for (; i < n; i++) acc = combine(acc, static_cast<Acc>(x[i]));
  return acc;
}

template <class Acc, class T, class Combine>
void combine_into(Acc* acc, const T* x, const ReduceAxes& axes, Combine combine) {
  if (axes.empty()) {
    *acc = combine(*acc, static_cast<Acc>(*x));
    return;
  }
  const std::int64_t n = axes.back().size;
  if (axes.back().stride == 0) {
    for_each_inner_run(axes, [&](std::int64_t from, std::int64_t to) {
      acc[to] = combine_row(acc[to], x + from, n, combine);
    });
  } else {
    for_each_inner_run(axes, [&](std::int64_t from, std::int64_t to) {
      Acc* row = acc + to;
      const T* values = x + from;
      for (std::int64_t i = 0; i < n; i++) row[i] = combine(row[i], static_cast<Acc>(values[i]));
    });
  }
}

template <class T, class Combine>
void reduce_elements(KernelCall& call, Combine combine) {
  using Acc =
      std::conditional_t<std::is_same_v<Combine, AddElements>, typename SumType<T>::Type, T>;
  const Literal& x = call.input(0);
  const TensorType& type = call.output_type();
  const T init = *reinterpret_cast<const T*>(call.input(1).bytes());
  Literal out = Literal::uninitialized(type);
  T* results = reinterpret_cast<T*>(out.mutable_bytes());
  const std::int64_t count = type.elements();
  if (x.elements() == 0) {
    std::fill(results, results + count, init);
  } else {
    const ReduceAxes axes = merged_axes(x.shape(), call.attrs<ReduceAttributes>().dimensions);
    const T* values = reinterpret_cast<const T*>(x.bytes());
    if constexpr (std::is_same_v<Acc, T>) {
      std::fill(results, results + count, init);
      combine_into(results, values, axes, combine);
    } else {
      absl::InlinedVector<Acc, 16> sums(static_cast<std::size_t>(count), static_cast<Acc>(init));
      combine_into(sums.data(), values, axes, combine);
      for (std::int64_t i = 0; i < count; i++)
        results[i] = static_cast<T>(sums[static_cast<std::size_t>(i)]);
    }
  }
  call.output() = std::move(out);
}

/// Any combiner: each result in turn, its elements in row-major order.
void reduce_by_calls(KernelCall& call) {
  const std::size_t count = call.inputs() / 2;
  const Shape& shape = call.input(0).shape();
  const auto& reduced = call.attrs<ReduceAttributes>().dimensions;
  const Dims strides = dense_strides(shape);
  // The axes in two groups: over which the results go, and over which each of them combines.
  std::vector<std::int64_t> sizes[2], steps[2];
  for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
    const int group = std::binary_search(reduced.begin(), reduced.end(), axis) ? 1 : 0;
    sizes[group].push_back(shape[axis]);
    steps[group].push_back(strides[static_cast<std::size_t>(axis)]);
  }
  auto advance = [&](int group, std::vector<std::int64_t>& index, std::int64_t& at) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += steps[group][axis];
      if (++index[axis] < sizes[group][axis]) return;
      at -= steps[group][axis] * sizes[group][axis];
      index[axis] = 0;
    }
  };

  std::vector<Literal> outputs, arguments(2 * count), results;
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < count; i++) {
    outputs.push_back(Literal::uninitialized(call.output_type(i)));
    widths.push_back(static_cast<std::size_t>(byte_width(call.output_type(i).dtype)));
  }
  const std::int64_t results_count = call.output_type().elements();
  const std::int64_t elements = results_count == 0 ? 0 : shape.elements() / results_count;
  std::vector<std::int64_t> result_index(sizes[0].size(), 0), index(sizes[1].size(), 0);
  std::int64_t first = 0;
  for (std::int64_t r = 0; r < results_count; r++) {
    for (std::size_t i = 0; i < count; i++) arguments[i] = call.input(count + i);
    std::int64_t at = first;
    for (std::int64_t k = 0; k < elements; k++) {
      for (std::size_t i = 0; i < count; i++) {
        Literal& element = arguments[count + i];
        if (!element.unique()) element = Literal::uninitialized({call.output_type(i).dtype, {}});
        std::copy_n(call.input(i).bytes() + static_cast<std::size_t>(at) * widths[i], widths[i],
                    element.mutable_bytes());
      }
      call.host.call(call.node.regions[0], arguments, results);
      for (std::size_t i = 0; i < count; i++) arguments[i] = std::move(results[i]);
      advance(1, index, at);
    }
    for (std::size_t i = 0; i < count; i++) {
      std::copy_n(arguments[i].bytes(), widths[i],
                  outputs[i].mutable_bytes() + static_cast<std::size_t>(r) * widths[i]);
    }
    advance(0, result_index, first);
  }
  for (std::size_t i = 0; i < count; i++) call.output(i) = std::move(outputs[i]);
}

}  // namespace

void reduce_kernel(KernelCall& call) {
  const Combiner combiner =
      call.inputs() == 2 ? known_combiner(call.node.regions[0]) : Combiner::kOther;
  if (combiner == Combiner::kOther) return reduce_by_calls(call);
  for_dtype(call.output_type().dtype, [&]<class T>() {
    with_combiner<T>(combiner, [&](auto combine) { reduce_elements<T>(call, combine); });
  });
}

}  // namespace rondo::ops
