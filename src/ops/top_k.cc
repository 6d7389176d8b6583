#include "ops/top_k.h"

#include <limits>

#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/sort.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/order.h"

namespace rondo::ops {

namespace {

InferredTypes infer_top_k(const InferContext& context) {
  const std::int64_t k = context.attrs<TopKAttributes>().k;
  const TensorType& x = context.type(0);
  if (x.rank() == 0)
    context.fail(fmt::format("the operand is {}, which has no axis\n  Give a vector.", x.str()));
  if (is_complex(x.dtype)) {
    context.fail(
        fmt::format("the operand is {}; complex numbers have no greatest\n  Take a real "
                    "number of it: rondo::real(x) or rondo::abs(x).",
                    x.str()));
  }
  const std::int64_t count = x.shape[x.rank() - 1];
  if (count > std::numeric_limits<std::int32_t>::max()) {
    context.fail(
        fmt::format("the last axis of {} is too long for an s32 index\n  Sort it together "
                    "with an s64 iota: sort_by.",
                    x.str()));
  }
  if (k < 0 || k > count) {
    context.fail(
        fmt::format("k is {}, the last axis of {} has {} elements\n  Give a k from 0 to {}.", k,
                    x.str(), count, count));
  }
  std::vector<std::int64_t> dims = x.shape.vector();
  dims.back() = k;
  return {{x.dtype, Shape(dims)}, {DType::kS32, Shape(dims)}};
}

std::vector<Tensor> expand_top_k(const Node& node, std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const SourceLocation at = node.location();
  const SortedAndPlaces sorted = sorted_and_places("top_k", x, x.rank() - 1, true, at);
  const std::vector<std::int64_t> starts(x.shape().size(), 0);
  const std::vector<std::int64_t> ends = node.type().shape.vector();
  return {slice({sorted.values, at}, starts, ends), slice({sorted.places, at}, starts, ends)};
}

/// Where a sort takes no longer, and few elements, which loops sort.
bool sorts_for_top_k(const Node& node, const ir::LoopCode&) {
  // Threshold: Elements of a line of which the greatest are taken from a sort, and the part of
  // them, one in so many, that is: a selection against a sort. Not measured.
  constexpr std::int64_t kFew = 16, kPart = 4;
  const TensorType& x = node.operand_type(0);
  const std::int64_t count = x.shape[x.rank() - 1];
  return count <= kFew || kPart * node.attrs<TopKAttributes>().k > count;
}

/// The tangents of the elements that are selected.
std::vector<Tensor> top_k_jvp(const JvpCall& c) {
  const Tensor& x = c.x(0);
  if (x.type().elements() == 0) return {Tensor(), Tensor()};
  return {elements_at(c.dx(0), c.y(1), x.rank() - 1), Tensor()};
}

BatchValues top_k_batch(const BatchCall& c) {
  return ir::batch_with(c, c.node.attrs<TopKAttributes>());
}

}  // namespace

const ir::OpDef kTopK{.name = "top_k",
                      .arity = 1,
                      .types = {.infer = infer_top_k},
                      .kernel = {.prepare = prepare_top_k},
                      .expansion = {.rule = expand_top_k, .is_preferred = sorts_for_top_k},
                      .derivative = {.jvp = top_k_jvp},
                      .batching = {.rule = top_k_batch},
                      .text = {.attributes = &ir::kFieldText<TopKAttributes>}};

}  // namespace rondo::ops

namespace rondo {

std::pair<Tensor, Tensor> top_k(const Operand& x, std::int64_t k) {
  std::vector<Tensor> both =
      ir::make_many(ops::kTopK, {ops::any_tensor("top_k", x)}, ops::TopKAttributes{k}, x.at(), {});
  return {std::move(both[0]), std::move(both[1])};
}

}  // namespace rondo
