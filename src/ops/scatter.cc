#include "ops/scatter.h"

#include <algorithm>
#include <array>

#include "ir/attribute_text.h"
#include "ir/index_range.h"
#include "ir/loop_nest.h"
#include "ir/region.h"
#include "ops/batch_rules.h"
#include "ops/combiners.h"
#include "ops/create.h"
#include "ops/elementwise_region.h"
#include "ops/indexed_windows.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

constexpr IndexedWindowNames kScatterNames{"update_window_dims", "inserted_window_dims",
                                           "scatter_dims_to_operand_dims", "input_batching_dims",
                                           "scatter_indices_batching_dims"};

IndexedWindows scatter_window_dims(const ScatterDims& dims) {
  return {kScatterNames,
          dims.update_window_dims,
          dims.inserted_window_dims,
          dims.scatter_dims_to_operand_dims,
          dims.index_vector_dim,
          dims.input_batching_dims,
          dims.scatter_indices_batching_dims};
}

InferredTypes infer_scatter(const InferContext& context) {
  const ScatterDims& dims = context.attrs<ScatterAttributes>().dims;
  const std::size_t count = context.operands.size() / 2;
  if (context.operands.size() % 2 == 0 || count == 0) {
    context.fail(
        fmt::format("{} operands; it takes arrays, the indices, and an update for each array\n  "
                    "Give as many updates as arrays.",
                    context.operands.size()));
  }
  const TensorType &x = context.type(0), &indices = context.type(count),
                   &updates = context.type(count + 1);
  for (std::size_t i = 0; i < count; i++) {
    const TensorType &array = context.type(i), &update = context.type(count + 1 + i);
    if (array.dtype != update.dtype) {
      context.fail(
          fmt::format("the updates are {}, the operand {}; their dtypes must be equal\n  Convert "
                      "the updates: rondo::convert(updates, DType::k{}).",
                      update.str(), array.str(), dtype_constant(array.dtype)));
    }
    if (array.shape != x.shape || update.shape != updates.shape) {
      context.fail(
          fmt::format("operand {} with its updates is {} and {}, operand 0 {} and {}; they must "
                      "have the same shapes\n  Broadcast or reshape them to one.",
                      i, array.str(), update.str(), x.str(), updates.str()));
    }
  }
  check_indexed_windows(context, scatter_window_dims(dims), x, indices, updates.rank());
  const Dims batch = batch_sizes(indices, dims.index_vector_dim);
  std::vector<std::int64_t> counted;
  for (std::int64_t axis = 0; axis < updates.rank(); axis++) {
    if (std::count(dims.update_window_dims.begin(), dims.update_window_dims.end(), axis) == 0)
      counted.push_back(updates.shape[axis]);
  }
  if (!std::equal(counted.begin(), counted.end(), batch.begin(), batch.end())) {
    context.fail(
        fmt::format("the updates {} count windows by [{}], the indices {} by [{}]\n  The axes of "
                    "the updates that update_window_dims leaves out have the sizes of the indices "
                    "without index_vector_dim.",
                    updates.str(), fmt::join(counted, ","), indices.str(), fmt::join(batch, ",")));
  }
  const std::vector<std::int64_t> sizes = window_sizes(dims, x.shape, updates.shape);
  for (std::size_t i = 0; i < sizes.size(); i++) {
    const auto axis = static_cast<std::int64_t>(i);
    const bool inserted =
        std::count(dims.inserted_window_dims.begin(), dims.inserted_window_dims.end(), axis) != 0;
    const bool batching =
        std::count(dims.input_batching_dims.begin(), dims.input_batching_dims.end(), axis) != 0;
    if (!inserted && !batching && sizes[i] > x.shape[i]) {
      context.fail(
          fmt::format("the windows are {} long along axis {}, where {} has {}\n  "
                      "Give updates whose windows fit: sizes from 0 to {}.",
                      sizes[i], i, x.str(), x.shape[i], x.shape[i]));
    }
  }
  check_combiner(context, count);
  InferredTypes results;
  for (std::size_t i = 0; i < count; i++) results.push_back(context.type(i));
  return results;
}

/// Combines `count` elements with as many updates, in order; strides are in elements.
using CombineRun = void (*)(std::byte* to, const std::byte* updates, std::int64_t count,
                            std::int64_t to_stride, std::int64_t stride);
/// The longest run between two polls.
constexpr std::int64_t kRun = 4096;

/// One short loop per dtype and combiner: the walk over the windows is compiled once.
CombineRun combine_run(DType dtype, Combiner combiner) {
  CombineRun run = nullptr;
  with_combiner(combiner, dtype, [&]<class T, class Combine>() {
    run = [](std::byte* to, const std::byte* updates, std::int64_t count, std::int64_t to_stride,
             std::int64_t stride) {
      auto* array = reinterpret_cast<T*>(to);
      const auto* update = reinterpret_cast<const T*>(updates);
      for (std::int64_t i = 0; i < count; i++)
        array[i * to_stride] = Combine{}(array[i * to_stride], update[i * stride]);
    };
  });
  return run;
}

/// Updates the arrays in place, or copies of them in the results.
class ScatterKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override {
    return sizeof(*this) + sizes_.capacity() * sizeof(std::int64_t);
  }
  explicit ScatterKernel(const Node& node)
      : node_(node),
        count_(node.types.size()),
        empty_(node.type().elements() == 0 || updates_type().elements() == 0),
        sizes_(window_sizes(dims(), node.type().shape, updates_type().shape)),
        walk_(scatter_window_dims(dims()), node.type().shape, node.operand_type(count_),
              updates_type().shape, sizes_),
        elements_(sizes_, walk_.operand_strides(), walk_.windowed_strides(), 1),
        overwrites_(ops::overwrites(node.regions[0])),
        combiner_(count_ == 1 ? known_combiner(node.regions[0]) : Combiner::kOther) {
    for (std::size_t i = 0; i < count_ && overwrites_; i++) {
      windows_.emplace_back(sizes_, walk_.operand_strides(), walk_.windowed_strides(),
                            byte_width(node.types[i].dtype));
    }
  }

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    ir::Poller poller(host);
    for (std::size_t i = 0; i < count_; i++) {
      if (results[i] != operands[i])
        ir::copy_in_blocks(results[i], operands[i], node_.types[i].bytes(), poller);
    }
    if (empty_) return;
    const std::byte* indices = operands[count_];
    const ir::OperandPlaces updates = operands.subspan(count_ + 1);
    if (overwrites_) {
      for (std::size_t i = 0; i < count_; i++) {
        const std::int64_t width = byte_width(node_.types[i].dtype);
        walk_.for_each(indices, false, [&](std::int64_t at, std::int64_t from) {
          windows_[i].copy(results[i] + at * width, updates[i] + from * width, poller);
          poller.did(8);
        });
      }
    } else if (combiner_ == Combiner::kOther) {
      call_combiner(indices, updates, results, host);
    } else {
      combine_windows(indices, updates[0], results[0], poller);
    }
  }
  std::uint64_t overwrites(std::size_t result) const override {
    return result < 64 ? std::uint64_t{1} << result : 0;
  }

 private:
  const ScatterDims& dims() const { return node_.attrs<ScatterAttributes>().dims; }
  const TensorType& updates_type() const { return node_.operand_type(count_ + 1); }

  /// Calls visit(array_offset, update_offset, count, array_stride, update_stride) for each run of
  /// elements that are updated.
  template <class Visit>
  void for_each_run(const std::byte* indices, Visit&& visit) const {
    walk_.for_each(indices, false, [&](std::int64_t at, std::int64_t from) {
      elements_.for_each_run([&](std::int64_t t, std::int64_t u, std::int64_t n,
                                 std::int64_t to_stride, std::int64_t from_stride) {
        for (std::int64_t i = 0; i < n; i += kRun) {
          visit(at + t + i * to_stride, from + u + i * from_stride, std::min(kRun, n - i),
                to_stride, from_stride);
        }
      });
    });
  }

  void combine_windows(const std::byte* indices, const std::byte* updates, std::byte* to,
                       ir::Poller& poller) const {
    const std::int64_t width = byte_width(node_.type().dtype);
    const CombineRun combine = combine_run(node_.type().dtype, combiner_);
    for_each_run(indices, [&](std::int64_t at, std::int64_t from, std::int64_t count,
                              std::int64_t to_stride, std::int64_t from_stride) {
      combine(to + at * width, updates + from * width, count, to_stride, from_stride);
      poller.did(count);
    });
  }

  /// Runs the region for each element.
  void call_combiner(const std::byte* indices, ir::OperandPlaces updates, ir::ResultPlaces results,
                     ir::Host& host) const {
    ir::RegionCall& region = host.region(node_.regions[0]);
    absl::InlinedVector<std::int64_t, 2> widths;
    absl::InlinedVector<const std::byte*, 4> given(2 * count_);
    absl::InlinedVector<std::byte*, 2> made(count_);
    for (std::size_t i = 0; i < count_; i++) widths.push_back(byte_width(node_.types[i].dtype));
    for_each_run(indices, [&](std::int64_t at, std::int64_t from, std::int64_t count,
                              std::int64_t to_stride, std::int64_t from_stride) {
      for (std::int64_t e = 0; e < count; e++) {
        for (std::size_t i = 0; i < count_; i++) {
          made[i] = results[i] + (at + e * to_stride) * widths[i];
          given[i] = made[i];
          given[count_ + i] = updates[i] + (from + e * from_stride) * widths[i];
        }
        region.run(given, made);
      }
    });
  }

  const Node& node_;
  std::size_t count_;
  bool empty_;
  std::vector<std::int64_t> sizes_;
  WindowWalk walk_;
  Box elements_;
  bool overwrites_;
  Combiner combiner_;
  absl::InlinedVector<Box, 1> windows_;
};

ir::LoopNest scatter_loops(const Node& node) {
  if (node.types.size() != 1) return {};
  const TensorType &x = node.type(), &updates = node.operand_type(2);
  if (x.elements() == 0 || updates.elements() == 0) return {};
  const ScatterDims& dims = node.attrs<ScatterAttributes>().dims;
  return ir::Scatter{window_elements(scatter_window_dims(dims), x.shape, node.operand_type(1),
                                     updates.rank(), window_sizes(dims, x.shape, updates.shape))};
}

std::unique_ptr<ir::Kernel> prepare_scatter(const Node& node) {
  return std::make_unique<ScatterKernel>(node);
}

std::vector<ir::IndexRange> scatter_indices(const Node& node) {
  const std::size_t arrays = node.types.size();
  const TensorType& updates = node.operand_type(arrays + 1);
  if (updates.elements() == 0) return {};
  const ScatterDims& dims = node.attrs<ScatterAttributes>().dims;
  return window_ranges(scatter_window_dims(dims), "scatter", node.type().shape,
                       node.operand_type(arrays), arrays,
                       window_sizes(dims, node.type().shape, updates.shape), true);
}

void describe_scatter(ir::AttributeCodec& codec, ScatterAttributes& a) {
  using Need = ir::AttributeCodec::Need;
  ScatterDims& dims = a.dims;
  if (ir::FieldList* const own = codec.own()) {
    own->field("dims", dims);
  } else {
    codec.group({"scatter_dimension_numbers"}, "scatter", [&] {
      codec.integers({kScatterNames.window}, dims.update_window_dims);
      codec.integers({kScatterNames.absent}, dims.inserted_window_dims);
      codec.integers({kScatterNames.batching}, dims.input_batching_dims, Need::kOptional);
      codec.integers({kScatterNames.indices_batching}, dims.scatter_indices_batching_dims,
                     Need::kOptional);
      codec.integers({kScatterNames.start_map}, dims.scatter_dims_to_operand_dims);
      codec.integer({"index_vector_dim"}, dims.index_vector_dim, Need::kOptionalInStablehlo);
    });
  }
  codec.hint({"indices_are_sorted"});
  codec.hint({"unique_indices"});
}

bool has_components(const Node& node) {
  return !node.attrs<ScatterAttributes>().dims.scatter_dims_to_operand_dims.empty();
}

/// By the specification of StableHLO, updates whose index vectors have no components all go to
/// position 0. XLA drops them, or applies one of several. So in texts the vectors have one
/// component, 0, along a leading axis of size 1 added to the arrays.
std::vector<Tensor> with_a_component(const Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  const std::size_t arrays = node.types.size();
  ScatterDims dims = node.attrs<ScatterAttributes>().dims;
  for (std::int64_t& axis : dims.inserted_window_dims) axis++;
  for (std::int64_t& axis : dims.input_batching_dims) axis++;
  dims.inserted_window_dims.insert(dims.inserted_window_dims.begin(), 0);
  dims.scatter_dims_to_operand_dims = {0};
  ir::Operands given(operands.begin(), operands.end());
  for (std::size_t i = 0; i < arrays; i++) {
    std::vector<std::int64_t> sizes = given[i].shape().vector();
    sizes.insert(sizes.begin(), 1);
    given[i] = reshape(Operand(given[i], at), sizes);
  }
  TensorType zero = given[arrays].type();
  std::vector<std::int64_t> sizes = zero.shape.vector();
  sizes[static_cast<std::size_t>(dims.index_vector_dim)] = 1;
  zero.shape = Shape(sizes);
  given[arrays] = zeros(zero, at);
  auto results =
      ir::make_many(kScatter, std::move(given), ScatterAttributes{dims}, at, node.regions);
  for (std::size_t i = 0; i < arrays; i++)
    results[i] = reshape(Operand(results[i], at), node.types[i].shape.vector());
  return results;
}

}  // namespace

const ir::OpDef kScatter{
    .name = "scatter",
    .types = {.infer = infer_scatter},
    .structure = {.loops = scatter_loops, .indices = scatter_indices, .updates = true},
    .kernel = {.prepare = prepare_scatter},
    .expansion = {.rule = with_a_component, .in_loops = scatter_in_loops},
    .derivative = {.linear = ir::Linear::kJointly,
                   .is_linear = is_linear_scatter,
                   .jvp = scatter_jvp,
                   .transpose = scatter_transpose},
    .batching = {.rule = scatter_batch, .blend = scatter_blend},
    .text = {.hlo = "scatter",
             .stablehlo = "stablehlo.scatter",
             .attributes = &ir::kAttributeText<ScatterAttributes, describe_scatter>,
             .hlo_regions = "to_apply",
             .can_express = has_components}};

std::vector<std::int64_t> window_sizes(const ScatterDims& dims, const Shape& operand,
                                       const Shape& updates) {
  std::vector<std::int64_t> sizes(operand.size(), 0);
  for (std::int64_t axis : dims.inserted_window_dims) sizes[static_cast<std::size_t>(axis)] = 1;
  for (std::int64_t axis : dims.input_batching_dims) sizes[static_cast<std::size_t>(axis)] = 1;
  auto next = dims.update_window_dims.begin();
  for (std::int64_t& size : sizes) size = size == 1 ? 1 : updates[*next++];
  return sizes;
}

bool overwrites(const Function& region) {
  const std::size_t count = region.outputs().size();
  for (std::size_t i = 0; i < count; i++) {
    if (!region.outputs()[i].same_as(region.parameters()[count + i])) return false;
  }
  return true;
}

}  // namespace ops

Tensor detail::scatter_with(
    const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& combine) {
  const Tensor array = ops::any_tensor("scatter", x);
  const Tensor update =
      updates.is_scalar() ? updates.as(array.dtype()) : ops::any_tensor("scatter", updates);
  const std::array<TensorType, 2> scalars{TensorType{array.dtype(), {}},
                                          TensorType{array.dtype(), {}}};
  auto traced = [&](std::span<const Tensor> p) {
    std::vector<Tensor> combined = combine(p);
    combined[0] =
        ops::adopt_dtype(ir::checked(combined[0], "scatter", x.at()), array.dtype(), x.at());
    return combined;
  };
  Function region = ir::trace_closed("combine", "the combiner of scatter", scalars, traced, x.at());
  return ops::make(ops::kScatter, {array, ops::any_tensor("scatter", indices), update},
                   ops::ScatterAttributes{dims}, x.at(), {std::move(region)});
}

}  // namespace rondo
