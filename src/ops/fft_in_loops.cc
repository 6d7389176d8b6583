// Fourier transforms as loops. Lengths that are powers of two go by Stockham's method, one trip of
// a loop for each factor; other lengths by their definition, whose work grows with the square of
// the length. Both read a table of roots of unity.
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "ops/fft.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

/// exp(-2 pi i k / n) for k < count.
Tensor roots_of_unity(std::int64_t n, std::int64_t count, DType dtype) {
  std::vector<std::complex<double>> roots;
  for (std::int64_t k = 0; k < count; k++) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots.emplace_back(std::cos(angle), -std::sin(angle));
  }
  return convert(constant(roots), dtype);
}

/// Elements of each row of x, all at these places.
Tensor of_rows(const Tensor& x, const Tensor& places) { return take(x, places, 1); }

/// The transforms of x[rows, n] for a power of two. With m = 2^trip, element p = 2 m j + m h + k of
/// the next array, h < 2 and k < m, is made of those at q = m j + k and at q + n / 2: their sum for
/// h = 0, else their difference times a root.
Tensor by_halves(const Tensor& x) {
  const std::int64_t n = x.dim(1), half = n / 2;
  const Tensor roots = roots_of_unity(n, half, x.dtype()), p = arange(n);
  const auto trip = [&](const Tensor& i, const Tensor& from) {
    const Tensor m = shift_left(1, i), block = shift_right_logical(p, i + 1);
    const Tensor first = block * m, is_second = (p & m) != 0;
    const Tensor places = first + (p & (m - 1));
    const Tensor a = of_rows(from, places), b = of_rows(from, places + half);
    const std::vector<std::int64_t> dims = x.shape().vector();
    const Tensor turn = broadcast_in_dim(take(roots, first), dims, {1});
    return where(broadcast_in_dim(is_second, dims, {1}), (a - b) * turn, a + b);
  };
  const auto factors = std::bit_width(static_cast<std::uint64_t>(n)) - 1;
  return fori_loop(0, factors, trip, x, {.name = "fft"});
}

/// The transforms of x[rows, n]: n sums of n products.
Tensor by_definition(const Tensor& x) {
  const std::int64_t n = x.dim(1);
  const Tensor roots = roots_of_unity(n, n, x.dtype()), k = arange(n);
  const auto add = [&](const Tensor& j, const Tensor& sum, const Tensor& turns) {
    const Tensor element = dynamic_slice(x, {Tensor(0), j}, {x.dim(0), 1});
    const Tensor turn = broadcast_in_dim(take(roots, turns), x.shape().vector(), {1});
    const Tensor next = turns + k;
    return std::tuple(sum + element * turn, where(next >= n, next - n, next));
  };
  return std::get<0>(
      fori_loop(0, n, add, std::tuple(zeros(x.type()), zeros(k.type())), {.name = "fft"}));
}

/// The forward transform along the last axis.
Tensor along_last(const Tensor& x) {
  const std::int64_t n = x.dim(x.rank() - 1);
  if (n == 1) return x;
  const Tensor rows = reshape(x, {x.type().elements() / n, n});
  const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(n));
  return reshape(is_power ? by_halves(rows) : by_definition(rows), x.shape().vector());
}

/// The forward transform, or the inverse one: that of the conjugates, conjugated.
Tensor along(const Tensor& x, std::int64_t axis, bool inverse) {
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < x.rank(); i++) order.push_back(i);
  std::swap(order[static_cast<std::size_t>(axis)], order.back());
  const Tensor last = transpose(x, order);
  const auto n = static_cast<double>(x.dim(axis));
  const Tensor made = inverse ? conj(along_last(conj(last))) * (1 / n) : along_last(last);
  return transpose(made, order);
}

/// The whole of what a real transform gives half of: element n - k is the conjugate of element k.
Tensor completed_half(const Tensor& half, std::int64_t n) {
  std::vector<std::int64_t> starts(half.shape().size(), 0), limits = half.shape().vector();
  starts.back() = 1;
  limits.back() = (n + 1) / 2;
  const Tensor rest = slice(half, starts, limits);
  return concatenate({half, conj(reverse(rest, {-1}))}, -1);
}

}  // namespace

std::vector<Tensor> fft_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const auto& [kind, length] = node.attrs<FftAttributes>();
  if (node.type().elements() == 0) return {zeros(node.type())};
  const bool is_wide =
      byte_width(node.operand_type(0).dtype) == 8 && !is_complex(node.operand_type(0).dtype);
  Tensor x = operands[0];
  if (kind == Fft::kReal) x = convert(x, is_wide ? DType::kC128 : DType::kC64);
  const bool inverse = kind == Fft::kInverse || kind == Fft::kInverseReal;
  const auto axes = static_cast<std::int64_t>(length.size());
  for (std::int64_t axis = x.rank() - axes; axis + 1 < x.rank(); axis++)
    x = along(x, axis, inverse);
  if (kind == Fft::kInverseReal) x = completed_half(x, length.back());
  x = along(x, x.rank() - 1, inverse);
  if (kind == Fft::kInverseReal) return {real(x)};
  if (kind != Fft::kReal) return {x};
  const std::vector<std::int64_t> starts(x.shape().size(), 0);
  return {slice(x, starts, node.type().shape.vector())};
}

}  // namespace rondo::ops
