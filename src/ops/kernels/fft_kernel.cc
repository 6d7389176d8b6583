// Transforms along the last axes, one axis after the other: blocks of transforms are copied to
// memory of their own, real and imaginary parts apart, transformed, and copied back.
#include <algorithm>
#include <bit>
#include <complex>
#include <vector>

#include "ops/fft.h"
#include "ops/kernels/fft_plan.h"
#include "ops/kernels/share_rows.h"

namespace rondo::ops {

namespace {

/// Transforms that lie `stride` apart: transform t begins at t / stride * stride * n + t % stride.
struct TransformLines {
  std::int64_t n, stride, count;
  std::int64_t first(std::int64_t t) const { return t / stride * stride * n + t % stride; }
};

template <class T>
class FftKernel final : public ir::Kernel {
 public:
  explicit FftKernel(const Node& node)
      : kind_(node.attrs<FftAttributes>().kind), type_(node.type()) {
    const auto& length = node.attrs<FftAttributes>().length;
    double elements = 1;
    for (const std::int64_t n : length) {
      plans_.emplace_back(n);
      elements *= static_cast<double>(n);
    }
    scale_ = static_cast<T>(1 / elements);
    const bool halved = kind_ == Fft::kInverseReal;
    operand_ = node.operand_type(0).elements();
    row_ = node.operand_type(0).shape.vector().back();
    std::int64_t stride = 1;
    for (std::size_t axis = length.size(); axis-- > 0;) {
      // The half transform comes first, or last if it is an inverse one: other axes have the halved
      // axis inside.
      const std::int64_t size =
          axis + 1 == length.size() && kind_ != Fft::kForward && kind_ != Fft::kInverse
              ? length[axis] / 2 + 1
              : length[axis];
      strides_.insert(strides_.begin(), stride);
      stride *= size;
    }
    half_elements_ = halved ? operand_ : type_.elements();
  }

  std::size_t bytes() const noexcept override {
    std::size_t bytes = sizeof(*this) + plans_.capacity() * sizeof(FftPlan<T>) +
                        strides_.capacity() * sizeof(std::int64_t);
    for (const FftPlan<T>& plan : plans_) bytes += plan.bytes();
    return bytes;
  }

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    if (type_.elements() == 0) return;
    const bool inverse = kind_ == Fft::kInverse || kind_ == Fft::kInverseReal;
    const auto last = plans_.size() - 1;
    if (kind_ == Fft::kReal) {
      const T* x = reinterpret_cast<const T*>(operands[0]);
      Complex* to = reinterpret_cast<Complex*>(results[0]);
      const std::int64_t n = plans_[last].length(), half = n / 2 + 1;
      in_blocks(
          last, operand_ / n, host,
          [&](std::int64_t t, std::int64_t k) -> Complex { return x[t * n + k]; },
          [&](std::int64_t t, std::int64_t k, Complex value) {
            if (k < half) to[t * half + k] = value;
          },
          false, 1);
      for (std::size_t axis = 0; axis < last; axis++) along(axis, to, to, false, 1, host);
      return;
    }
    const Complex* x = reinterpret_cast<const Complex*>(operands[0]);
    if (kind_ != Fft::kInverseReal) {
      Complex* to = reinterpret_cast<Complex*>(results[0]);
      for (std::size_t axis = 0; axis <= last; axis++)
        along(axis, axis == 0 ? x : to, to, inverse, inverse && axis == last ? scale_ : T(1), host);
      return;
    }
    Literal copy;
    if (last > 0) {
      copy = Literal::uninitialized({dtype_of<Complex>, {operand_}});
      Complex* to = reinterpret_cast<Complex*>(copy.mutable_bytes());
      for (std::size_t axis = 0; axis < last; axis++)
        along(axis, axis == 0 ? x : to, to, true, T(1), host);
      x = to;
    }
    T* to = reinterpret_cast<T*>(results[0]);
    const std::int64_t n = plans_[last].length();
    in_blocks(
        last, operand_ / row_, host,
        [&](std::int64_t t, std::int64_t k) -> Complex {
          if (k == 0 || 2 * k == n) return x[t * row_ + k].real();
          return 2 * k < n ? x[t * row_ + k] : std::conj(x[t * row_ + n - k]);
        },
        [&](std::int64_t t, std::int64_t k, Complex value) { to[t * n + k] = value.real(); }, true,
        scale_);
  }

 private:
  using Complex = std::complex<T>;

  /// Transforms complex numbers along an axis; `to` may be `from`.
  void along(std::size_t axis, const Complex* from, Complex* to, bool inverse, T scale,
             ir::Host& host) const {
    const std::int64_t n = plans_[axis].length();
    const TransformLines lines{n, strides_[axis], half_elements_ / n};
    in_blocks(
        axis, lines.count, host,
        [&](std::int64_t t, std::int64_t k) { return from[lines.first(t) + k * lines.stride]; },
        [&](std::int64_t t, std::int64_t k, Complex value) {
          to[lines.first(t) + k * lines.stride] = value;
        },
        inverse, scale);
  }

  /// read(transform, element) and write(transform, element, value).
  template <class Read, class Write>
  void in_blocks(std::size_t axis, std::int64_t count, ir::Host& host, Read read, Write write,
                 bool inverse, T scale) const {
    const FftPlan<T>& plan = plans_[axis];
    const std::int64_t n = plan.length();
    const std::int64_t work =
        n * static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n))) / 2 + 1;
    const std::int64_t together = plan.together();
    share_rows((count + together - 1) / together, work * together, host,
               [&](std::int64_t first, std::int64_t end, ir::Host& here) {
                 ir::Poller poller(here);
                 const std::int64_t most = std::min(count, together);
                 Literal memory = Literal::uninitialized(
                     {dtype_of<T>, {SplitComplex<T>::numbers(n * most) + plan.scratch(most)}});
                 T* const numbers = reinterpret_cast<T*>(memory.mutable_bytes());
                 for (std::int64_t block = first; block < end; block++) {
                   const std::int64_t t = block * together, size = std::min(together, count - t);
                   const auto [re, im] = SplitComplex<T>::in(numbers, n * size);
                   for (std::int64_t i = 0; i < size; i++) {
                     for (std::int64_t k = 0; k < n; k++) {
                       const Complex value = read(t + i, k);
                       re[k * size + i] = value.real();
                       im[k * size + i] = value.imag();
                     }
                   }
                   plan.run(inverse ? SplitComplex<T>{im, re} : SplitComplex<T>{re, im}, size,
                            numbers + SplitComplex<T>::numbers(n * size));
                   for (std::int64_t i = 0; i < size; i++) {
                     for (std::int64_t k = 0; k < n; k++)
                       write(t + i, k, Complex(re[k * size + i] * scale, im[k * size + i] * scale));
                   }
                   poller.did(work * size);
                 }
               });
  }

  Fft kind_;
  TensorType type_;
  std::vector<FftPlan<T>> plans_;
  std::vector<std::int64_t> strides_;  // of each axis, in complex elements
  std::int64_t operand_ = 0, row_ = 0, half_elements_ = 0;
  T scale_;
};

}  // namespace

std::unique_ptr<ir::Kernel> prepare_fft(const Node& node) {
  const DType dtype = node.type().dtype;
  if (dtype == DType::kF64 || dtype == DType::kC128)
    return std::make_unique<FftKernel<double>>(node);
  return std::make_unique<FftKernel<float>>(node);
}

}  // namespace rondo::ops
