// einsum as products of two operands at a time, in an order that is chosen by the number of
// multiplications.
#include "rondo/ops/einsum.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>

#include "ops/functions/einsum_spec.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/reduce.h"

namespace rondo {

namespace {

/// A set of axes, by their numbers.
using EinsumSet = std::uint64_t;
EinsumSet one_axis(std::size_t axis) { return EinsumSet{1} << axis; }

/// An array whose axes are different axes of the einsum, by their numbers.
struct EinsumFactor {
  Tensor x;
  std::vector<std::size_t> axes;

  EinsumSet set() const {
    EinsumSet all = 0;
    for (const std::size_t axis : axes) all |= one_axis(axis);
    return all;
  }
  std::int64_t position(std::size_t axis) const {
    return std::find(axes.begin(), axes.end(), axis) - axes.begin();
  }
};

class EinsumPlan {
 public:
  EinsumPlan(const ops::Helper& helper, std::string_view spec, const std::vector<Tensor>& operands)
      : helper_(helper), spec_(spec) {
    const ops::EinsumAxes named = ops::einsum_axes(helper, spec, operands);
    for (std::size_t i = 0; i < operands.size(); i++)
      number_axes(i, operands[i], named.operands[i]);
    for (const ops::EinsumAxis axis : named.result) result_.push_back(numbers_.at(axis));
    for (const std::size_t axis : result_) in_result_ |= one_axis(axis);
    for (std::size_t i = 0; i < operands.size(); i++)
      factors_.push_back(with_different_axes(operands[i], named.operands[i]));
    for (std::size_t i = 0; i < factors_.size(); i++) {
      EinsumSet others = in_result_;
      for (std::size_t j = 0; j < factors_.size(); j++)
        if (j != i) others |= factors_[j].set();
      sum_over(factors_[i], factors_[i].set() & ~others);
    }
  }

  Tensor product() {
    // Threshold: Operands of an einsum up to which all orders are compared, 3^n pairs of subsets:
    // time to trace against multiplications. Not measured.
    constexpr std::size_t kFewOperands = 8;
    const EinsumFactor all = factors_.size() <= kFewOperands ? best_product() : greedy_product();
    std::vector<std::int64_t> order;
    for (const std::size_t axis : result_) order.push_back(all.position(axis));
    return std::is_sorted(order.begin(), order.end()) ? all.x : transpose(all.x, order);
  }

 private:
  void number_axes(std::size_t operand, const Tensor& x, const std::vector<ops::EinsumAxis>& axes) {
    for (std::size_t i = 0; i < axes.size(); i++) {
      const std::int64_t size = x.shape()[static_cast<std::int64_t>(i)];
      const auto [number, is_new] = numbers_.try_emplace(axes[i], sizes_.size());
      if (is_new) {
        if (sizes_.size() == std::numeric_limits<EinsumSet>::digits)
          fail("there are more than 64 different axes\n  Multiply some of the operands first.");
        sizes_.push_back(size);
        from_.push_back(operand);
        types_.push_back(x.type());
        continue;
      }
      const std::size_t axis = number->second;
      const bool within_one = std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i),
                                        axes[i]) != axes.begin() + static_cast<std::ptrdiff_t>(i);
      if (size == sizes_[axis] || (size == 1 && !within_one)) continue;
      if (sizes_[axis] != 1 || within_one) {
        const std::string name = ops::einsum_axis_name(axes[i]);
        if (from_[axis] == operand) {
          fail(
              fmt::format("{} is {} and {} in operand {}, {}\n  Axes of one letter must have one "
                          "size; write different letters for different axes.",
                          name, sizes_[axis], size, operand, x.type().str()));
        }
        fail(fmt::format(
            "{} is {} in operand {}, {}, and {} in operand {}, {}\n  Axes of one letter "
            "must have one size, or 1, which repeats; write different letters for "
            "different axes.",
            name, sizes_[axis], from_[axis], types_[axis].str(), size, operand, x.type().str()));
      }
      sizes_[axis] = size;
      from_[axis] = operand;
      types_[axis] = x.type();
    }
  }

  /// The operand without axes of size 1 that repeat, and with diagonals in place of axes that are
  /// named twice.
  EinsumFactor with_different_axes(const Tensor& x, const std::vector<ops::EinsumAxis>& named) {
    EinsumFactor factor{x, {}};
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < named.size(); i++) {
      const std::size_t axis = numbers_.at(named[i]);
      const std::int64_t size = x.shape()[static_cast<std::int64_t>(i)];
      if (size != sizes_[axis]) continue;
      factor.axes.push_back(axis);
      dims.push_back(size);
    }
    if (dims.size() != named.size()) factor.x = reshape(x, dims);
    for (std::size_t first = 0; first < factor.axes.size(); first++) {
      for (std::size_t second = factor.axes.size() - 1; second > first; second--) {
        if (factor.axes[second] == factor.axes[first]) take_diagonal(factor, first, second);
      }
    }
    return factor;
  }

  /// Of two axes, which become one, the last.
  void take_diagonal(EinsumFactor& factor, std::size_t first, std::size_t second) const {
    const std::size_t axis = factor.axes[first];
    const std::int64_t n = sizes_[axis];
    std::vector<std::int64_t> order, dims;
    std::vector<std::size_t> axes;
    for (std::size_t i = 0; i < factor.axes.size(); i++) {
      if (i == first || i == second) continue;
      order.push_back(static_cast<std::int64_t>(i));
      dims.push_back(sizes_[factor.axes[i]]);
      axes.push_back(factor.axes[i]);
    }
    order.insert(order.end(),
                 {static_cast<std::int64_t>(first), static_cast<std::int64_t>(second)});
    dims.push_back(n * n);
    axes.push_back(axis);
    const std::vector<std::int64_t> starts(dims.size(), 0);
    std::vector<std::int64_t> strides(dims.size(), 1);
    strides.back() = n + 1;
    factor = {slice(reshape(transpose(factor.x, order), dims), starts, dims, strides),
              std::move(axes)};
  }

  static void sum_over(EinsumFactor& factor, EinsumSet over) {
    if (over == 0) return;
    std::vector<std::int64_t> summed;
    for (std::size_t i = 0; i < factor.axes.size(); i++)
      if (over & one_axis(factor.axes[i])) summed.push_back(static_cast<std::int64_t>(i));
    factor.x = sum(factor.x, summed);
    std::erase_if(factor.axes, [&](std::size_t axis) { return (over & one_axis(axis)) != 0; });
  }

  double elements(EinsumSet axes) const {
    double product = 1;
    for (std::size_t axis = 0; axes >> axis != 0; axis++) {
      if (axes & one_axis(axis)) product *= static_cast<double>(sizes_[axis]);
      if (axis + 1 == sizes_.size()) break;
    }
    return product;
  }

  /// The product of two, summed over the axes that they share and that are not in `kept`.
  EinsumFactor multiplied(const EinsumFactor& a, const EinsumFactor& b, EinsumSet kept) const {
    const EinsumSet shared = a.set() & b.set();
    if ((shared & ~kept) == 0) return multiplied_elements(a, b);
    // Without a transposition at the end, if the order of the operands can avoid it.
    EinsumFactor ba{{}, product_axes(b, a, kept)};
    if (ba.axes == result_) return contracted_pair(b, a, kept);
    return contracted_pair(a, b, kept);
  }

  /// The shared axes that stay, in the order of the result, then those of a, then those of b.
  std::vector<std::size_t> product_axes(const EinsumFactor& a, const EinsumFactor& b,
                                        EinsumSet kept) const {
    const EinsumSet shared = a.set() & b.set();
    std::vector<std::size_t> axes;
    for (const std::size_t axis : result_)
      if (shared & one_axis(axis)) axes.push_back(axis);
    for (const std::size_t axis : a.axes)
      if (shared & kept & ~in_result_ & one_axis(axis)) axes.push_back(axis);
    for (const EinsumFactor* factor : {&a, &b}) {
      for (const std::size_t axis : factor->axes)
        if (!(shared & one_axis(axis))) axes.push_back(axis);
    }
    return axes;
  }

  EinsumFactor contracted_pair(const EinsumFactor& a, const EinsumFactor& b, EinsumSet kept) const {
    const EinsumSet shared = a.set() & b.set();
    std::vector<std::size_t> axes = product_axes(a, b, kept);
    DotDims dims;
    for (const std::size_t axis : axes) {
      if (!(shared & one_axis(axis))) break;
      dims.lhs_batch.push_back(a.position(axis));
      dims.rhs_batch.push_back(b.position(axis));
    }
    for (const std::size_t axis : a.axes) {
      if (!(shared & ~kept & one_axis(axis))) continue;
      dims.lhs_contracting.push_back(a.position(axis));
      dims.rhs_contracting.push_back(b.position(axis));
    }
    return {dot_general(a.x, b.x, dims), std::move(axes)};
  }

  /// Without a sum: broadcast, which fuses with the ops around it.
  EinsumFactor multiplied_elements(const EinsumFactor& a, const EinsumFactor& b) const {
    EinsumFactor both{{}, {}};
    for (const std::size_t axis : result_)
      if ((a.set() | b.set()) & one_axis(axis)) both.axes.push_back(axis);
    for (const EinsumFactor* factor : {&a, &b}) {
      for (const std::size_t axis : factor->axes)
        if (!(both.set() & one_axis(axis))) both.axes.push_back(axis);
    }
    std::vector<std::int64_t> dims;
    for (const std::size_t axis : both.axes) dims.push_back(sizes_[axis]);
    const auto spread = [&](const EinsumFactor& factor) {
      std::vector<std::int64_t> map;
      for (const std::size_t axis : factor.axes) map.push_back(both.position(axis));
      return factor.axes == both.axes ? factor.x : broadcast_in_dim(factor.x, dims, map);
    };
    both.x = spread(a) * spread(b);
    return both;
  }

  /// The best of all orders: for each subset of the factors the best pair of subsets.
  EinsumFactor best_product() const {
    const std::size_t subsets = std::size_t{1} << factors_.size();
    std::vector<EinsumSet> axes(subsets, 0);  // of all factors of a subset
    for (std::size_t subset = 1; subset < subsets; subset++) {
      const auto first = static_cast<std::size_t>(std::countr_zero(subset));
      axes[subset] = axes[subset & (subset - 1)] | factors_[first].set();
    }
    const auto kept = [&](std::size_t subset) {
      return axes[subset] & (in_result_ | axes[subsets - 1 - subset]);
    };
    std::vector<double> costs(subsets, 0);
    std::vector<std::size_t> left(subsets, 0);
    for (std::size_t subset = 1; subset < subsets; subset++) {
      if (std::has_single_bit(subset)) continue;
      costs[subset] = std::numeric_limits<double>::infinity();
      for (std::size_t a = (subset - 1) & subset; a > (subset ^ a); a = (a - 1) & subset) {
        const std::size_t b = subset ^ a;
        const double cost = costs[a] + costs[b] + elements(kept(a) | kept(b));
        if (left[subset] != 0 && cost >= costs[subset]) continue;
        costs[subset] = cost;
        left[subset] = a;
      }
    }
    const auto build = [&](const auto& again, std::size_t subset) -> EinsumFactor {
      if (std::has_single_bit(subset))
        return factors_[static_cast<std::size_t>(std::countr_zero(subset))];
      const EinsumFactor b = again(again, subset ^ left[subset]), a = again(again, left[subset]);
      return std::countr_zero(left[subset]) < std::countr_zero(subset ^ left[subset])
                 ? multiplied(a, b, kept(subset))
                 : multiplied(b, a, kept(subset));
    };
    return build(build, subsets - 1);
  }

  /// Each time the pair whose product saves the most elements.
  EinsumFactor greedy_product() const {
    std::vector<EinsumFactor> rest = factors_;
    while (rest.size() > 1) {
      std::size_t best_a = 0, best_b = 1;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t a = 0; a < rest.size(); a++) {
        for (std::size_t b = a + 1; b < rest.size(); b++) {
          const double grown = elements((rest[a].set() | rest[b].set()) & kept_beside(rest, a, b)) -
                               elements(rest[a].set()) - elements(rest[b].set());
          if (grown >= least) continue;
          least = grown;
          best_a = a;
          best_b = b;
        }
      }
      EinsumFactor both = multiplied(rest[best_a], rest[best_b], kept_beside(rest, best_a, best_b));
      rest[best_a] = std::move(both);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(best_b));
    }
    return rest[0];
  }

  /// The axes that others than factors a and b have.
  EinsumSet kept_beside(const std::vector<EinsumFactor>& all, std::size_t a, std::size_t b) const {
    EinsumSet kept = in_result_;
    for (std::size_t i = 0; i < all.size(); i++)
      if (i != a && i != b) kept |= all[i].set();
    return kept;
  }

  [[noreturn]] void fail(const std::string& message) const {
    helper_.fail(fmt::format("\"{}\": {}", spec_, message));
  }

  const ops::Helper& helper_;
  std::string_view spec_;
  std::map<ops::EinsumAxis, std::size_t> numbers_;
  // By the number of the axis: its size, and the operand that it is known from.
  std::vector<std::int64_t> sizes_;
  std::vector<std::size_t> from_;
  std::vector<TensorType> types_;
  std::vector<std::size_t> result_;
  EinsumSet in_result_ = 0;
  std::vector<EinsumFactor> factors_;
};

/// Of one dtype, which C++ scalars get.
std::vector<Tensor> einsum_operands(const ops::Helper& helper, const std::vector<Tensor>& given) {
  if (given.empty()) helper.fail("there are no operands\n  Give one or more.");
  const auto known = std::find_if(given.begin(), given.end(),
                                  [](const Tensor& x) { return !x.is_scalar_literal(); });
  std::vector<Tensor> operands;
  for (const Tensor& x : given) {
    const Tensor& tensor = ir::checked(x, "einsum", helper.at());
    operands.push_back(known == given.end()
                           ? tensor
                           : ops::adopt_dtype(tensor,
                                              ir::checked(*known, "einsum", helper.at()).dtype(),
                                              helper.at()));
    const DType dtype = operands.back().dtype(), first = operands[0].dtype();
    if (is_pred(dtype)) {
      helper.fail(
          fmt::format("operand {} is {}; operands are numbers\n  Convert it: "
                      "rondo::convert(x, rondo::DType::kS32).",
                      operands.size() - 1, operands.back().type().str()));
    }
    if (dtype == first) continue;
    helper.fail(
        fmt::format("operand 0 is {}, operand {} is {}; their dtypes must be equal\n  {}",
                    operands[0].type().str(), operands.size() - 1, operands.back().type().str(),
                    ops::conversion_remedy(first, dtype, "operand 0",
                                           fmt::format("operand {}", operands.size() - 1))));
  }
  return operands;
}

}  // namespace

Tensor einsum(EinsumSpec spec, const std::vector<Tensor>& given) {
  const ops::Helper helper("einsum", spec.at);
  const std::vector<Tensor> operands = einsum_operands(helper, given);
  return EinsumPlan(helper, spec.text, operands).product();
}

}  // namespace rondo
