#include "ops/gather.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "ir/attribute_text.h"
#include "ir/index_range.h"
#include "ir/loop_nest.h"
#include "ops/batch_rules.h"
#include "ops/broadcast.h"
#include "ops/indexed_windows.h"
#include "rondo/ops/shape.h"

namespace rondo {

namespace ops {

namespace {

constexpr IndexedWindowNames kGatherNames{"offset_dims", "collapsed_slice_dims", "start_index_map",
                                          "operand_batching_dims", "start_indices_batching_dims"};

IndexedWindows gather_window_dims(const GatherDims& dims) {
  return {kGatherNames,
          dims.offset_dims,
          dims.collapsed_slice_dims,
          dims.start_index_map,
          dims.index_vector_dim,
          dims.operand_batching_dims,
          dims.start_indices_batching_dims};
}

InferredTypes infer_gather(const InferContext& context) {
  const auto& [dims, sizes] = context.attrs<GatherAttributes>();
  const TensorType &x = context.type(0), &indices = context.type(1);
  const Dims batch = batch_sizes(indices, dims.index_vector_dim);
  const std::size_t rank = batch.size() + dims.offset_dims.size();
  check_indexed_windows(context, gather_window_dims(dims), x, indices,
                        static_cast<std::int64_t>(rank));
  if (sizes.size() != x.shape.size()) {
    context.fail(
        fmt::format("slice_sizes has {} sizes; the operand {} has {} axes\n  Give a size for each "
                    "axis of the operand, 1 for those that are collapsed.",
                    sizes.size(), x.str(), x.rank()));
  }
  std::vector<std::int64_t> slice;  // the remaining axes of a slice
  for (std::size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] < 0 || sizes[i] > x.shape[i]) {
      context.fail(
          fmt::format("the slices are {} long along axis {}, where {} has {}\n  Take "
                      "slices that fit: sizes from 0 to {}.",
                      sizes[i], i, x.str(), x.shape[i], x.shape[i]));
    }
    const auto axis = static_cast<std::int64_t>(i);
    const bool vanishes =
        std::count(dims.collapsed_slice_dims.begin(), dims.collapsed_slice_dims.end(), axis) != 0 ||
        std::count(dims.operand_batching_dims.begin(), dims.operand_batching_dims.end(), axis) != 0;
    if (!vanishes)
      slice.push_back(sizes[i]);
    else if (sizes[i] > 1)
      context.fail(
          fmt::format("slices have {} elements along axis {}; only an axis of one element can "
                      "vanish\n  Make its slice size 1, or leave it out of collapsed_slice_dims.",
                      sizes[i], i));
  }
  std::vector<std::int64_t> result;
  auto next_slice = slice.begin();
  auto next_batch = batch.begin();
  for (std::size_t i = 0; i < rank; i++) {
    const bool offset = std::count(dims.offset_dims.begin(), dims.offset_dims.end(),
                                   static_cast<std::int64_t>(i)) != 0;
    result.push_back(offset ? *next_slice++ : *next_batch++);
  }
  return {{x.dtype, result}};
}

Dims slice_sizes(const Node& node) {
  const auto& sizes = node.attrs<GatherAttributes>().slice_sizes;
  Dims known(sizes.begin(), sizes.end());
  for (std::int64_t& size : known)
    size = std::max<std::int64_t>(size, 1);  // the size of a collapsed axis may be given as 0
  return known;
}

class GatherKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  explicit GatherKernel(const Node& node)
      : bytes_(node.type().bytes()),
        width_(byte_width(node.type().dtype)),
        nothing_to_read_(node.operand_type(0).elements() == 0),
        walk_(gather_window_dims(node.attrs<GatherAttributes>().dims), node.operand_type(0).shape,
              node.operand_type(1), node.type().shape, slice_sizes(node)),
        window_(slice_sizes(node), walk_.windowed_strides(), walk_.operand_strides(), width_) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    if (bytes_ == 0) return;
    if (nothing_to_read_) {
      // Only slices that are collapsed along an empty axis read from nothing; XLA gives zeros.
      std::memset(results[0], 0, static_cast<std::size_t>(bytes_));
      return;
    }
    ir::Poller poller(host);
    walk_.for_each(operands[1], true, [&](std::int64_t from, std::int64_t at) {
      window_.copy(results[0] + at * width_, operands[0] + from * width_, poller);
      poller.did(8);
    });
  }

 private:
  std::int64_t bytes_, width_;
  bool nothing_to_read_;
  WindowWalk walk_;
  Box window_;
};

std::unique_ptr<ir::Kernel> prepare_gather(const Node& node) {
  return std::make_unique<GatherKernel>(node);
}

ir::LoopNest gather_loops(const Node& node) {
  const TensorType& x = node.operand_type(0);
  if (x.elements() == 0) return {};
  return window_elements(gather_window_dims(node.attrs<GatherAttributes>().dims), x.shape,
                         node.operand_type(1), node.type().rank(), slice_sizes(node));
}

/// From at most one element, which loops do not look up: all slices are the same, since indices are
/// clamped. From none there are only zeros.
std::vector<Tensor> gather_of_one(const Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  if (operands[0].type().elements() == 0 || node.type().elements() == 0)
    return {zeros(node.type(), at)};
  return {broadcast(reshape_to(operands[0], {}, at), node.type().shape, at)};
}

std::vector<ir::IndexRange> gather_indices(const Node& node) {
  if (node.type().elements() == 0) return {};
  return window_ranges(gather_window_dims(node.attrs<GatherAttributes>().dims), "gather",
                       node.operand_type(0).shape, node.operand_type(1), 1, slice_sizes(node),
                       false);
}

void describe_gather(ir::AttributeCodec& codec, GatherAttributes& a) {
  using Need = ir::AttributeCodec::Need;
  GatherDims& dims = a.dims;
  if (ir::FieldList* const own = codec.own()) {
    own->field("dims", dims);
  } else {
    codec.group({"dimension_numbers"}, "gather", [&] {
      codec.integers({kGatherNames.window}, dims.offset_dims);
      codec.integers({kGatherNames.absent}, dims.collapsed_slice_dims);
      codec.integers({kGatherNames.batching}, dims.operand_batching_dims, Need::kOptional);
      codec.integers({kGatherNames.indices_batching}, dims.start_indices_batching_dims,
                     Need::kOptional);
      codec.integers({kGatherNames.start_map}, dims.start_index_map);
      codec.integer({"index_vector_dim"}, dims.index_vector_dim, Need::kOptionalInStablehlo);
    });
  }
  codec.integers({"slice_sizes"}, a.slice_sizes);
  codec.hint({"indices_are_sorted"});
}

}  // namespace

const ir::OpDef kGather{
    .name = "gather",
    .arity = 2,
    .cost = ir::Cost::kMovement,
    .types = {.infer = infer_gather},
    .structure = {.loops = gather_loops, .indices = gather_indices},
    .kernel = {.prepare = prepare_gather},
    .expansion = {.in_loops = gather_of_one},
    .derivative = {.linear = ir::Linear::kJointly, .transpose = gather_transpose},
    .batching = {.rule = gather_batch},
    .text = {.hlo = "gather",
             .stablehlo = "stablehlo.gather",
             .attributes = &ir::kAttributeText<GatherAttributes, describe_gather>}};

}  // namespace ops

Tensor gather(const Operand& x, const Operand& indices, const GatherDims& dims,
              const std::vector<std::int64_t>& slice_sizes) {
  return ops::make(ops::kGather, {ops::any_tensor("gather", x), ops::any_tensor("gather", indices)},
                   ops::GatherAttributes{dims, slice_sizes}, x.at());
}

}  // namespace rondo
