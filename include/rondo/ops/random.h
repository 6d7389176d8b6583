// Random numbers that depend only on their key: the same bits as JAX gives with its default
// generator.
//
// A key is a u32[2]. Draws from one key are the same each time, so each draw needs a different key:
// split a key for several draws, or fold a loop's index into it. All of these throw TraceError for
// a key that is not u32[2] and for unsupported dtypes.
//
// The generator is Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy
// as 1, 2, 3", 2011), counting elements in row-major order, like jax.random with
// jax_threefry_partitionable.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// The generators of rng_bit_generator.
enum class RngAlgorithm : std::uint8_t {
  kThreeFry,  // Threefry-2x32-20; the state is u64[2]: key, counter
  kPhilox,    // Philox-4x32-10; the state is u64[3] (key, counter low, high), or u64[2], where the
              // upper half is the key
};

/// Random bits in an integer type, and the state to draw the next ones from. Like XLA's
/// RngBitGenerator on the CPU.
RONDO_API std::pair<Tensor, Tensor> rng_bit_generator(
    const Operand& state, const TensorType& type, RngAlgorithm algorithm = RngAlgorithm::kThreeFry);

namespace random {

/// The key of a seed, an integer scalar: its upper and lower 32 bits (the upper ones are 0 for
/// narrower dtypes).
RONDO_API Tensor key(const Operand& seed);
/// u32[n,2]: n keys, whose draws are independent of each other and of those of `key`.
RONDO_API Tensor split(const Operand& key, std::int64_t n = 2);
/// A key that depends on `key` and on the lower 32 bits of `data`, an integer scalar.
RONDO_API Tensor fold_in(const Operand& key, const Operand& data);

/// Random bits, in an unsigned integer type.
RONDO_API Tensor bits(const Operand& key, const TensorType& type);
/// Uniformly distributed in [0, 1), in a floating type.
RONDO_API Tensor uniform(const Operand& key, const TensorType& type);
/// Uniformly distributed in [low, high); the bounds broadcast to the type's shape.
RONDO_API Tensor uniform(const Operand& key, const TensorType& type, const Operand& low,
                         const Operand& high);
/// Normally distributed with mean 0 and variance 1, in a floating type.
RONDO_API Tensor normal(const Operand& key, const TensorType& type);
// clang-format off
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::random::uniform(key, rondo::f32({2, 3}))"> Tensor uniform(const Operand&, std::initializer_list<std::int64_t>) = delete;
template <detail::Why kWhy = "rondo: give the dtype with the sizes: rondo::random::normal(key, rondo::f32({2, 3}))"> Tensor normal(const Operand&, std::initializer_list<std::int64_t>) = delete;
// clang-format on
/// Uniformly distributed in [low, high), in an integer type; `low` if high <= low. The bounds
/// broadcast to the type's shape; they are C++ integers (high may be one more than the dtype can
/// represent) or integer tensors.
RONDO_API Tensor randint(const Operand& key, const TensorType& type, const Operand& low,
                         const Operand& high);

/// pred: true with probability `p`, a floating scalar or an array that broadcasts to `dims`.
RONDO_API Tensor bernoulli(const Operand& key, const Operand& p,
                           const std::vector<std::int64_t>& dims);
/// Exponentially distributed with rate 1, in a floating type.
RONDO_API Tensor exponential(const Operand& key, const TensorType& type);
/// Gamma-distributed with shape `a` and scale 1, in the dtype of `a`: a floating scalar or an array
/// that broadcasts to `dims`, positive. Rejection by G. Marsaglia and W. W. Tsang, "A simple method
/// for generating gamma variables", ACM Trans. Math. Software 26, 2000. The derivative with respect
/// to `a` is that of a draw at a fixed quantile (like that of jax.random), correct up to second
/// order; it sums a series of about as many terms as the value of the draw.
RONDO_API Tensor gamma(const Operand& key, const Operand& a, const std::vector<std::int64_t>& dims);
/// Normally distributed vectors, of shape `dims` and then [n], for a mean f[n] and a covariance
/// f[n,n], of which the lower triangle is read; differentiable in both. NaN if the covariance is
/// not positive definite.
RONDO_API Tensor multivariate_normal(const Operand& key, const Operand& mean,
                                     const Operand& covariance,
                                     const std::vector<std::int64_t>& dims = {});
/// s32: positions along the axis, which is removed, drawn with probabilities proportional to
/// exp(logits).
RONDO_API Tensor categorical(const Operand& key, const Operand& logits, std::int64_t axis = -1);
/// s32[n]: the numbers 0 to n - 1 in random order.
RONDO_API Tensor permutation(const Operand& key, std::int64_t n);
/// Rows of x (elements, if it is a vector), each drawn with the same probability: of shape `dims`
/// and then that of a row. Without replacement no row is drawn twice. Throws TraceError if there
/// are not enough rows.
RONDO_API Tensor choice(const Operand& key, const Operand& x, const std::vector<std::int64_t>& dims,
                        bool replace = true);

}  // namespace random

}  // namespace rondo
