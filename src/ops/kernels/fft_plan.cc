#include "ops/kernels/fft_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>

namespace rondo::ops {

namespace {

/// Threshold: The largest prime factor that has a pass, whose work grows with its square; larger
/// ones go by Bluestein's method, which takes three transforms of at least twice the length. Not
/// measured.
constexpr std::int64_t kLargestRadix = 31;

/// Threshold: The longest transform that is not split into rows and columns: a block of it should
/// stay in the second cache. Not measured.
constexpr std::int64_t kLongest = 1 << 13;

/// exp(-2 pi i k / n), rounded from the first eighth of the circle.
std::complex<double> root(std::int64_t k, std::int64_t n) {
  k %= n;
  // In eighths of the circle: k / n = (octant + rest / n) / 8.
  const std::int64_t octant = 8 * k / n, rest = 8 * k - octant * n;
  const bool mirrored = octant % 2 != 0;
  const double angle = std::numbers::pi / 4 * static_cast<double>(mirrored ? n - rest : rest) /
                       static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  const std::int64_t quarter = ((octant + 1) / 2) % 4;  // the nearest axis
  if (mirrored) s = -s;
  for (std::int64_t i = 0; i < quarter; i++) {
    const double turned = -s;
    s = c;
    c = turned;
  }
  return {c, -s};
}

std::vector<std::int64_t> radices_of(std::int64_t n) {
  std::vector<std::int64_t> radices;
  while (n % 4 == 0) radices.push_back(4), n /= 4;
  for (std::int64_t p = 2; p * p <= n; p++) {
    while (n % p == 0) radices.push_back(p), n /= p;
  }
  if (n > 1) radices.push_back(n);
  return radices;
}

template <class T>
struct PassCall {
  SplitComplex<T> from, to;
  std::int64_t groups,
      inner;         // from[inner * (group + groups * k)], to[inner * (radix * group + j)]
  const T *re, *im;  // twiddle factors of the pass
};

template <class T>
struct Parts {
  T re, im;
};
template <class T>
Parts<T> operator+(Parts<T> a, Parts<T> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
Parts<T> operator-(Parts<T> a, Parts<T> b) {
  return {a.re - b.re, a.im - b.im};
}
/// Times a real number, of a vector's element type.
template <class T, class Real>
Parts<T> scaled(Parts<T> a, Real b) {
  return {a.re * b, a.im * b};
}
template <class T>
Parts<T> operator*(Parts<T> a, Parts<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// Times -i.
template <class T>
Parts<T> turned(Parts<T> a) {
  return {a.im, -a.re};
}

/// T is Real or a vector of them.
template <class Real, std::size_t radix, class T>
void butterfly(std::array<Parts<T>, radix>& x) {
  if constexpr (radix == 2) {
    x = {x[0] + x[1], x[0] - x[1]};
  } else if constexpr (radix == 3) {
    const Parts<T> sum = x[1] + x[2], middle = x[0] - scaled(sum, Real(0.5));
    const Parts<T> side = scaled(turned(x[1] - x[2]), Real(std::numbers::sqrt3 / 2));
    x = {x[0] + sum, middle + side, middle - side};
  } else if constexpr (radix == 4) {
    const Parts<T> even = x[0] + x[2], odd = x[1] + x[3], a = x[0] - x[2], b = turned(x[1] - x[3]);
    x = {even + odd, a + b, even - odd, a - b};
  } else {
    static_assert(radix == 5);
    // Cosines and sines of 72 and 144 degrees.
    constexpr Real c1 = Real(0.30901699437494742410), c2 = Real(-0.80901699437494742410),
                   s1 = Real(0.95105651629515357212), s2 = Real(0.58778525229247312917);
    const Parts<T> p1 = x[1] + x[4], m1 = turned(x[1] - x[4]), p2 = x[2] + x[3],
                   m2 = turned(x[2] - x[3]);
    const Parts<T> a = x[0] + scaled(p1, c1) + scaled(p2, c2);
    const Parts<T> b = x[0] + scaled(p1, c2) + scaled(p2, c1);
    const Parts<T> u = scaled(m1, s1) + scaled(m2, s2), v = scaled(m1, s2) - scaled(m2, s1);
    x = {x[0] + p1 + p2, a + u, b + v, b - v, a - u};
  }
}

/// Vectors of 16 bytes, which every processor has. Compilers do not find them: a loop with so many
/// arrays would need too many checks that they are apart.
template <class T>
struct Vector16 {
  typedef T type __attribute__((vector_size(16)));
};

template <class V, class T>
V load_vector(const T* from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}
template <class V, class T>
void store_vector(T* to, V value) {
  std::memcpy(to, &value, sizeof(V));
}

/// One butterfly on each number of a V.
template <class V, std::size_t radix, class T>
void butterfly_at(const T* re, const T* im, std::int64_t step, T* to_re, T* to_im,
                  std::int64_t inner, const std::array<Parts<T>, radix>& w) {
  std::array<Parts<V>, radix> x;
  for (std::size_t k = 0; k < radix; k++) {
    const std::int64_t at = step * static_cast<std::int64_t>(k);
    x[k] = {load_vector<V>(re + at), load_vector<V>(im + at)};
  }
  butterfly<T>(x);
  store_vector(to_re, x[0].re);
  store_vector(to_im, x[0].im);
  for (std::size_t j = 1; j < radix; j++) {
    const std::int64_t at = inner * static_cast<std::int64_t>(j);
    store_vector(to_re + at, x[j].re * w[j].re - x[j].im * w[j].im);
    store_vector(to_im + at, x[j].re * w[j].im + x[j].im * w[j].re);
  }
}

template <std::size_t radix, class T>
void small_pass(const PassCall<T>& c) {
  using V = typename Vector16<T>::type;
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(V) / sizeof(T));
  const std::int64_t step = c.inner * c.groups;
  for (std::int64_t group = 0; group < c.groups; group++) {
    std::array<Parts<T>, radix> w;
    w[0] = {1, 0};
    for (std::size_t j = 1; j < radix; j++) {
      const std::size_t at = static_cast<std::size_t>(group) * (radix - 1) + j - 1;
      w[j] = {c.re[at], c.im[at]};
    }
    const T* const re = c.from.re + c.inner * group;
    const T* const im = c.from.im + c.inner * group;
    T* const to_re = c.to.re + c.inner * static_cast<std::int64_t>(radix) * group;
    T* const to_im = c.to.im + c.inner * static_cast<std::int64_t>(radix) * group;
    std::int64_t i = 0;
    for (; i + kWidth <= c.inner; i += kWidth)
      butterfly_at<V, radix>(re + i, im + i, step, to_re + i, to_im + i, c.inner, w);
    for (; i < c.inner; i++)
      butterfly_at<T, radix>(re + i, im + i, step, to_re + i, to_im + i, c.inner, w);
  }
}

/// Any radix: sums of all elements, each times a root of unity. `roots`: exp(-2 pi i k / radix).
template <class T>
void general_pass(const PassCall<T>& c, std::int64_t radix, const Parts<T>* roots) {
  const std::int64_t step = c.inner * c.groups;
  for (std::int64_t group = 0; group < c.groups; group++) {
    for (std::int64_t j = 0; j < radix; j++) {
      const std::int64_t place = group * (radix - 1) + j - 1;
      const Parts<T> w = j == 0 ? Parts<T>{1, 0} : Parts<T>{c.re[place], c.im[place]};
      T* const to_re = c.to.re + c.inner * (radix * group + j);
      T* const to_im = c.to.im + c.inner * (radix * group + j);
      std::fill(to_re, to_re + c.inner, T(0));
      std::fill(to_im, to_im + c.inner, T(0));
      for (std::int64_t k = 0; k < radix; k++) {
        const Parts<T> factor = roots[j * k % radix];
        const T* const re = c.from.re + c.inner * group + step * k;
        const T* const im = c.from.im + c.inner * group + step * k;
        for (std::int64_t i = 0; i < c.inner; i++) {
          to_re[i] += re[i] * factor.re - im[i] * factor.im;
          to_im[i] += re[i] * factor.im + im[i] * factor.re;
        }
      }
      if (j == 0) continue;
      for (std::int64_t i = 0; i < c.inner; i++) {
        const Parts<T> y = Parts<T>{to_re[i], to_im[i]} * w;
        to_re[i] = y.re;
        to_im[i] = y.im;
      }
    }
  }
}

template <class T>
void run_pass(const PassCall<T>& c, std::int64_t radix) {
  switch (radix) {
    case 2:
      return small_pass<2>(c);
    case 3:
      return small_pass<3>(c);
    case 4:
      return small_pass<4>(c);
    case 5:
      return small_pass<5>(c);
    default:
      break;
  }
  std::array<Parts<T>, kLargestRadix> roots;
  for (std::int64_t k = 0; k < radix; k++) {
    const std::complex<double> w = root(k, radix);
    roots[static_cast<std::size_t>(k)] = {static_cast<T>(w.real()), static_cast<T>(w.imag())};
  }
  general_pass(c, radix, roots.data());
}

}  // namespace

/// X[k] = conj(c[k]) sum over j of (x[j] conj(c[j])) c[k - j], where c[j] = exp(pi i j^2 / n): a
/// cyclic convolution of a power of two elements.
template <class T>
struct FftPlan<T>::Bluestein {
  FftPlan<T> plan;
  std::vector<T> re, im;                          // conj(c)
  std::vector<T> transformed_re, transformed_im;  // of c, over the plan's length

  explicit Bluestein(std::int64_t n)
      : plan(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)))) {
    const std::int64_t m = plan.length();
    const auto whole = static_cast<std::size_t>(m);
    transformed_re.assign(whole, 0);
    transformed_im.assign(whole, 0);
    std::int64_t square = 0;  // j^2 mod 2 n
    for (std::int64_t j = 0; j < n; j++) {
      const std::complex<double> w = root(square, 2 * n);
      re.push_back(static_cast<T>(w.real()));
      im.push_back(static_cast<T>(w.imag()));
      for (const std::int64_t place : {j, (m - j) % m}) {
        transformed_re[static_cast<std::size_t>(place)] = static_cast<T>(w.real());
        transformed_im[static_cast<std::size_t>(place)] = static_cast<T>(-w.imag());
      }
      square = (square + 2 * j + 1) % (2 * n);
    }
    std::vector<T> scratch(static_cast<std::size_t>(plan.scratch(1)));
    plan.run({transformed_re.data(), transformed_im.data()}, 1, scratch.data());
  }

  void run(SplitComplex<T> data, std::int64_t transforms, T* scratch) const {
    const auto n = static_cast<std::int64_t>(re.size());
    const std::int64_t m = plan.length(), all = m * transforms;
    const auto work = SplitComplex<T>::in(scratch, all);
    T* const rest = scratch + SplitComplex<T>::numbers(all);
    const auto multiply = [&](SplitComplex<T> to, SplitComplex<T> from, const T* by_re,
                              const T* by_im, std::int64_t count, T scale) {
      for (std::int64_t j = 0; j < count; j++) {
        const Parts<T> w{by_re[j] * scale, by_im[j] * scale};
        for (std::int64_t t = j * transforms; t < (j + 1) * transforms; t++) {
          const Parts<T> y = Parts<T>{from.re[t], from.im[t]} * w;
          to.re[t] = y.re;
          to.im[t] = y.im;
        }
      }
    };
    multiply(work, data, re.data(), im.data(), n, 1);
    std::fill(work.re + n * transforms, work.re + all, T(0));
    std::fill(work.im + n * transforms, work.im + all, T(0));
    plan.run(work, transforms, rest);
    multiply(work, work, transformed_re.data(), transformed_im.data(), m,
             static_cast<T>(1 / static_cast<double>(m)));
    plan.run({work.im, work.re}, transforms, rest);  // back
    multiply(data, work, re.data(), im.data(), n, 1);
  }
};

/// n = rows x columns. X[k1 + rows k2] = sum over j2 of w^(j2 k1) (sum over j1 of x[columns j1 +
/// j2] exp(-2 pi i j1 k1 / rows)) exp(-2 pi i j2 k2 / columns), where w = exp(-2 pi i / n).
template <class T>
struct FftPlan<T>::Matrix {
  FftPlan<T> down, across;                    // of rows, of columns elements
  std::vector<std::complex<T>> fine, coarse;  // w^k for k below `columns`, and for its multiples

  Matrix(std::int64_t rows, std::int64_t columns) : down(rows), across(columns) {
    const std::int64_t n = rows * columns;
    const auto root_of = [&](std::int64_t k) {
      const std::complex<double> w = root(k, n);
      return std::complex<T>(static_cast<T>(w.real()), static_cast<T>(w.imag()));
    };
    for (std::int64_t k = 0; k < columns; k++) fine.push_back(root_of(k));
    for (std::int64_t k = 0; k < rows; k++) coarse.push_back(root_of(k * columns));
  }
  std::int64_t scratch() const {
    const std::int64_t down_at_once = down.together(), across_at_once = across.together();
    return SplitComplex<T>::numbers(down.n_ * across.n_) +
           std::max(SplitComplex<T>::numbers(down.n_ * down_at_once) + down.scratch(down_at_once),
                    SplitComplex<T>::numbers(across.n_ * across_at_once) +
                        across.scratch(across_at_once));
  }
  Parts<T> power(std::int64_t k) const {
    const std::complex<T> a = coarse[static_cast<std::size_t>(k / across.n_)],
                          b = fine[static_cast<std::size_t>(k % across.n_)];
    return Parts<T>{a.real(), a.imag()} * Parts<T>{b.real(), b.imag()};
  }

  /// Blocks of columns, from `data` to the scratch memory; then blocks of its rows, back to `data`.
  void run(SplitComplex<T> data, T* scratch) const {
    const std::int64_t rows = down.n_, columns = across.n_;
    const auto work = SplitComplex<T>::in(scratch, rows * columns);
    T* const rest = scratch + SplitComplex<T>::numbers(rows * columns);
    for (std::int64_t first = 0; first < columns; first += down.together()) {
      const std::int64_t size = std::min(down.together(), columns - first);
      const auto block = SplitComplex<T>::in(rest, rows * size);
      for (std::int64_t j = 0; j < rows; j++) {
        std::copy_n(data.re + j * columns + first, size, block.re + j * size);
        std::copy_n(data.im + j * columns + first, size, block.im + j * size);
      }
      down.run(block, size, rest + SplitComplex<T>::numbers(rows * size));
      for (std::int64_t k = 0; k < rows; k++) {
        for (std::int64_t i = 0; i < size; i++) {
          const Parts<T> y =
              Parts<T>{block.re[k * size + i], block.im[k * size + i]} * power(k * (first + i));
          work.re[k * columns + first + i] = y.re;
          work.im[k * columns + first + i] = y.im;
        }
      }
    }
    for (std::int64_t first = 0; first < rows; first += across.together()) {
      const std::int64_t size = std::min(across.together(), rows - first);
      const auto block = SplitComplex<T>::in(rest, columns * size);
      for (std::int64_t i = 0; i < size; i++) {
        for (std::int64_t j = 0; j < columns; j++) {
          block.re[j * size + i] = work.re[(first + i) * columns + j];
          block.im[j * size + i] = work.im[(first + i) * columns + j];
        }
      }
      across.run(block, size, rest + SplitComplex<T>::numbers(columns * size));
      for (std::int64_t k = 0; k < columns; k++) {
        std::copy_n(block.re + k * size, size, data.re + k * rows + first);
        std::copy_n(block.im + k * size, size, data.im + k * rows + first);
      }
    }
  }
};

template <class T>
FftPlan<T>::FftPlan(std::int64_t n) : n_(n) {
  const std::vector<std::int64_t> radices = radices_of(n);
  if (!radices.empty() && *std::max_element(radices.begin(), radices.end()) > kLargestRadix) {
    bluestein_ = std::make_shared<const Bluestein>(n);
    return;
  }
  if (n <= kLongest) {
    make_passes(radices);
    return;
  }
  std::int64_t rows = 1;
  for (const std::int64_t radix : radices) {
    if (rows * rows < n) rows *= radix;
  }
  matrix_ = std::make_shared<const Matrix>(rows, n / rows);
}

template <class T>
std::int64_t FftPlan<T>::together() const {
  // Threshold: Transforms of a block: two vectors of 512 bits side by side. Not measured.
  constexpr auto kTogether = static_cast<std::int64_t>(128 / sizeof(T));
  return matrix_ || (bluestein_ && bluestein_->plan.matrix_) ? 1 : kTogether;
}

template <class T>
void FftPlan<T>::make_passes(const std::vector<std::int64_t>& radices) {
  std::int64_t left = n_;
  for (const std::int64_t radix : radices) {
    const std::int64_t groups = left / radix;
    passes_.push_back({radix, groups, static_cast<std::int64_t>(re_.size())});
    for (std::int64_t group = 0; group < groups; group++) {
      for (std::int64_t j = 1; j < radix; j++) {
        const std::complex<double> w = root(group * j, left);
        re_.push_back(static_cast<T>(w.real()));
        im_.push_back(static_cast<T>(w.imag()));
      }
    }
    left = groups;
  }
}

template <class T>
std::size_t FftPlan<T>::bytes() const noexcept {
  std::size_t bytes = passes_.capacity() * sizeof(Pass) + 2 * re_.capacity() * sizeof(T);
  if (bluestein_) {
    bytes += sizeof(Bluestein) + bluestein_->plan.bytes() +
             2 * (bluestein_->re.capacity() + bluestein_->transformed_re.capacity()) * sizeof(T);
  }
  if (matrix_) {
    bytes += sizeof(Matrix) + matrix_->down.bytes() + matrix_->across.bytes() +
             (matrix_->fine.capacity() + matrix_->coarse.capacity()) * 2 * sizeof(T);
  }
  return bytes;
}

template <class T>
std::int64_t FftPlan<T>::scratch(std::int64_t transforms) const {
  if (matrix_) return matrix_->scratch();
  if (!bluestein_) return SplitComplex<T>::numbers(n_ * transforms);
  return SplitComplex<T>::numbers(bluestein_->plan.length() * transforms) +
         bluestein_->plan.scratch(transforms);
}

template <class T>
void FftPlan<T>::run(SplitComplex<T> data, std::int64_t transforms, T* scratch) const {
  if (bluestein_) return bluestein_->run(data, transforms, scratch);
  if (matrix_) return matrix_->run(data, scratch);
  const std::int64_t all = n_ * transforms;
  SplitComplex<T> from = data, to = SplitComplex<T>::in(scratch, all);
  std::int64_t inner = transforms;
  for (const Pass& pass : passes_) {
    run_pass(
        PassCall<T>{from, to, pass.groups, inner, re_.data() + pass.first, im_.data() + pass.first},
        pass.radix);
    inner *= pass.radix;
    std::swap(from, to);
  }
  if (from.re == data.re) return;
  std::copy(from.re, from.re + all, data.re);
  std::copy(from.im, from.im + all, data.im);
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace rondo::ops
