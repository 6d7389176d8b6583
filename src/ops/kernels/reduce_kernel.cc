// Kernels of reductions: tight loops for the common combiners, a call of the region per element for
// all others. The choice, and the layout of the axes, are determined once.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lower/opcodes.h"
#include "lower/reduction_order.h"
#include "ops/kernels/box_kernel.h"
#include "ops/reduce.h"

namespace rondo::ops {

namespace {

struct ReduceAxis {
  std::int64_t size;
  std::int64_t stride;  // in the result; 0 for a reduced axis
};
using ReduceAxes = absl::InlinedVector<ReduceAxis, 6>;

/// The axes of the operand without those of size 1; adjacent axes of a kind are merged.
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
/// There is at least one element.
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

/// The type in which a reduction of Ts is accumulated.
template <class T, class Combine>
auto accumulated() {
  constexpr bool sum = std::is_same_v<Combine, AddElements>;
  if constexpr (sum && std::is_same_v<T, float>)
    return double{};
  else if constexpr (sum && std::is_same_v<T, std::complex<float>>)
    return std::complex<double>{};
  else
    return T{};
}

/// Whether the elements of a row may be combined in any order. Products of floats may not: an
/// intermediate product could overflow where the product in order does not.
template <class T, class Combine>
inline constexpr bool kReorders = std::is_integral_v<T> ||
                                  std::is_same_v<Combine, MaximumElements> ||
                                  std::is_same_v<Combine, MinimumElements> ||
                                  (std::is_same_v<Combine, AddElements> && !lower::is_half<T>);

/// acc combined with n adjacent elements.
template <class T, class Combine>
void combine_row(std::byte* place, const std::byte* elements, std::int64_t n, ir::Poller& poller) {
  using Acc = decltype(accumulated<T, Combine>());
  const Combine combine;
  const T* const x = reinterpret_cast<const T*>(elements);
  Acc acc = *reinterpret_cast<const Acc*>(place);
  std::int64_t i = 0;
  if constexpr (kReorders<T, Combine>) {
    // Element i is combined into partial result i mod kPartials; these are combined by tree
    // reduction, and the accumulator takes the remainder. Loops of compiled programs use the same
    // order, on every machine. (A partial result without elements would change nothing.)
    constexpr std::int64_t kPartials = lower::Lanes::kPartials;
    Acc partials[kPartials] = {};
    const std::int64_t first = std::min(n, kPartials);
    for (; i < first; i++) partials[i] = static_cast<Acc>(x[i]);
    for (; i + kPartials <= n; i += kPartials) {
      for (std::int64_t j = 0; j < kPartials; j++)
        partials[j] = combine(partials[j], static_cast<Acc>(x[i + j]));
      poller.did(kPartials / 4);  // whole vectors
    }
    for (std::int64_t j = 0; i < n; i++, j++)
      partials[j] = combine(partials[j], static_cast<Acc>(x[i]));
    for (std::int64_t half = kPartials / 2; half > 0; half /= 2) {
      for (std::int64_t j = 0; j < half && j + half < first; j++)
        partials[j] = combine(partials[j], partials[j + half]);
    }
    acc = combine(acc, partials[0]);
  } else {
    while (i < n) {
      const std::int64_t end = std::min(n, i + ir::Poller::kBlock);
      poller.did(end - i);
      for (; i < end; i++) acc = combine(acc, static_cast<Acc>(x[i]));
    }
  }
  *reinterpret_cast<Acc*>(place) = acc;
}

/// n adjacent accs, each combined with its element.
template <class T, class Combine>
void combine_each(std::byte* places, const std::byte* elements, std::int64_t n) {
  using Acc = decltype(accumulated<T, Combine>());
  Acc* const acc = reinterpret_cast<Acc*>(places);
  const T* const x = reinterpret_cast<const T*>(elements);
  for (std::int64_t i = 0; i < n; i++) acc[i] = Combine{}(acc[i], static_cast<Acc>(x[i]));
}

/// What a combiner and a dtype have loops of their own for: the walk over the axes is compiled
/// once. Accumulators are elements, or have parts of f64 for parts of f32.
struct ReduceLoops {
  void (*row)(std::byte*, const std::byte*, std::int64_t, ir::Poller&);
  void (*each)(std::byte*, const std::byte*, std::int64_t);
  std::int64_t width, width_of_acc;
};

ReduceLoops loops_by(Combiner combiner, DType dtype) {
  ReduceLoops loops{};
  with_combiner(combiner, dtype, [&]<class T, class Combine>() {
    using Acc = decltype(accumulated<T, Combine>());
    loops = {combine_row<T, Combine>, combine_each<T, Combine>, sizeof(T), sizeof(Acc)};
  });
  return loops;
}

class ReduceKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  ReduceKernel(const Node& node, Combiner combiner)
      : axes_(merged_axes(node.operand_type(0).shape, node.attrs<ReduceAttributes>().dimensions)),
        elements_(node.operand_type(0).elements()),
        results_(node.type().elements()),
        loops_(loops_by(combiner, node.type().dtype)) {}

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    const std::byte* const init = operands[1];
    std::byte* const to = results[0];
    ir::Poller poller(host);
    if (elements_ == 0 || loops_.width == loops_.width_of_acc) {
      fill(to, init, loops_.width, results_, poller);
      if (elements_ > 0) combine(operands[0], to, poller);
      return;
    }
    const std::int64_t parts = loops_.width / static_cast<std::int64_t>(sizeof(float));
    const auto* const first = reinterpret_cast<const float*>(init);
    auto* const values = reinterpret_cast<float*>(to);
    absl::InlinedVector<double, 16> sums(static_cast<std::size_t>(results_ * parts));
    for (std::size_t i = 0; i < sums.size(); i++)
      sums[i] = static_cast<double>(first[i % static_cast<std::size_t>(parts)]);
    combine(operands[0], reinterpret_cast<std::byte*>(sums.data()), poller);
    for (std::size_t i = 0; i < sums.size(); i++) values[i] = static_cast<float>(sums[i]);
  }

 private:
  void combine(const std::byte* x, std::byte* acc, ir::Poller& poller) const {
    if (axes_.empty()) return loops_.each(acc, x, 1);
    const std::int64_t n = axes_.back().size;
    const bool is_row = axes_.back().stride == 0;
    const std::int64_t most = !is_row                           ? ir::Poller::kBlock
                              : n <= lower::RowBlocks::kLongRow ? n
                                                                : lower::RowBlocks::kBlock;
    for_each_inner_run(axes_, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = 0; i < n; i += most) {
        const std::int64_t count = std::min(most, n - i);
        const std::byte* const elements = x + (from + i) * loops_.width;
        if (is_row)
          loops_.row(acc + to * loops_.width_of_acc, elements, count, poller);
        else
          loops_.each(acc + (to + i) * loops_.width_of_acc, elements, count);
        poller.did(count / 4 + 1);
      }
    });
  }

  ReduceAxes axes_;  // of the operand
  std::int64_t elements_, results_;
  ReduceLoops loops_;
};

/// Any combiner: each result in turn, its elements in row-major order.
class ReduceByCalls final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  explicit ReduceByCalls(const Node& node)
      : region_(node.regions[0]),
        count_(node.types.size()),
        results_(node.type().elements()),
        elements_(results_ == 0 ? 0 : node.operand_type(0).elements() / results_) {
    const Shape& shape = node.operand_type(0).shape;
    const auto& reduced = node.attrs<ReduceAttributes>().dimensions;
    const Dims strides = dense_strides(shape);
    for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
      Axes& group = std::binary_search(reduced.begin(), reduced.end(), axis) ? combined_ : kept_;
      group.push_back({shape[axis], strides[static_cast<std::size_t>(axis)]});
    }
    for (const TensorType& type : node.types) widths_.push_back(byte_width(type.dtype));
  }

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    ir::RegionCall& region = host.region(region_);
    // One scalar of any dtype each.
    absl::InlinedVector<std::complex<double>, 4> totals(count_);
    absl::InlinedVector<const std::byte*, 8> arguments(2 * count_);
    absl::InlinedVector<std::byte*, 4> places(count_);
    for (std::size_t i = 0; i < count_; i++) {
      places[i] = reinterpret_cast<std::byte*>(&totals[i]);
      arguments[i] = places[i];
    }
    Dims kept(kept_.size(), 0), combined(combined_.size(), 0);
    std::int64_t first = 0;
    for (std::int64_t r = 0; r < results_; r++) {
      for (std::size_t i = 0; i < count_; i++)
        copy_bytes(places[i], operands[count_ + i], widths_[i]);
      std::int64_t at = first;
      for (std::int64_t k = 0; k < elements_; k++) {
        for (std::size_t i = 0; i < count_; i++)
          arguments[count_ + i] = operands[i] + at * widths_[i];
        region.run(arguments, places);
        advance(combined_, combined, at);
      }
      for (std::size_t i = 0; i < count_; i++)
        copy_bytes(results[i] + r * widths_[i], places[i], widths_[i]);
      advance(kept_, kept, first);
    }
  }

 private:
  struct Axis {
    std::int64_t size, stride;
  };
  using Axes = absl::InlinedVector<Axis, 6>;

  static void advance(const Axes& axes, Dims& index, std::int64_t& at) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += axes[axis].stride;
      if (++index[axis] < axes[axis].size) return;
      at -= axes[axis].stride * axes[axis].size;
      index[axis] = 0;
    }
  }

  const Function& region_;
  std::size_t count_;
  std::int64_t results_, elements_;
  Axes kept_, combined_;  // the axes of the results, and those that each of them combines
  absl::InlinedVector<std::int64_t, 4> widths_;
};

}  // namespace

std::unique_ptr<ir::Kernel> prepare_reduce(const Node& node) {
  const Combiner combiner =
      node.operands.size() == 2 ? known_combiner(node.regions[0]) : Combiner::kOther;
  if (combiner == Combiner::kOther) return std::make_unique<ReduceByCalls>(node);
  return std::make_unique<ReduceKernel>(node, combiner);
}

namespace {

/// By a common combiner on real numbers, in the order of the kernel.
std::optional<ir::Reduction> reduction_by_combiner(const Node& node) {
  if (node.operands.size() != 2 || is_complex(node.type().dtype)) return std::nullopt;
  const DType dtype = node.type().dtype;
  const bool pred = is_pred(dtype), half = is_floating(dtype) && byte_width(dtype) == 2;
  using lower::Opcode;
  const lower::Type type = lower::type_of(dtype);
  const auto& axes = node.attrs<ReduceAttributes>().dimensions;
  switch (known_combiner(node.regions[0])) {
    case Combiner::kOther:
      break;
    case Combiner::kAdd:
      if (half) break;
      return ir::Reduction{pred ? Opcode::kOr : Opcode::kAdd, axes,
                           dtype == DType::kF32 ? lower::Type::kF64 : type};
    case Combiner::kMultiply:
      if (half) break;
      return ir::Reduction{pred ? Opcode::kAnd : Opcode::kMultiply, axes, type,
                           !is_floating(dtype)};
    case Combiner::kMaximum:
      return ir::Reduction{pred ? Opcode::kOr : Opcode::kMax, axes,
                           half ? lower::Type::kF32 : type};
    case Combiner::kMinimum:
      return ir::Reduction{pred ? Opcode::kAnd : Opcode::kMin, axes,
                           half ? lower::Type::kF32 : type};
    case Combiner::kAnd:
      return ir::Reduction{Opcode::kAnd, axes, type};
    case Combiner::kOr:
      return ir::Reduction{Opcode::kOr, axes, type};
  }
  return std::nullopt;
}

}  // namespace

ir::LoopNest reduce_loops(const Node& node) {
  if (auto reduction = reduction_by_combiner(node)) return *std::move(reduction);
  // The kernel adds complex numbers in double precision, in partial results.
  if (is_complex(node.type().dtype) && is_sum(node)) return {};
  const auto& axes = node.attrs<ReduceAttributes>().dimensions;
  return axes.empty() ? ir::LoopNest() : ir::CustomReduction{axes};
}

}  // namespace rondo::ops
