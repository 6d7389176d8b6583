// jacfwd and jacrev on leaves.
#include <numeric>
#include <utility>

#include "ir/after.h"
#include "ir/lazy.h"
#include "rondo/gradients.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "transforms/derivatives.h"
#include "transforms/derived_call.h"
#include "transforms/directions.h"
#include "transforms/eager.h"
#include "transforms/observed.h"

namespace rondo::detail {

namespace {

using transforms::DerivedCall;
using transforms::or_zeros;

/// Reshapes stacked rows, one per element of `inner`, to the `outer` shape followed by that of
/// `inner`.
Tensor jacobian_of_rows(const Tensor& rows, const Shape& outer, const Shape& inner, bool rows_first,
                        SourceLocation at) {
  std::vector<std::int64_t> dims = outer.vector();
  dims.insert(dims.end(), inner.begin(), inner.end());
  if (rows_first) return reshape(Operand(rows, at), dims);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows.rank()));
  std::iota(order.begin(), order.end() - 1, 1);
  order.back() = 0;
  return reshape(Operand(transpose(Operand(rows, at), order), at), dims);
}

/// `count` rows from `first` on.
Tensor rows_from(const Tensor& rows, std::int64_t first, std::int64_t count, SourceLocation at) {
  if (rows.dim(0) == count) return rows;
  std::vector<std::int64_t> starts(static_cast<std::size_t>(rows.rank()), 0),
      limits = rows.shape().vector();
  starts[0] = first;
  limits[0] = first + count;
  return slice(Operand(rows, at), starts, limits);
}

/// A function whose Jacobian with respect to some of its leaves is requested.
class JacobianCall {
 public:
  JacobianCall(const char* transform, const RegionCallable& f, const ArgumentLeaves& arguments,
               std::span<const std::size_t> of, SourceLocation at)
      : perturbed_(transforms::asked_leaves(transform, arguments, of, at)),
        call_(transform, f, arguments, at),
        results_(call_.function.results()) {
    perturbed_.resize(call_.arguments.size());
    for (const std::size_t argument : of) {
      for (std::size_t i = 0; i < arguments.owner.size(); i++) {
        if (arguments.owner[i] == argument) leaves_.push_back(i);
      }
    }
    jacobians_.assign(results_.size(), std::vector<Tensor>(leaves_.size()));
    for (std::size_t r = 0; r < results_.size(); r++) {
      for (std::size_t l = 0; l < leaves_.size(); l++) {
        if (!ir::has_tangent(results_[r]) || !ir::has_tangent(leaf_type(l)))
          jacobians_[r][l] = zero(r, l);
      }
    }
  }

  void forward() {
    const transforms::Along along = [&](std::span<const Tensor> tangents) {
      std::vector<Tensor> of_arguments(call_.arguments.size());
      for (std::size_t k = 0; k < group_.size(); k++)
        of_arguments[leaves_[group_[k]]] = tangents[k];
      ir::Jvp both = transforms::derivatives().jvp(call_.function, call_.arguments, of_arguments);
      // The values are dropped, so their reports are attached to the tangents.
      const std::vector<Tensor> reports = transforms::observed(call_.function, both.results);
      std::vector<Tensor> rows;
      for (std::size_t r = 0; r < results_.size(); r++) {
        if (ir::has_tangent(results_[r]))
          rows.push_back(ir::after(or_zeros(both.tangents[r], results_[r], call_.at), reports));
      }
      return rows;
    };
    std::vector<TensorType> types;
    for (std::size_t l = 0; l < leaves_.size(); l++) types.push_back(leaf_type(l));
    for_groups(types, along, [&](std::size_t l, const Tensor& rows, std::size_t row) {
      const std::size_t r = differentiable_result(row);
      jacobians_[r][l] =
          jacobian_of_rows(rows, results_[r].shape, leaf_type(l).shape, false, call_.at);
    });
  }

  void backward() {
    const ir::Reverse reverse = transforms::derivatives().reverse(call_.function, call_.arguments,
                                                                  perturbed_, call_.all_results());
    const std::vector<Tensor> reports = transforms::observed(call_.function, reverse.results);
    const transforms::Along along = [&](std::span<const Tensor> given) {
      std::vector<Tensor> cotangents(results_.size());
      for (std::size_t k = 0; k < group_.size(); k++) cotangents[group_[k]] = given[k];
      std::vector<Tensor> pulled =
          ir::pull_back(reverse.pullback, cotangents, call_.arguments.size());
      std::vector<Tensor> row;
      for (const std::size_t leaf : leaves_)
        row.push_back(
            ir::after(or_zeros(pulled[leaf], call_.arguments[leaf].type(), call_.at), reports));
      return row;
    };
    for_groups(results_, along, [&](std::size_t r, const Tensor& rows, std::size_t l) {
      if (ir::has_tangent(leaf_type(l)))
        jacobians_[r][l] =
            jacobian_of_rows(rows, results_[r].shape, leaf_type(l).shape, true, call_.at);
    });
  }

  std::vector<std::vector<Tensor>> take() { return std::move(jacobians_); }

 private:
  const TensorType& leaf_type(std::size_t l) const { return call_.arguments[leaves_[l]].type(); }

  Tensor zero(std::size_t r, std::size_t l) const {
    std::vector<std::int64_t> dims = results_[r].shape.vector();
    const TensorType& type = leaf_type(l);
    dims.insert(dims.end(), type.shape.begin(), type.shape.end());
    return zeros({ir::has_tangent(type) ? results_[r].dtype : type.dtype, dims}, call_.at);
  }

  /// The `row`-th result that has a tangent.
  std::size_t differentiable_result(std::size_t row) const {
    std::size_t r = 0;
    while (!ir::has_tangent(results_[r]) || row-- > 0) r++;
    return r;
  }

  /// Calls `keep(i, rows, k)` with the k-th value that `along` returns for the elements of type i.
  /// Types with few elements share a batch of directions.
  template <class Keep>
  void for_groups(std::span<const TensorType> types, const transforms::Along& along,
                  const Keep& keep) {
    std::vector<std::size_t> open;
    std::int64_t elements = 0;
    const auto close = [&] {
      if (!open.empty()) for_group(types, std::exchange(open, {}), along, keep);
      elements = 0;
    };
    for (std::size_t i = 0; i < types.size(); i++) {
      if (!ir::has_tangent(types[i])) continue;
      if (elements + types[i].elements() > transforms::kMostTogether ||
          (!open.empty() && types[open[0]].dtype != types[i].dtype))
        close();
      open.push_back(i);
      elements += types[i].elements();
    }
    close();
  }

  template <class Keep>
  void for_group(std::span<const TensorType> all, std::vector<std::size_t> group,
                 const transforms::Along& along, const Keep& keep) {
    group_ = std::move(group);
    std::vector<TensorType> types;
    for (const std::size_t i : group_) types.push_back(all[i]);
    const std::vector<Tensor> rows = transforms::along_each(types, along, call_.at);
    std::int64_t first = 0;
    for (const std::size_t i : group_) {
      for (std::size_t k = 0; k < rows.size(); k++)
        keep(i, rows_from(rows[k], first, all[i].elements(), call_.at), k);
      first += all[i].elements();
    }
  }

  ir::Flags perturbed_;
  DerivedCall call_;
  std::vector<TensorType> results_;
  std::vector<std::size_t> leaves_;  // those requested
  std::vector<std::size_t> group_;   // those with tangents, or cotangents, in this step
  std::vector<std::vector<Tensor>> jacobians_;
};

}  // namespace

JacobianLeaves jacobian(const RegionCallable& f, const ArgumentLeaves& arguments,
                        std::span<const std::size_t> of, JacobianMode mode, SourceLocation at) {
  JacobianLeaves out;
  {
    const ir::EagerPause pause;
    const bool forward = mode == JacobianMode::kForward;
    JacobianCall call(forward ? "jacfwd" : "jacrev", f, arguments, of, at);
    forward ? call.forward() : call.backward();
    out.jacobians = call.take();
  }
  for (std::vector<Tensor>& row : out.jacobians) transforms::compute_if_eager(row, at);
  return out;
}

}  // namespace rondo::detail
