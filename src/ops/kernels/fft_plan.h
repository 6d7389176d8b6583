// Fourier transforms of one length: the factors, the twiddle factors, and the passes over blocks of
// several transforms.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace rondo::ops {

/// Real and imaginary parts apart, element k of transform t at [k * transforms + t]: the passes are
/// loops over consecutive numbers.
template <class T>
struct SplitComplex {
  T* re;
  T* im;

  /// In memory of numbers(count) numbers.
  static SplitComplex in(T* memory, std::int64_t count) {
    return {memory, memory + count + kApart};
  }
  static std::int64_t numbers(std::int64_t count) { return 2 * (count + kApart); }
  /// Numbers between arrays that are used together: a quarter of 4096 bytes, so that elements with
  /// the same index, at a distance of a power of two, do not compete for the same lines of a cache.
  static constexpr std::int64_t kApart = static_cast<std::int64_t>(1024 / sizeof(T));
};

/// Transforms of n elements (T is float or double). Stockham's method: each pass takes one factor
/// of n out of one half of the memory into the other, and leaves elements in order. Lengths with a
/// large prime factor are convolutions (Bluestein 1970, doi:10.1109/TAU.1970.1162132). Those that
/// the cache does not hold are the rows and columns of a matrix, in blocks that it holds (Bailey
/// 1990, doi:10.1007/BF00162341). The inverse transform exchanges real and imaginary parts before
/// and after.
template <class T>
class FftPlan {
 public:
  explicit FftPlan(std::int64_t n);

  std::int64_t length() const { return n_; }
  std::size_t bytes() const noexcept;
  /// How many transforms to run at a time, at most.
  std::int64_t together() const;
  /// The numbers of memory that run() uses beside the data.
  std::int64_t scratch(std::int64_t transforms) const;
  /// Transforms `data` in place.
  void run(SplitComplex<T> data, std::int64_t transforms, T* scratch) const;

 private:
  struct Pass {
    std::int64_t radix;
    std::int64_t groups;  // n / (radix and those before it)
    std::int64_t first;   // of its twiddle factors
  };
  struct Bluestein;
  struct Matrix;

  void make_passes(const std::vector<std::int64_t>& factors);

  std::int64_t n_;
  std::vector<Pass> passes_;
  std::vector<T> re_, im_;  // twiddle factors: groups x (radix - 1) for each pass
  std::shared_ptr<const Bluestein> bluestein_;
  std::shared_ptr<const Matrix> matrix_;
};

extern template class FftPlan<float>;
extern template class FftPlan<double>;

}  // namespace rondo::ops
