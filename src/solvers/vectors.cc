#include "solvers/vectors.h"

#include <cmath>
#include <limits>
#include <utility>

#include "fmt/format.h"
#include "ir/user_code.h"
#include "ops/support.h"
#include "rondo/detail/tree_tools.h"
#include "rondo/gradients.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::solvers {

double unit_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::numeric_limits<double>::epsilon();
    case DType::kF32:
      return static_cast<double>(std::numeric_limits<float>::epsilon());
    case DType::kF16:
      return std::ldexp(1.0, -10);
    default:
      return std::ldexp(1.0, -7);
  }
}

Tensor largest(const Tensor& x) { return max(abs(x)); }

Tensor length_of(const Tensor& x) { return sqrt(sum(square(stop_gradient(x)))); }

SolverCall::SolverCall(const char* solver, const Leaves& tree, SourceLocation at)
    : solver_(solver), at_(ir::place_in_force(at)), scope_(at_), paths_(tree.paths) {
  if (tree.values.empty()) fail("the tree has no tensors\n  Give one or more.");
  for (std::size_t i = 0; i < tree.values.size(); i++) {
    const TensorType& type = ir::checked(tree.values[i], solver, at_).type();
    if (!is_floating(type.dtype)) {
      fail(
          fmt::format("{} is {}; a solver needs floating numbers\n  Convert it: "
                      "rondo::convert(x, DType::kF64), or write 2.0 in place of 2.",
                      paths_[i], type.str()));
    }
    types_.push_back(type);
  }
  vector_ = detail::ravel(tree, at_);
  if (size() == 0) fail("the tree has no numbers\n  Give tensors with one element or more.");
}

std::vector<Tensor> SolverCall::tree(const Tensor& vector) const {
  return detail::unravel(vector, types_, at_);
}

Leaves SolverCall::call(const RegionCallable& f, const Tensor& vector) const {
  const std::vector<Tensor> leaves = tree(vector);
  const ir::UserCode user;
  return f(leaves);
}

Leaves SolverCall::call_at(const RegionCallable& f, const Tensor& vector,
                           const Tensor& time) const {
  std::vector<Tensor> leaves = tree(vector);
  leaves.push_back(time);
  const ir::UserCode user;
  return f(leaves);
}

Tensor SolverCall::as_vector(Leaves results, const char* called) const {
  if (results.values.size() != types_.size()) {
    fail(
        fmt::format("{} returns {} tensors for a tree of {}\n  Return a tree like the one that it "
                    "takes.",
                    called, results.values.size(), types_.size()));
  }
  for (std::size_t i = 0; i < types_.size(); i++) {
    Tensor& result = results.values[i];
    result = ops::adopt_dtype(ir::checked(result, solver_, at_), types_[i].dtype, at_);
    if (result.type() == types_[i]) continue;
    fail(
        fmt::format("{} returns {} in place of {}, which is {}\n  Return a tree of the shapes and "
                    "dtypes of the one that it takes.",
                    called, result.type().str(), paths_[i], types_[i].str()));
  }
  return detail::ravel(results, at_);
}

VectorFunction SolverCall::endomorphism(const RegionCallable& f, const char* called) const {
  return [this, &f, called](const Tensor& vector) { return as_vector(call(f, vector), called); };
}

Tensor SolverCall::slope(const RegionCallable& f, const Tensor& vector, const Tensor& time) const {
  return as_vector(call_at(f, vector, time), "the function");
}

Tensor SolverCall::event(const RegionCallable& f, const Tensor& vector, const Tensor& time) const {
  const Leaves results = call_at(f, vector, time);
  Tensor value = ops::adopt_dtype(ir::checked(results.values[0], solver_, at_), dtype(), at_);
  if (value.type() != TensorType{dtype(), {}}) {
    fail(
        fmt::format("the event returns {}; it must be {}\n  Return one number that changes its "
                    "sign when the event happens.",
                    value.type().str(), TensorType{dtype(), {}}.str()));
  }
  return value;
}

VectorFunction SolverCall::objective(const RegionCallable& f) const {
  return [this, &f](const Tensor& vector) {
    const Leaves results = call(f, vector);
    const TensorType meant{dtype(), {}};
    if (results.values.size() != 1) {
      fail(
          fmt::format("the function returns {} tensors; an objective is one scalar\n  Return the "
                      "sum of what is to be small.",
                      results.values.size()));
    }
    Tensor value = ops::adopt_dtype(ir::checked(results.values[0], solver_, at_), dtype(), at_);
    if (value.type() != meant) {
      fail(
          fmt::format("the function returns {}; an objective is {}, one scalar of the dtype of "
                      "x0\n  Return rondo::sum(x) of an array, and convert x0 or the value if "
                      "the dtypes differ.",
                      value.type().str(), meant.str()));
    }
    return value;
  };
}

VectorFunction SolverCall::map(const RegionCallable& f, const char* called) const {
  return [this, &f, called](const Tensor& vector) {
    Leaves results = call(f, vector);
    for (std::size_t i = 0; i < results.values.size(); i++) {
      Tensor& result = results.values[i];
      result = ops::adopt_dtype(ir::checked(result, solver_, at_), dtype(), at_);
      if (result.dtype() == dtype()) continue;
      fail(
          fmt::format("{} is {}, x0 has {}\n  Convert one of them: rondo::convert(x, "
                      "DType::kF64).",
                      results.paths[i], result.type().str(), dtype_name(dtype())));
    }
    Tensor all = detail::ravel(results, at_);
    if (all.dim(0) == 0) fail(fmt::format("{} returns no numbers\n  Return one or more.", called));
    return all;
  };
}

void SolverCall::fail(const std::string& message) const { ir::fail(solver_, message, at_); }

void SolverCall::check_tolerance(const char* option, double tolerance) const {
  if (tolerance >= 0 && std::isfinite(tolerance)) return;
  fail(fmt::format(".{} is {}\n  Give a positive number, or 0 for the default of the dtype.",
                   option, tolerance));
}

void SolverCall::check_count(const char* option, std::int64_t count, std::int64_t least) const {
  if (count >= least && count <= std::numeric_limits<std::int32_t>::max()) return;
  fail(fmt::format(".{} is {}\n  Give a number from {} to 2147483647.", option, count, least));
}

}  // namespace rondo::solvers
