// associative_scan: combines odd and even elements recursively, in logarithmic depth (Blelloch,
// "Prefix sums and their applications", 1990).
#include "control_flow/carry.h"
#include "fmt/format.h"
#include "ops/support.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

using Combine =
    std::function<std::vector<Tensor>(std::span<const Tensor>, std::span<const Tensor>)>;

class AssociativeScan {
 public:
  AssociativeScan(const Combine& combine, std::int64_t axis, SourceLocation at)
      : combine_(combine), axis_(axis), at_(at) {}

  std::vector<Tensor> run(const std::vector<Tensor>& elems) const {
    const std::int64_t n = elems[0].shape()[axis_];
    if (n < 2) return elems;
    // The scan of combined adjacent pairs gives the odd prefixes. Each even prefix is the odd one
    // before it combined with one more element.
    const std::vector<Tensor> odd =
        run(combined(every_second(elems, 0, n - 1), every_second(elems, 1, n)));
    std::vector<Tensor> even = every_second(elems, 0, 1);
    if (n > 2) {
      const std::int64_t pairs = (n - 1) / 2;
      const std::vector<Tensor> rest = combined(part(odd, 0, pairs, 1), every_second(elems, 2, n));
      for (std::size_t i = 0; i < even.size(); i++)
        even[i] = concatenate({even[i], rest[i]}, axis_, at_);
    }
    std::vector<Tensor> all;
    for (std::size_t i = 0; i < elems.size(); i++) all.push_back(interleaved(even[i], odd[i], n));
    return all;
  }

 private:
  std::vector<Tensor> combined(const std::vector<Tensor>& a, const std::vector<Tensor>& b) const {
    std::vector<Tensor> result = combine_(a, b);
    for (std::size_t i = 0; i < result.size(); i++) {
      ir::checked(result[i], "associative_scan", at_);
      if (result[i].type() == a[i].type()) continue;
      throw TraceError(fmt::format("associative_scan: combine of two {} returns {}\n  at {}\n  It "
                                   "must keep shapes and dtypes, and treat the slices "
                                   "along axis {} element by element.",
                                   a[i].type().str(), result[i].type().str(), at_.str(), axis_),
                       at_);
    }
    return result;
  }

  std::vector<Tensor> every_second(const std::vector<Tensor>& elems, std::int64_t from,
                                   std::int64_t to) const {
    return part(elems, from, to, 2);
  }

  std::vector<Tensor> part(const std::vector<Tensor>& elems, std::int64_t from, std::int64_t to,
                           std::int64_t stride) const {
    std::vector<Tensor> parts;
    for (const Tensor& x : elems) {
      const std::size_t rank = x.shape().size(), axis = static_cast<std::size_t>(axis_);
      std::vector<std::int64_t> starts(rank, 0), limits = x.shape().vector(), strides(rank, 1);
      starts[axis] = from;
      limits[axis] = to;
      strides[axis] = stride;
      parts.push_back(slice(Operand(x, at_), starts, limits, strides));
    }
    return parts;
  }

  /// even[0], odd[0], even[1], ...: stacks both behind the axis, folds the new axis into it, and
  /// cuts the result to n.
  Tensor interleaved(const Tensor& even, const Tensor& odd, std::int64_t n) const {
    const std::int64_t pairs = odd.shape()[axis_];
    const std::vector<Tensor> head = part({even}, 0, pairs, 1);
    std::vector<std::int64_t> dims = odd.shape().vector();
    dims[static_cast<std::size_t>(axis_)] = 2 * pairs;
    Tensor folded = reshape(Operand(stack({head[0], odd}, axis_ + 1, at_), at_), dims);
    if (n == 2 * pairs) return folded;
    return concatenate({folded, part({even}, pairs, pairs + 1, 1)[0]}, axis_, at_);
  }

  const Combine& combine_;
  std::int64_t axis_;
  SourceLocation at_;
};

}  // namespace

}  // namespace rondo::control_flow

namespace rondo::detail {

std::vector<Tensor> associative_scan(
    const std::function<std::vector<Tensor>(std::span<const Tensor>, std::span<const Tensor>)>&
        combine,
    Leaves elems, const AssociativeScanOptions& options, SourceLocation at) {
  if (elems.values.empty()) return {};
  for (const Tensor& leaf : elems.values) ir::checked(leaf, "associative_scan", at);
  const std::int64_t axis =
      ops::normal_axis("associative_scan", options.axis, elems.values[0].rank(), at);
  for (std::size_t i = 0; i < elems.values.size(); i++) {
    const Shape& shape = elems.values[i].shape();
    if (axis < shape.rank() && shape[axis] == elems.values[0].shape()[axis]) continue;
    throw TraceError(
        fmt::format("associative_scan: along axis {} {} is {} and {} is {}; they must "
                    "have one length\n  at {}\n  Slice or pad the arrays to one length.",
                    axis, elems.paths[0], elems.values[0].type().str(), elems.paths[i],
                    elems.values[i].type().str(), at.str()),
        at);
  }
  auto reversed = [&](std::vector<Tensor> values) {
    for (Tensor& value : values) value = reverse(Operand(value, at), {axis});
    return values;
  };
  const control_flow::AssociativeScan scan(combine, axis, at);
  return options.reverse ? reversed(scan.run(reversed(std::move(elems.values))))
                         : scan.run(elems.values);
}

}  // namespace rondo::detail
