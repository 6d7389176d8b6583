// Draws computed from uniform ones, like their namesakes in jax.random, version 0.10.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/linear_algebra.h"
#include "rondo/ops/order.h"
#include "rondo/ops/random.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"

namespace rondo::random {

namespace {

/// The least positive normal number.
double least_normal(DType dtype) {
  return dtype == DType::kF16   ? 0x1p-14
         : dtype == DType::kF64 ? std::numeric_limits<double>::min()
                                : std::numeric_limits<float>::min();
}

}  // namespace

Tensor bernoulli(const Operand& key, const Operand& p, const std::vector<std::int64_t>& dims) {
  const ops::Helper helper("random::bernoulli", key.at());
  const Tensor probability = helper.floating(p);
  return uniform(key, {probability.dtype(), dims}) < broadcast_to(probability, dims);
}

Tensor exponential(const Operand& key, const TensorType& type) {
  const ops::Helper helper("random::exponential", key.at());
  return -log1p(-uniform(key, type));
}

Tensor multivariate_normal(const Operand& key, const Operand& mean_operand,
                           const Operand& covariance_operand,
                           const std::vector<std::int64_t>& dims) {
  const ops::Helper helper("random::multivariate_normal", key.at());
  const Tensor mean = helper.floating(mean_operand),
               covariance = helper.floating(covariance_operand);
  helper.check_rank(mean, "the mean", 1);
  const std::int64_t n = mean.dim(0);
  if (covariance.type() != TensorType{mean.dtype(), {n, n}}) {
    helper.fail(fmt::format("the mean is {}, the covariance {}\n  Give the covariance as {}.",
                            mean.type().str(), covariance.type().str(),
                            TensorType{mean.dtype(), {n, n}}.str()));
  }
  std::vector<std::int64_t> shape = dims;
  shape.push_back(n);
  const Tensor unit = normal(key, {mean.dtype(), Shape(shape)});
  return mean + matmul(unit, transpose(cholesky(covariance)));
}

Tensor categorical(const Operand& key, const Operand& operand, std::int64_t axis) {
  const ops::Helper helper("random::categorical", key.at());
  const Tensor logits = helper.floating(operand);
  axis = helper.axis(axis, logits);
  if (logits.dim(axis) == 0) {
    helper.fail(fmt::format("axis {} of {} has no places to draw\n  Give one or more.", axis,
                            logits.type().str()));
  }
  // The index of the greatest of logits with Gumbel-distributed noise.
  const Tensor unit = uniform(key, logits.type(), least_normal(logits.dtype()), 1.0);
  return argmax(-log(-log(unit)) + logits, axis);
}

Tensor permutation(const Operand& key_operand, std::int64_t n) {
  const ops::Helper helper("random::permutation", key_operand.at());
  if (n < 0 || n > std::numeric_limits<std::int32_t>::max()) {
    helper.fail(fmt::format("{} numbers; there are 0 to 2^31 - 1\n  Give how many there are.", n));
  }
  // Sorting by random 32-bit keys: often enough that equal keys do not matter, n^3 < 2^(32 rounds).
  const double bits = 3 * std::log2(static_cast<double>(std::max<std::int64_t>(n, 1)));
  const int rounds = static_cast<int>(std::ceil(bits / 32));
  Tensor key = helper.any(key_operand);
  Tensor order = arange(n);
  for (int round = 0; round < rounds; round++) {
    const Tensor keys = split(key);
    key = keys[0];
    const Tensor by = argsort(random::bits(keys[1], u32({n})), 0);
    order = take(order, by);
  }
  return order;
}

Tensor choice(const Operand& key, const Operand& operand, const std::vector<std::int64_t>& dims,
              bool replace) {
  const ops::Helper helper("random::choice", key.at());
  const Tensor x = helper.any(operand);
  if (x.rank() == 0) helper.fail("a scalar has no rows\n  Give an array: rondo::arange(n).");
  const std::int64_t rows = x.dim(0), drawn = Shape(dims).elements();
  if (rows == 0 ? drawn > 0 : !replace && drawn > rows) {
    helper.fail(fmt::format("{} rows of {}, which has {}\n  Draw fewer{}.", drawn, x.type().str(),
                            rows, rows == 0 ? "" : ", or with replacement"));
  }
  if (replace)
    return take(x, randint(key, {DType::kS32, dims}, 0, std::max<std::int64_t>(rows, 1)));
  return take(x, reshape(slice(permutation(key, rows), {0}, {drawn}), dims));
}

}  // namespace rondo::random
