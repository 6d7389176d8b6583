// Products of arrays are reduced to batches of matrix products: out[b] = left[b] right[b].
#include <algorithm>
#include <complex>
#include <optional>
#include <type_traits>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lower/opcodes.h"
#include "ops/combiners.h"
#include "ops/dot.h"
#include "ops/kernels/blas.h"
#include "ops/kernels/box.h"
#include "ops/kernels/share_rows.h"
#include "ops/kernels/vector_gemm.h"

namespace rondo::ops {

namespace {

/// Threshold: Products summed before they join the total: the rounding error of long sums against
/// additions in f64. Not measured.
constexpr std::int64_t kSummedBlock = 512;

/// Threshold: Products of matrices with more multiplications may be a library's; for fewer, copies
/// and calls cost more than they save, and loops may contain them. Not measured.
constexpr std::int64_t kMostProducts = 16383;

/// Threshold: Matrices of more bytes are taken to be out of cache: then one row at a time is faster
/// than two rows for each pass over the sums. Not measured.
constexpr std::int64_t kCachedBytes = std::int64_t{4} << 20;

/// The type in which partial sums are added: a long sum has thousands of them.
template <class T>
using Total = std::conditional_t<std::is_same_v<T, float>, double, T>;

/// A matrix in memory; one of the strides is 1.
template <class T>
struct MatrixView {
  const T* data;
  std::int64_t row, column;  // strides
};

template <class Acc>
Acc multiply_add_to(Acc sum, Acc a, Acc b) {
  return AddElements{}(sum, MultiplyElements{}(a, b));
}

/// Threshold: Partial sums of an inner product: vector width and latency against the order of short
/// sums. Not measured.
template <class Acc>
constexpr std::int64_t kInnerLanes = sizeof(Acc) >= 8 ? 8 : 16;

/// The inner product of two dense vectors; with fewer than kInnerLanes products they are added in
/// order.
template <class Acc, class T>
Acc inner_product(const T* a, const T* b, std::int64_t n) {
  constexpr std::int64_t kLanes = kInnerLanes<Acc>;
  Total<Acc> sum(0);
  std::int64_t k = 0;
  while (n - k >= kLanes) {
    const std::int64_t end = std::min(n, k + kSummedBlock * kLanes);
    Acc lanes[kLanes] = {};
    for (; k + kLanes <= end; k += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; lane++) {
        lanes[lane] = multiply_add_to<Acc>(lanes[lane], static_cast<Acc>(a[k + lane]),
                                           static_cast<Acc>(b[k + lane]));
      }
    }
    for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (std::int64_t lane = 0; lane < width; lane++)
        lanes[lane] = AddElements{}(lanes[lane], lanes[lane + width]);
    }
    sum = AddElements{}(sum, Total<Acc>(lanes[0]));
  }
  Acc rest(0);
  for (; k < n; k++)
    rest = multiply_add_to<Acc>(rest, static_cast<Acc>(a[k]), static_cast<Acc>(b[k]));
  return static_cast<Acc>(AddElements{}(sum, Total<Acc>(rest)));
}

/// Adds to each sum the products of kTerms weights and rows, one after the other.
template <int kTerms, class Acc, class T>
void add_weighted(const T* weights, const T* rows, std::int64_t n, Acc* sums) {
  Acc factors[kTerms];
  for (int term = 0; term < kTerms; term++) factors[term] = static_cast<Acc>(weights[term]);
  for (std::int64_t j = 0; j < n; j++) {
    Acc sum = sums[j];
    for (int term = 0; term < kTerms; term++)
      sum = multiply_add_to<Acc>(sum, factors[term], static_cast<Acc>(rows[term * n + j]));
    sums[j] = sum;
  }
}

/// out[j] = sum over k of weights[k] rows[k][j]
template <class Acc, class T>
void weighted_rows(const T* weights, const T* rows, std::int64_t count, std::int64_t n, T* out) {
  // Sums are read and written once for two rows; rows out of cache are faster one at a time.
  const bool in_pairs = count * n <= kCachedBytes / std::int64_t{sizeof(T)};
  absl::InlinedVector<Acc, 64> block(static_cast<std::size_t>(n));
  absl::InlinedVector<Total<Acc>, 64> totals(static_cast<std::size_t>(n), Total<Acc>(0));
  for (std::int64_t start = 0; start < count; start += kSummedBlock) {
    const std::int64_t end = std::min(count, start + kSummedBlock);
    Acc* sums = block.data();
    std::fill(sums, sums + n, Acc(0));
    std::int64_t k = start;
    for (; in_pairs && k + 2 <= end; k += 2)
      add_weighted<2, Acc>(weights + k, rows + k * n, n, sums);
    for (; k < end; k++) add_weighted<1, Acc>(weights + k, rows + k * n, n, sums);
    for (std::int64_t j = 0; j < n; j++) {
      Total<Acc>& total = totals[static_cast<std::size_t>(j)];
      total = AddElements{}(total, Total<Acc>(sums[j]));
    }
  }
  for (std::int64_t j = 0; j < n; j++) out[j] = static_cast<T>(totals[static_cast<std::size_t>(j)]);
}

/// Adds to a tile of the totals the products of `count` columns of a and rows of b. The sums stay
/// in registers.
template <int kRows, int kColumns, class Acc, class T>
void add_tile(MatrixView<T> a, MatrixView<T> b, std::int64_t count, Total<Acc>* out,
              std::int64_t out_row) {
  Acc sums[kRows][kColumns] = {};
  for (std::int64_t k = 0; k < count; k++) {
    const T* row = b.data + k * b.row;
    for (int i = 0; i < kRows; i++) {
      const T* at = a.data + i * a.row + k * a.column;
      // Else g++ 12 loads c64 of several rows together, and one behind the last element.
      if constexpr (std::is_same_v<T, std::complex<float>>) asm("" : "+r"(at));
      const Acc left = static_cast<Acc>(*at);
      for (int j = 0; j < kColumns; j++)
        sums[i][j] = multiply_add_to<Acc>(sums[i][j], left, static_cast<Acc>(row[j]));
    }
  }
  for (int i = 0; i < kRows; i++) {
    for (int j = 0; j < kColumns; j++) {
      Total<Acc>& element = out[i * out_row + j];
      element = AddElements{}(element, Total<Acc>(sums[i][j]));
    }
  }
}

template <int kRows, class Acc, class T>
void add_rows(MatrixView<T> a, MatrixView<T> b, std::int64_t count, std::int64_t n,
              Total<Acc>* out) {
  std::int64_t j = 0;
  auto shifted = [&] { return MatrixView<T>{b.data + j, b.row, 1}; };
  for (; j + 8 <= n; j += 8) add_tile<kRows, 8, Acc>(a, shifted(), count, out + j, n);
  for (; j + 4 <= n; j += 4) add_tile<kRows, 4, Acc>(a, shifted(), count, out + j, n);
  for (; j < n; j++) add_tile<kRows, 1, Acc>(a, shifted(), count, out + j, n);
}

/// out (m x n, dense) = a (m x count) b (count x n), where the rows of b are dense.
template <class Acc, class T>
void multiply_tiled(MatrixView<T> a, MatrixView<T> b, std::int64_t m, std::int64_t count,
                    std::int64_t n, T* result, ir::Poller& poller) {
  std::vector<Total<Acc>> totals(static_cast<std::size_t>(m * n), Total<Acc>(0));
  Total<Acc>* out = totals.data();
  for (std::int64_t start = 0; start < count; start += kSummedBlock) {
    const std::int64_t length = std::min(kSummedBlock, count - start);
    const MatrixView<T> b_block{b.data + start * b.row, b.row, 1};
    std::int64_t i = 0;
    auto a_block = [&] {
      return MatrixView<T>{a.data + i * a.row + start * a.column, a.row, a.column};
    };
    for (; i + 4 <= m; i += 4) {
      add_rows<4, Acc>(a_block(), b_block, length, n, out + i * n);
      poller.did(length * n);
    }
    for (; i < m; i++) add_rows<1, Acc>(a_block(), b_block, length, n, out + i * n);
  }
  std::transform(totals.begin(), totals.end(), result,
                 [](const Total<Acc>& total) { return static_cast<T>(total); });
}

/// out[i] = the inner product of row i of a, with `stride` between rows, and b.
template <class Acc, class T>
void multiply_rows(const T* a, std::int64_t stride, const T* b, std::int64_t rows,
                   std::int64_t count, T* out, ir::Host& host) {
  const std::int64_t work = count / 4 + 1;
  share_rows(rows, work, host, [&](std::int64_t first, std::int64_t end, ir::Host& here) {
    ir::Poller poller(here);
    for (std::int64_t i = first; i < end; i++) {
      out[i] = static_cast<T>(inner_product<Acc>(a + i * stride, b, count));
      poller.did(work);
    }
  });
}

template <class Acc, class T>
void multiply_matrices(MatrixView<T> a, MatrixView<T> b, std::int64_t m, std::int64_t count,
                       std::int64_t n, T* out, std::vector<T>& scratch, ir::Host& host) {
  if (n == 1) {
    // b is one dense column, whatever its strides are.
    if (a.column == 1 || m == 1)
      return multiply_rows<Acc>(a.data, a.row, b.data, m, count, out, host);
    return weighted_rows<Acc>(b.data, a.data, count, m, out);
  }
  if (m == 1) {
    if (b.row == 1) return multiply_rows<Acc>(b.data, b.column, a.data, n, count, out, host);
    return weighted_rows<Acc>(a.data, b.data, count, n, out);
  }
  if (b.column != 1) {
    scratch.resize(static_cast<std::size_t>(count * n));
    // Threshold: Rows that are transposed at a time: elements of a cache line. Not measured.
    constexpr std::int64_t kSquare = 16;
    for (std::int64_t k0 = 0; k0 < count; k0 += kSquare) {
      for (std::int64_t j = 0; j < n; j++) {
        for (std::int64_t k = k0; k < std::min(count, k0 + kSquare); k++) {
          scratch[static_cast<std::size_t>(k * n + j)] = b.data[k * b.row + j * b.column];
        }
      }
    }
    b = {scratch.data(), n, 1};
  }
  ir::Poller poller(host);
  multiply_tiled<Acc>(a, b, m, count, n, out, poller);
}

/// The layout of an operand as consecutive matrices: outer x inner (dense), or inner x outer if it
/// is stored that way already, or after a copy in that order.
struct Packing {
  bool swapped = false;
  std::optional<Box> copy;
};

Packing pack_operand(const TensorType& x, std::span<const std::int64_t> batch,
                     std::span<const std::int64_t> outer, std::span<const std::int64_t> inner) {
  const Shape& shape = x.shape;
  auto order = [&](std::span<const std::int64_t> first, std::span<const std::int64_t> second) {
    Dims axes(batch.begin(), batch.end());
    axes.insert(axes.end(), first.begin(), first.end());
    axes.insert(axes.end(), second.begin(), second.end());
    return axes;
  };
  auto in_memory_order = [&](const Dims& axes) {
    std::int64_t last = -1;
    for (std::int64_t axis : axes) {
      if (shape[axis] == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  };
  const Dims straight = order(outer, inner);
  if (in_memory_order(straight)) return {};
  if (in_memory_order(order(inner, outer))) return {true, std::nullopt};
  const Dims strides = dense_strides(shape);
  std::vector<std::int64_t> sizes;
  Dims from;
  for (std::int64_t axis : straight) {
    sizes.push_back(shape[axis]);
    from.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  return {false, Box(sizes, dense_strides(Shape(sizes)), from, byte_width(x.dtype))};
}

struct DotSizes {
  std::int64_t batches, m, count, n;

  bool of_large_matrices() const {
    // Threshold: Sizes from which a product of matrices may be a library's: with vectors it is
    // bound by memory, and this kernel's sums are more accurate. Not measured.
    constexpr std::int64_t kLeastSize = 4;
    return std::min({m, count, n}) >= kLeastSize &&
           static_cast<double>(m) * static_cast<double>(count) * static_cast<double>(n) >
               static_cast<double>(kMostProducts);
  }
};

template <class Acc, class T>
void multiply_batches(const T* a, bool a_swapped, const T* b, bool b_swapped, const DotSizes& sizes,
                      T* out, ir::Host& host) {
  const std::int64_t m = sizes.m, count = sizes.count, n = sizes.n;
  const auto multiply = [&](std::int64_t first, std::int64_t end, ir::Host& here) {
    std::vector<T> scratch;
    ir::Poller poller(here);
    for (std::int64_t batch = first; batch < end; batch++) {
      poller.did(m * count * n / 16 + 1);
      const T *left = a + batch * m * count, *right = b + batch * count * n;
      T* to = out + batch * m * n;
      if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        if (sizes.of_large_matrices() &&
            (vector_multiply(left, a_swapped, right, b_swapped, m, count, n, to, here) ||
             blas_multiply(left, a_swapped, right, b_swapped, m, count, n, to, here)))
          continue;
      }
      multiply_matrices<Acc>(MatrixView<T>{left, a_swapped ? 1 : count, a_swapped ? m : 1},
                             MatrixView<T>{right, b_swapped ? 1 : n, b_swapped ? count : 1}, m,
                             count, n, to, scratch, here);
    }
  };
  // Threshold: Products of a batch from which threads share each product; smaller ones are shared
  // as wholes. Not measured.
  constexpr double kLargeProduct = 1 << 25;
  const double products =
      static_cast<double>(m) * static_cast<double>(count) * static_cast<double>(n);
  if (sizes.batches == 1 || products >= kLargeProduct) return multiply(0, sizes.batches, host);
  share_rows(sizes.batches, m * count * n / 16 + 1, host, multiply);
}

/// Products of elements of type T, accumulated in Acc.
template <class Acc, class T>
void dot_loop(const std::byte* a, bool a_swapped, const std::byte* b, bool b_swapped,
              const DotSizes& sizes, std::byte* out, ir::Host& host) {
  multiply_batches<Acc>(reinterpret_cast<const T*>(a), a_swapped, reinterpret_cast<const T*>(b),
                        b_swapped, sizes, reinterpret_cast<T*>(out), host);
}

template <class T>
void half_dot_loop(const std::byte* a, bool a_swapped, const std::byte* b, bool b_swapped,
                   const DotSizes& sizes, std::byte* out, ir::Host& host) {
  const auto& [batches, m, count, n] = sizes;
  auto widened = [](const std::byte* from, std::int64_t elements) {
    const T* values = reinterpret_cast<const T*>(from);
    return std::vector<float>(values, values + elements);
  };
  const std::vector<float> x = widened(a, batches * m * count), y = widened(b, batches * count * n);
  std::vector<float> sums(static_cast<std::size_t>(batches * m * n));
  multiply_batches<float>(x.data(), a_swapped, y.data(), b_swapped, sizes, sums.data(), host);
  std::transform(sums.begin(), sums.end(), reinterpret_cast<T*>(out),
                 [](float sum) { return T(sum); });
}

using DotLoop = void (*)(const std::byte* a, bool a_swapped, const std::byte* b, bool b_swapped,
                         const DotSizes& sizes, std::byte* out, ir::Host& host);

/// Calls f with the loop of a dtype, as a constant.
template <class F>
void with_dot_loop(DType dtype, F&& f) {
  for_dtype(dtype, [&]<class T>() {
    if constexpr (lower::is_half<T>) {
      f(std::integral_constant<DotLoop, half_dot_loop<T>>());
    } else if constexpr (std::is_same_v<T, bool>) {
      throw InternalError("a product of preds");
    } else if constexpr (std::is_integral_v<T>) {
      // Wrapping is the same for signed and unsigned integers, and defined for unsigned ones.
      using Bits = std::make_unsigned_t<T>;
      using Acc = std::conditional_t<(sizeof(T) < 4), std::uint32_t, Bits>;
      f(std::integral_constant<DotLoop, dot_loop<Acc, Bits>>());
    } else {
      f(std::integral_constant<DotLoop, dot_loop<T, T>>());
    }
  });
}

DotLoop dot_loop_of(DType dtype) {
  DotLoop loop = nullptr;
  with_dot_loop(dtype, [&](auto found) { loop = found; });
  return loop;
}

std::int64_t elements_along(const Shape& shape, std::span<const std::int64_t> axes) {
  std::int64_t product = 1;
  for (std::int64_t axis : axes) product *= shape[axis];
  return product;
}

/// Packs right sides in the order in which vectorized products read them.
template <class T>
class PackRightSides final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  PackRightSides(const DotSizes& sizes, bool swapped) : sizes_(sizes), swapped_(swapped) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    const auto& [batches, m, count, n] = sizes_;
    const T* from = reinterpret_cast<const T*>(operands[0]);
    T* to = reinterpret_cast<T*>(results[0]);
    ir::Poller poller(host);
    for (std::int64_t batch = 0; batch < batches; batch++) {
      pack_right_side(from + batch * count * n, swapped_, count, n,
                      to + batch * packed_elements<T>(count, n));
      poller.did(count * n);
    }
  }

 private:
  DotSizes sizes_;
  bool swapped_;
};

/// Products with packed right sides.
template <class T>
class DotWithPacked final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  DotWithPacked(const DotSizes& sizes, bool swapped) : sizes_(sizes), swapped_(swapped) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    const auto& [batches, m, count, n] = sizes_;
    const T* left = reinterpret_cast<const T*>(operands[0]);
    const T* packed = reinterpret_cast<const T*>(operands[1]);
    T* to = reinterpret_cast<T*>(results[0]);
    for (std::int64_t batch = 0; batch < batches; batch++) {
      vector_multiply_packed(left + batch * m * count, swapped_,
                             packed + batch * packed_elements<T>(count, n), m, count, n,
                             to + batch * m * n, host);
    }
  }

 private:
  DotSizes sizes_;
  bool swapped_;
};

class DotKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  explicit DotKernel(const Node& node) {
    const auto& dims = node.attrs<DotDims>();
    const TensorType &a = node.operand_type(0), &b = node.operand_type(1);
    const std::vector<std::int64_t> a_free =
        free_axes(a.rank(), dims.lhs_batch, dims.lhs_contracting);
    const std::vector<std::int64_t> b_free =
        free_axes(b.rank(), dims.rhs_batch, dims.rhs_contracting);
    empty_ = node.type().elements() == 0;
    sizes_ = {elements_along(a.shape, dims.lhs_batch), elements_along(a.shape, a_free),
              elements_along(a.shape, dims.lhs_contracting), elements_along(b.shape, b_free)};
    packings_[0] = pack_operand(a, dims.lhs_batch, a_free, dims.lhs_contracting);
    packings_[1] = pack_operand(b, dims.rhs_batch, dims.rhs_contracting, b_free);
    types_[0] = a;
    types_[1] = b;
    loop_ = dot_loop_of(node.type().dtype);
  }

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    if (empty_) return;
    Literal copies[2];
    const std::byte* places[2];
    ir::Poller poller(host);
    for (std::size_t i = 0; i < 2; i++) {
      places[i] = operands[i];
      if (!packings_[i].copy) continue;
      copies[i] = Literal::uninitialized(types_[i]);
      packings_[i].copy->copy(copies[i].mutable_bytes(), operands[i], poller);
      places[i] = copies[i].bytes();
    }
    loop_(places[0], packings_[0].swapped, places[1], packings_[1].swapped, sizes_, results[0],
          host);
  }

  std::optional<ir::PackedOperand> packed(std::size_t operand) const override {
    if (operand != 1 || empty_ || !sizes_.of_large_matrices()) return std::nullopt;
    if (packings_[0].copy || packings_[1].copy) return std::nullopt;
    if (types_[0].dtype == DType::kF32) return packed_right<float>();
    if (types_[0].dtype == DType::kF64) return packed_right<double>();
    return std::nullopt;
  }

 private:
  template <class T>
  std::optional<ir::PackedOperand> packed_right() const {
    const std::int64_t elements = packed_elements<T>(sizes_.count, sizes_.n);
    if (elements == 0) return std::nullopt;
    return ir::PackedOperand{sizes_.batches * elements * std::int64_t{sizeof(T)},
                             std::make_unique<PackRightSides<T>>(sizes_, packings_[1].swapped),
                             std::make_unique<DotWithPacked<T>>(sizes_, packings_[0].swapped)};
  }

  bool empty_;
  DotSizes sizes_;
  Packing packings_[2];
  TensorType types_[2];
  DotLoop loop_ = nullptr;
};

}  // namespace

std::optional<ir::Contraction> dot_contraction(const Node& node) {
  const auto& dims = node.attrs<DotDims>();
  const TensorType &a = node.operand_type(0), &b = node.operand_type(1);
  const DType dtype = node.type().dtype;
  if (is_complex(dtype) || a.elements() == 0 || b.elements() == 0) return std::nullopt;
  ir::Contraction products;
  products.as_kernel = false;
  products.type = lower::type_of(dtype);
  if (is_floating(dtype) && byte_width(dtype) == 2) products.type = lower::Type::kF32;
  const auto rank = node.type().rank();
  for (const std::int64_t axis : dims.lhs_contracting) products.sizes.push_back(a.shape[axis]);
  // The axes of the result: batch, free ones of the left, free ones of the right.
  std::int64_t next_free = static_cast<std::int64_t>(dims.lhs_batch.size());
  const auto fill = [&](ir::AccessMap& map, const TensorType& type,
                        const std::vector<std::int64_t>& batch,
                        const std::vector<std::int64_t>& contracting) {
    map.assign(static_cast<std::size_t>(type.rank()), {-1, 0, 1, -1, 0});
    for (std::size_t i = 0; i < batch.size(); i++)
      map[static_cast<std::size_t>(batch[i])].axis = static_cast<std::int64_t>(i);
    for (std::size_t i = 0; i < contracting.size(); i++)
      map[static_cast<std::size_t>(contracting[i])].axis = rank + static_cast<std::int64_t>(i);
    for (ir::AxisRead& read : map) {
      if (read.axis < 0) read.axis = next_free++;
    }
  };
  fill(products.factors[0], a, dims.lhs_batch, dims.lhs_contracting);
  fill(products.factors[1], b, dims.rhs_batch, dims.rhs_contracting);
  return products;
}

ir::LoopNest dot_loops(const Node& node) {
  const auto& dims = node.attrs<DotDims>();
  const TensorType &a = node.operand_type(0), &b = node.operand_type(1);
  std::optional<ir::Contraction> products = dot_contraction(node);
  if (!products) return {};
  const std::int64_t count = elements_along(a.shape, dims.lhs_contracting);
  const std::vector<std::int64_t> a_free =
      free_axes(a.rank(), dims.lhs_batch, dims.lhs_contracting);
  const std::vector<std::int64_t> b_free =
      free_axes(b.rank(), dims.rhs_batch, dims.rhs_contracting);
  const std::int64_t m = elements_along(a.shape, a_free), n = elements_along(b.shape, b_free);
  // Threshold: Terms of each sum of a large product up to which a loop may contain it: a library
  // gains little there. Not measured.
  constexpr std::int64_t kFewProducts = 8;
  const bool is_large = std::max({m, count, n}) > kMostProducts || m * count * n > kMostProducts;
  if (count > (is_large ? kFewProducts : kSummedBlock)) return {};
  const auto swapped = [](const TensorType& type, const auto&... axes) {
    return pack_operand(type, axes...).swapped;
  };
  const bool inner = n == 1 ? m == 1 || !swapped(a, dims.lhs_batch, a_free, dims.lhs_contracting)
                            : m == 1 && swapped(b, dims.rhs_batch, dims.rhs_contracting, b_free);
  const bool is_wide = byte_width(node.type().dtype) >= 8;
  products->as_kernel =
      !is_large && (!inner || count < (is_wide ? kInnerLanes<double> : kInnerLanes<float>));
  return *std::move(products);
}

MatrixProduct matrix_product(DType dtype) {
  MatrixProduct product = nullptr;
  with_dot_loop(dtype, [&](auto loop) {
    product = [](const std::byte* a, const std::byte* b, std::int64_t m, std::int64_t count,
                 std::int64_t n, std::byte* out, ir::Host& host) {
      decltype(loop)::value(a, false, b, false, {1, m, count, n}, out, host);
    };
  });
  return product;
}

std::unique_ptr<ir::Kernel> prepare_dot(const Node& node) {
  return std::make_unique<DotKernel>(node);
}

}  // namespace rondo::ops
