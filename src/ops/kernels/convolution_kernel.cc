// Convolutions by products of matrices: the elements that each window covers, as rows, times the
// kernel as a matrix. Elements are moved by their width alone.
#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/convolution.h"
#include "ops/dot.h"
#include "ops/kernels/box.h"
#include "ops/reduce_window.h"

namespace rondo::ops {

namespace {

/// Copies elements between arrays with strides in elements.
void copy_elements(std::byte* to, std::int64_t to_stride, const std::byte* from,
                   std::int64_t from_stride, std::int64_t count, std::int64_t width) {
  if (to_stride == 1 && from_stride == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(count * width));
    return;
  }
  for_width(width, [&]<class U>() {
    U* t = reinterpret_cast<U*>(to);
    const U* f = reinterpret_cast<const U*>(from);
    for (std::int64_t i = 0; i < count; i++) t[i * to_stride] = f[i * from_stride];
  });
}

class ConvolutionKernel final : public ir::Kernel {
 public:
  explicit ConvolutionKernel(const Node& node)
      : width_(byte_width(node.type().dtype)),
        type_(node.operand_type(0)),
        product_(matrix_product(node.type().dtype)) {
    const auto& a = node.attrs<ConvolutionAttributes>();
    const TensorType &x = node.operand_type(0), &kernel = node.operand_type(1), &out = node.type();
    const WindowDims window = spatial_window(a, kernel);
    groups_ = std::max(a.feature_groups, a.batch_groups);
    splits_batch_ = a.batch_groups > 1;
    elements_ = out.elements();
    const auto sides = [](const TensorType& type, const std::vector<std::int64_t>& axes) {
      const Dims strides = dense_strides(type.shape);
      std::vector<Side> all;
      for (const std::int64_t axis : axes)
        all.push_back({type.shape[axis], strides[static_cast<std::size_t>(axis)]});
      return all;
    };
    x_ = sides(x, a.lhs);
    kernel_ = sides(kernel, a.rhs);
    out_ = sides(out, a.out);
    in_ = kernel_[0].size;
    features_ = kernel_[1].size / groups_;
    count_ = in_;
    rows_ = out_[0].size;
    for (std::size_t i = 2; i < out_.size(); i++) {
      count_ *= kernel_[i].size;
      rows_ *= out_[i].size;
      places_.push_back(places_along(i, window, a));
    }
    // Windows of one element that do not skip any: x has the rows already.
    is_matrix_ = groups_ == 1 && count_ == in_ && is_dense(x_) && x_.size() == out_.size();
    for (std::size_t i = 2; i < out_.size(); i++) is_matrix_ &= x_[i].size == out_[i].size;
    for (const auto& [low, high] : a.padding) is_matrix_ &= low == 0 && high == 0;
    kernel_is_dense_ = groups_ == 1 && is_dense_kernel();
    out_is_dense_ = groups_ == 1 && is_dense(out_);
  }

  std::size_t bytes() const noexcept override {
    std::size_t bytes = sizeof(*this);
    for (const auto* sides : {&x_, &kernel_, &out_}) bytes += sides->capacity() * sizeof(Side);
    for (const auto& places : places_) bytes += places.capacity() * sizeof(std::int64_t);
    return bytes;
  }

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    if (elements_ == 0) return;
    // Threshold: Bytes of the rows that are made at a time: they are read from the second cache,
    // and one product has enough rows. Not measured.
    constexpr std::int64_t kRowBytes = std::int64_t{1} << 18;
    const std::int64_t fit = kRowBytes / std::max<std::int64_t>(count_ * width_, 1);
    const std::int64_t most = std::min(rows_, std::max<std::int64_t>(fit, 16));
    const auto buffer = [&](bool needed, std::int64_t elements) {
      return needed ? Literal::uninitialized({type_.dtype, {elements}}) : Literal();
    };
    const std::int64_t rows_at_once = is_matrix_ ? rows_ : most;
    Literal patches = buffer(!is_matrix_, most * count_);
    Literal weights = buffer(!kernel_is_dense_, count_ * features_);
    Literal products = buffer(!out_is_dense_, rows_at_once * features_);
    ir::Poller poller(host);
    for (std::int64_t group = 0; group < groups_; group++) {
      const std::byte* matrix = operands[1];
      if (!kernel_is_dense_) {
        fill_weights(operands[1], group, weights.mutable_bytes());
        matrix = weights.bytes();
      }
      for (std::int64_t row = 0; row < rows_; row += rows_at_once) {
        const std::int64_t rows = std::min(rows_at_once, rows_ - row);
        const std::byte* left = operands[0];
        if (!is_matrix_) {
          fill_patches(operands[0], group, row, rows, patches.mutable_bytes(), poller);
          left = patches.bytes();
        }
        std::byte* to =
            out_is_dense_ ? results[0] + row * features_ * width_ : products.mutable_bytes();
        product_(left, matrix, rows, count_, features_, to, host);
        if (!out_is_dense_) write_rows(products.bytes(), group, row, rows, results[0], poller);
      }
    }
  }

 private:
  struct Side {
    std::int64_t size, stride;
  };

  /// Whether batch, spatial axes and features follow each other in memory in this order.
  static bool is_dense(const std::vector<Side>& sides) {
    std::int64_t stride = sides[1].size;
    bool dense = sides[1].stride == 1 || sides[1].size == 1;
    for (std::size_t i = sides.size(); i-- > 2;) {
      dense &= sides[i].stride == stride || sides[i].size == 1;
      stride *= sides[i].size;
    }
    return dense && (sides[0].stride == stride || sides[0].size == 1);
  }
  /// Whether the spatial axes, input and output features do.
  bool is_dense_kernel() const {
    std::int64_t stride = kernel_[1].size * in_;
    bool dense = (kernel_[1].stride == 1 || kernel_[1].size == 1) &&
                 (kernel_[0].stride == kernel_[1].size || in_ == 1);
    for (std::size_t i = kernel_.size(); i-- > 2;) {
      dense &= kernel_[i].stride == stride || kernel_[i].size == 1;
      stride *= kernel_[i].size;
    }
    return dense;
  }

  /// For each position of the window along an axis and each of its elements the offset in x; -1 for
  /// a gap or padding.
  std::vector<std::int64_t> places_along(std::size_t i, const WindowDims& window,
                                         const ConvolutionAttributes& a) const {
    const std::size_t axis = i - 2;
    std::vector<std::int64_t> places;
    for (std::int64_t o = 0; o < out_[i].size; o++) {
      for (std::int64_t k = 0; k < kernel_[i].size; k++) {
        const std::int64_t position =
            o * a.strides[axis] + k * a.rhs_dilation[axis] - window.padding[axis].first;
        const bool exists = position >= 0 && position % a.lhs_dilation[axis] == 0 &&
                            position / a.lhs_dilation[axis] < x_[i].size;
        places.push_back(exists ? position / a.lhs_dilation[axis] * x_[i].stride : -1);
      }
    }
    return places;
  }

  void fill_weights(const std::byte* kernel, std::int64_t group, std::byte* to) const {
    kernel += group * features_ * kernel_[1].stride * width_;
    fill_weights_along(2, kernel, to);
  }
  void fill_weights_along(std::size_t i, const std::byte* kernel, std::byte*& to) const {
    if (i < kernel_.size()) {
      for (std::int64_t k = 0; k < kernel_[i].size; k++)
        fill_weights_along(i + 1, kernel + k * kernel_[i].stride * width_, to);
      return;
    }
    for (std::int64_t feature = 0; feature < in_; feature++) {
      copy_elements(to, 1, kernel + feature * kernel_[0].stride * width_, kernel_[1].stride,
                    features_, width_);
      to += features_ * width_;
    }
  }

  /// The batch and spatial index of a row.
  std::vector<std::int64_t> index_of(std::int64_t row) const {
    std::vector<std::int64_t> index(out_.size() - 1);
    for (std::size_t i = index.size(); i-- > 0;) {
      const std::int64_t size = out_[i == 0 ? 0 : i + 1].size;
      index[i] = row % size;
      row /= size;
    }
    return index;
  }
  void advance(std::vector<std::int64_t>& index) const {
    for (std::size_t i = index.size(); i-- > 0;) {
      if (++index[i] < out_[i == 0 ? 0 : i + 1].size || i == 0) return;
      index[i] = 0;
    }
  }

  void fill_patches(const std::byte* x, std::int64_t group, std::int64_t row, std::int64_t rows,
                    std::byte* to, ir::Poller& poller) const {
    x +=
        (splits_batch_ ? group * out_[0].size * x_[0].stride : group * in_ * x_[1].stride) * width_;
    std::vector<std::int64_t> index = index_of(row);
    for (std::int64_t i = 0; i < rows; i++) {
      fill_patch_along(0, x + index[0] * x_[0].stride * width_, index, to);
      advance(index);
      poller.did(count_ / 4 + 1);
    }
  }
  void fill_patch_along(std::size_t axis, const std::byte* x,
                        const std::vector<std::int64_t>& index, std::byte*& to) const {
    if (axis == places_.size()) {
      copy_elements(to, 1, x, x_[1].stride, in_, width_);
      to += in_ * width_;
      return;
    }
    const std::int64_t size = kernel_[axis + 2].size;
    const std::int64_t* const places = places_[axis].data() + index[axis + 1] * size;
    std::int64_t inner = in_;  // elements of the window inside one position along this axis
    for (std::size_t i = axis + 1; i < places_.size(); i++) inner *= kernel_[i + 2].size;
    const bool is_last = axis + 1 == places_.size();
    for (std::int64_t k = 0; k < size;) {
      if (places[k] < 0) {
        std::memset(to, 0, static_cast<std::size_t>(inner * width_));
        to += inner * width_;
        k++;
        continue;
      }
      std::int64_t end = k + 1;  // neighbours in memory are copied together
      while (is_last && x_[1].stride == 1 && end < size && places[end] == places[end - 1] + in_ &&
             places[end] >= 0)
        end++;
      if (end - k > 1) {
        copy_elements(to, 1, x + places[k] * width_, 1, (end - k) * in_, width_);
        to += (end - k) * in_ * width_;
      } else {
        fill_patch_along(axis + 1, x + places[k] * width_, index, to);
      }
      k = end;
    }
  }

  void write_rows(const std::byte* products, std::int64_t group, std::int64_t row,
                  std::int64_t rows, std::byte* out, ir::Poller& poller) const {
    out += group * features_ * out_[1].stride * width_;
    std::vector<std::int64_t> index = index_of(row);
    for (std::int64_t i = 0; i < rows; i++) {
      std::int64_t place = index[0] * out_[0].stride;
      for (std::size_t axis = 2; axis < out_.size(); axis++)
        place += index[axis - 1] * out_[axis].stride;
      copy_elements(out + place * width_, out_[1].stride, products + i * features_ * width_, 1,
                    features_, width_);
      advance(index);
      poller.did(features_ / 4 + 1);
    }
  }

  std::int64_t width_;
  TensorType type_;
  MatrixProduct product_;
  std::int64_t groups_, elements_;
  bool splits_batch_;
  // In the order of ConvolutionAttributes.
  std::vector<Side> x_, kernel_, out_;
  std::int64_t in_, features_;  // of one group
  std::int64_t count_, rows_;   // terms of each sum; windows
  std::vector<std::vector<std::int64_t>> places_;
  bool is_matrix_, kernel_is_dense_, out_is_dense_;
};

}  // namespace

std::unique_ptr<ir::Kernel> prepare_convolution(const Node& node) {
  return std::make_unique<ConvolutionKernel>(node);
}

}  // namespace rondo::ops
