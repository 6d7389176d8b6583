// Building blocks of networks beside matmul: activations, normalised exponentials along an axis,
// normalised batches.
//
// All take floating tensors (throw TraceError for others, and for an axis out of range) and are
// differentiable. A row that is entirely -inf gives NaN, as in JAX.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// exp(x) / sum(exp(x)) along the axis, for x of any magnitude: the greatest element is subtracted
/// first.
RONDO_API Tensor softmax(const Operand& x, std::int64_t axis = -1);
/// The logarithm of softmax, which is accurate for small probabilities.
RONDO_API Tensor log_softmax(const Operand& x, std::int64_t axis = -1);
/// log(sum(exp(x))) over the axes, all of them if there are none, for x of any magnitude. -inf for
/// no elements.
RONDO_API Tensor logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);

/// x if it is positive, else 0; the derivative at 0 is 0.
RONDO_API Tensor relu(const Operand& x);
/// x Phi(x) with the normal distribution function Phi, or the approximation by tanh. Hendrycks and
/// Gimpel, "Gaussian error linear units", 2016.
RONDO_API Tensor gelu(const Operand& x, bool approximate = true);
/// x / (1 + exp(-x)).
RONDO_API Tensor silu(const Operand& x);

/// An array normalized over all axes but that of its features, with the mean and the variance of
/// each feature.
struct BatchNorm {
  Tensor y;               // [..., features, ...]
  Tensor mean, variance;  // [features]
};
/// (x - mean) / sqrt(variance + epsilon) * scale + offset, by the mean and the variance (divided by
/// the number of elements) that each feature has in x; NaN for features without elements. Scale and
/// offset have a number for each feature, or are C++ scalars. f16 and bf16 are computed in f32.
/// Ioffe and Szegedy, "Batch normalization", 2015.
///
/// Throws TraceError unless x has floats and that axis, and the others one number of its dtype for
/// each feature.
RONDO_API BatchNorm batch_norm_training(const Operand& x, const Operand& scale,
                                        const Operand& offset, float epsilon = 1e-5f,
                                        std::int64_t feature_axis = -1);
/// (x - mean) / sqrt(variance + epsilon) * scale + offset by a given mean and variance: a tensor
/// like x. Operands and errors as for batch_norm_training.
RONDO_API Tensor batch_norm_inference(const Operand& x, const Operand& scale, const Operand& offset,
                                      const Operand& mean, const Operand& variance,
                                      float epsilon = 1e-5f, std::int64_t feature_axis = -1);
/// The cotangents of x, scale and offset.
struct BatchNormGradient {
  Tensor x;              // [..., features, ...]
  Tensor scale, offset;  // [features]
};
/// What `grad` computes of batch_norm_training, as one op: from its operands, the mean and the
/// variance that it gave, and the cotangent of y.
RONDO_API BatchNormGradient batch_norm_grad(const Operand& x, const Operand& scale,
                                            const Operand& mean, const Operand& variance,
                                            const Operand& cotangent, float epsilon = 1e-5f,
                                            std::int64_t feature_axis = -1);

/// The indices' shape with a further axis of size n at the end: 1 at the position of the index,
/// else 0; a row of zeros for an index out of range. Throws TraceError unless the indices are
/// integers and n is not negative. A tensor in place of the dtype gives its own: `one_hot(indices,
/// n, x)`.
RONDO_API Tensor one_hot(const Operand& indices, std::int64_t n, DType dtype = DType::kF32);
template <std::same_as<Tensor> Like>
Tensor one_hot(const Operand& indices, std::int64_t n, const Like& like) {
  return one_hot(indices, n, like.dtype());
}

}  // namespace rondo
