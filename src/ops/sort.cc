#include "ops/sort.h"

#include <limits>
#include <map>

#include "ir/attribute_text.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "ir/structure.h"
#include "ops/batch_rules.h"
#include "ops/elementwise.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/order.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_sort(const InferContext& context) {
  const auto& attributes = context.attrs<SortAttributes>();
  if (context.operands.empty())
    context.fail("there is nothing to sort: no operands\n  Give one array or more.");
  const TensorType& first = context.type(0);
  if (attributes.axis < 0 || attributes.axis >= first.rank()) {
    context.fail(
        fmt::format("axis {} of {} is out of range\n  Axes count from 0 to the rank less 1.",
                    attributes.axis, first.str()));
  }
  InferredTypes results;
  for (std::size_t i = 0; i < context.operands.size(); i++) {
    if (context.type(i).shape != first.shape) {
      context.fail(
          fmt::format("operand {} is {}, operand 0 is {}\n  Arrays that are sorted together need "
                      "one shape: use broadcast_to.",
                      i, context.type(i).str(), first.str()));
    }
    results.push_back(context.type(i));
  }
  if (context.regions.size() != 1)
    context.fail(
        fmt::format("{} regions; it takes one, the comparator\n  Give one function that compares.",
                    context.regions.size()));
  const Function& region = context.regions[0];
  bool fits = region.parameters().size() == 2 * results.size();
  for (std::size_t i = 0; fits && i < 2 * results.size(); i++)
    fits = region.parameters()[i].type() == TensorType{results[i / 2].dtype, {}};
  if (!fits)
    context.fail(
        "the comparator must take two scalars of the dtype of each operand in turn: (l0, r0, l1, "
        "r1, ...)\n  Compare what sort_by gives the comparator.");
  if (region.outputs().size() != 1 || region.outputs()[0].type() != pred()) {
    context.fail(fmt::format(
        "the comparator must return one scalar pred, whether its first argument goes before the "
        "second; it returns {}\n  Return a comparison of two of them: l < r.",
        region.outputs().size() == 1 ? region.outputs()[0].type().str()
                                     : fmt::format("{} values", region.outputs().size())));
  }
  return results;
}

void describe_sort(ir::AttributeCodec& codec, SortAttributes& a) {
  codec.axis({"axis", "dimension", "", "dimensions"}, a.axis);
  codec.flag({"stable", "is_stable"}, a.stable, ir::AttributeCodec::Need::kOptional);
  codec.derived("order", a.order, [&] {
    return codec.regions().empty() ? std::nullopt : known_order(codec.regions()[0]);
  });
  if (codec.reads() && !codec.own() && a.axis < 0) a.axis += codec.operand(0).rank();
}

/// A scalar of a comparator, without a location in the user's program.
Operand unplaced(const Tensor& x) { return {x, SourceLocation{}}; }

struct KeyComparison {
  Tensor less, equal;
};

/// Real scalars, with NaN after all numbers and equal to itself.
KeyComparison compare_keys(const Tensor& a, const Tensor& b) {
  const Tensor less = unplaced(a) < unplaced(b), equal = unplaced(a) == unplaced(b);
  if (!is_floating(a.dtype())) return {less, equal};
  const Tensor a_nan = is_nan(unplaced(a)), b_nan = is_nan(unplaced(b));
  const Tensor last = unplaced(!a_nan) & unplaced(b_nan);
  const Tensor both = unplaced(a_nan) & unplaced(b_nan);
  return {unplaced(less) | unplaced(last), unplaced(equal) | unplaced(both)};
}

Tensor ascending(const Tensor& a, const Tensor& b) {
  if (!is_complex(a.dtype())) return compare_keys(a, b).less;
  const KeyComparison re = compare_keys(real(unplaced(a)), real(unplaced(b)));
  const KeyComparison im = compare_keys(imag(unplaced(a)), imag(unplaced(b)));
  const Tensor tie = unplaced(re.equal) & unplaced(im.less);
  return unplaced(re.less) | unplaced(tie);
}

/// The order of a region whose only node compares the two values of one operand.
std::optional<KnownOrder> single_comparison(const Function& region) {
  if (region.body().size() != 1 || region.outputs()[0].node() != region.body()[0])
    return std::nullopt;
  const Node* node = region.body()[0];
  if (node->op != &kCompare) return std::nullopt;
  const auto& [direction, total] = node->attrs<CompareAttributes>();
  const bool less = direction == Direction::kLt || direction == Direction::kLe;
  const bool strict = direction == Direction::kLt || direction == Direction::kGt;
  if (!strict) return std::nullopt;
  for (std::size_t i = 0; 2 * i < region.parameters().size(); i++) {
    const Tensor &left = region.parameters()[2 * i], &right = region.parameters()[2 * i + 1];
    if (node->operand(0).same_as(left) && node->operand(1).same_as(right))
      return KnownOrder{i, !less, total};
    if (node->operand(0).same_as(right) && node->operand(1).same_as(left))
      return KnownOrder{i, less, total};
  }
  return std::nullopt;
}

const Function& comparator_of_first(std::span<const DType> dtypes, bool descending) {
  thread_local std::map<std::pair<std::vector<DType>, bool>, Function> made;
  Function& region = made[{{dtypes.begin(), dtypes.end()}, descending}];
  if (region.empty()) {
    const ir::LocationScope nowhere{SourceLocation()};  // it has many users
    std::vector<TensorType> scalars;
    for (DType dtype : dtypes) scalars.insert(scalars.end(), 2, TensorType{dtype, {}});
    const std::string name =
        fmt::format("{}_{}", descending ? "descending" : "ascending", dtype_name(dtypes[0]));
    region = ir::trace_closed(
        name, name, scalars,
        [&](std::span<const Tensor> p) {
          return std::vector<Tensor>{descending ? ascending(p[1], p[0]) : ascending(p[0], p[1])};
        },
        {});
    FunctionAccess::notes(region).add(FunctionNotes::kPermanent);
  }
  return region;
}

/// Bytes of floats have another order than the floats: the region says which.
std::vector<Tensor> sort_on_bytes(const Node& node, std::span<const Tensor> operands) {
  SortAttributes attributes = node.attrs<SortAttributes>();
  attributes.order = known_order(node.regions[0]);
  return ir::make_many(kSort, ir::Operands(operands.begin(), operands.end()), attributes,
                       node.location(), {node.regions[0]});
}

std::vector<Tensor> naturally_sorted(ir::Operands operands, std::int64_t axis, bool descending,
                                     SourceLocation at) {
  std::vector<DType> dtypes;
  for (const Tensor& operand : operands) dtypes.push_back(operand.dtype());
  return ir::make_many(kSort, std::move(operands),
                       SortAttributes{axis, true, KnownOrder{.descending = descending}}, at,
                       {comparator_of_first(dtypes, descending)});
}

}  // namespace

const ir::OpDef kSort{
    .name = "sort",
    .types = {.infer = infer_sort, .on_bytes = sort_on_bytes},
    .kernel = {.prepare = prepare_sort},
    .expansion = {.in_lanes = sort_few, .in_loops = sort_in_loops, .is_preferred = sorts_few},
    .derivative = {.region_jvp = sort_jvp, .reverse = sort_reverse},
    .batching = {.rule = sort_batch},
    .text = {.hlo = "sort",
             .stablehlo = "stablehlo.sort",
             .attributes = &ir::kAttributeText<SortAttributes, describe_sort>,
             .hlo_regions = "to_apply"}};

const Function& ascending_comparator(std::span<const DType> dtypes) {
  return comparator_of_first(dtypes, false);
}
const Function& descending_comparator(std::span<const DType> dtypes) {
  return comparator_of_first(dtypes, true);
}

std::optional<KnownOrder> known_order(const Function& region) {
  if (std::optional<KnownOrder> order = single_comparison(region)) {
    return is_complex(region.parameters()[2 * order->operand].dtype()) ? std::nullopt : order;
  }
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < region.parameters().size(); i += 2)
    dtypes.push_back(region.parameters()[i].dtype());
  for (const bool descending : {false, true}) {
    if (ir::structure_of(region) == ir::structure_of(comparator_of_first(dtypes, descending)))
      return KnownOrder{.descending = descending};
  }
  return std::nullopt;
}

SortedAndPlaces sorted_and_places(std::string_view op, const Tensor& x, std::int64_t axis,
                                  bool descending, SourceLocation at) {
  if (x.shape()[axis] > std::numeric_limits<std::int32_t>::max()) {
    fail(op,
         fmt::format("axis {} of {} is too long for an s32 index\n  Sort it together with an s64 "
                     "iota: sort_by.",
                     axis, x.type().str()),
         at);
  }
  std::vector<Tensor> both =
      naturally_sorted({x, iota({DType::kS32, x.shape()}, axis, at)}, axis, descending, at);
  return {std::move(both[0]), std::move(both[1])};
}

}  // namespace rondo::ops

namespace rondo {

Tensor sort(const Operand& x, std::int64_t axis) {
  const Tensor tensor = ir::checked(x.any(), "sort", x.at());
  return ops::naturally_sorted({tensor}, ops::normal_axis("sort", axis, tensor.rank(), x.at()),
                               false, x.at())[0];
}

Tensor argsort(const Operand& x, std::int64_t axis) {
  const Tensor tensor = ir::checked(x.any(), "argsort", x.at());
  const std::int64_t normal = ops::normal_axis("argsort", axis, tensor.rank(), x.at());
  return ops::sorted_and_places("argsort", tensor, normal, false, x.at()).places;
}

std::vector<Tensor> detail::sort_leaves(std::vector<Tensor> operands, std::int64_t axis,
                                        const std::function<Tensor(std::span<const Tensor>)>& less,
                                        bool stable, SourceLocation at) {
  if (operands.empty())
    ops::fail(
        "sort",
        "there is nothing to sort: the operands hold no array\n  Give an array, or a tree of them.",
        at);
  std::vector<TensorType> scalars;
  for (const Tensor& operand : operands)
    scalars.insert(scalars.end(), 2, TensorType{ir::checked(operand, "sort", at).dtype(), {}});
  const std::size_t n = operands.size();
  auto traced = [&](std::span<const Tensor> p) {
    std::vector<Tensor> both(2 * n);  // all of the left value, then all of the right one
    for (std::size_t i = 0; i < n; i++) {
      both[i] = p[2 * i];
      both[n + i] = p[2 * i + 1];
    }
    return std::vector<Tensor>{ir::checked(less(both), "sort", at)};
  };
  const std::int64_t normal = ops::normal_axis("sort", axis, operands[0].rank(), at);
  Function region = ir::trace_closed("less", "the comparator of sort_by", scalars, traced, at);
  const std::optional<ops::KnownOrder> order = ops::known_order(region);
  return ir::make_many(ops::kSort, {operands.begin(), operands.end()},
                       ops::SortAttributes{normal, stable, order}, at, {std::move(region)});
}

}  // namespace rondo
