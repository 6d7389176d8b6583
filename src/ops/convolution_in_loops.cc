// Convolutions as loops: for each element of the window, the product of the matrix that it has for
// input and output features with the elements of x that it meets.
#include <algorithm>
#include <numeric>
#include <vector>

#include "ops/convolution.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/linear.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

class ConvolutionLoop {
 public:
  ConvolutionLoop(const Node& node, const Tensor& x, const Tensor& kernel)
      : a_(node.attrs<ConvolutionAttributes>()),
        groups_(std::max(a_.feature_groups, a_.batch_groups)),
        axes_(a_.strides.size()) {
    for (std::size_t i = 0; i < axes_; i++) {
      window_.push_back(kernel.dim(a_.rhs[i + 2]));
      windows_.push_back(node.type().shape[a_.out[i + 2]]);
    }
    kernel_ = kernel_in_groups(kernel);
    x_ = padded(x_in_groups(x));
  }

  Tensor result(const TensorType& type) const {
    const Tensor none(0);
    const std::int64_t in = kernel_.dim(2), out = kernel_.dim(3);
    const auto add = [&](const Tensor& element, const Tensor& sum) {
      const Tensor of_element =
          dynamic_slice(kernel_, {none, element, none, none}, {groups_, 1, in, out});
      const Tensor matrices = reshape(of_element, {groups_, in, out});
      const auto features = static_cast<std::int64_t>(axes_) + 2;
      return sum + in_layout(dot_general(met_by(element), matrices, {{0}, {0}, {features}, {1}}));
    };
    return fori_loop(0, kernel_.dim(1), add, zeros({x_.dtype(), type.shape}),
                     {.name = "convolution"});
  }

 private:
  /// An array with axes (groups, batch, windows …, features of a group) in the layout of the
  /// result.
  Tensor in_layout(const Tensor& made) const {
    // (batch, groups, features of a group, windows …), of which groups and features are one axis.
    std::vector<std::int64_t> order{1, 0, static_cast<std::int64_t>(axes_) + 2};
    for (std::size_t i = 0; i < axes_; i++) order.push_back(static_cast<std::int64_t>(i) + 2);
    const Tensor turned = transpose(made, order);
    std::vector<std::int64_t> dims{turned.dim(0), turned.dim(1) * turned.dim(2)};
    dims.insert(dims.end(), windows_.begin(), windows_.end());
    std::vector<std::int64_t> back(a_.out.size());
    for (std::size_t i = 0; i < back.size(); i++)
      back[static_cast<std::size_t>(a_.out[i])] = static_cast<std::int64_t>(i);
    return transpose(reshape(turned, dims), back);
  }

  /// (groups, elements of the window, input features, output features of a group)
  Tensor kernel_in_groups(const Tensor& kernel) const {
    std::vector<std::int64_t> order(a_.rhs.begin() + 2, a_.rhs.end());
    order.insert(order.end(), a_.rhs.begin(), a_.rhs.begin() + 2);
    const std::int64_t in = kernel.dim(a_.rhs[0]), out = kernel.dim(a_.rhs[1]);
    const std::int64_t elements =
        std::accumulate(window_.begin(), window_.end(), std::int64_t{1}, std::multiplies<>());
    const Tensor split = reshape(transpose(kernel, order), {elements, in, groups_, out / groups_});
    return transpose(split, {2, 0, 1, 3});
  }

  /// (groups, batch, spatial axes …, features of a group)
  Tensor x_in_groups(const Tensor& x) const {
    std::vector<std::int64_t> order(a_.lhs.begin() + 2, a_.lhs.end());
    order.insert(order.end(), a_.lhs.begin(), a_.lhs.begin() + 2);
    const Tensor last = transpose(x, order);
    const std::int64_t batch = x.dim(a_.lhs[0]), features = x.dim(a_.lhs[1]);
    std::vector<std::int64_t> dims(last.shape().begin(), last.shape().end() - 2);
    const auto spatial = static_cast<std::int64_t>(axes_);
    const bool of_batch = a_.batch_groups > 1;
    if (of_batch)
      dims.insert(dims.end(), {groups_, batch / groups_, features});
    else
      dims.insert(dims.end(), {batch, groups_, features / groups_});
    std::vector<std::int64_t> to(static_cast<std::size_t>(spatial));
    std::iota(to.begin(), to.end(), std::int64_t{0});
    to.insert(to.begin(), {of_batch ? spatial : spatial + 1, of_batch ? spatial + 1 : spatial});
    to.push_back(spatial + 2);
    return transpose(reshape(last, dims), to);
  }

  Tensor padded(const Tensor& x) const {
    std::vector<std::int64_t> low(axes_ + 3, 0), high = low, interior = low;
    for (std::size_t i = 0; i < axes_; i++) {
      low[i + 2] = a_.padding[i].first;
      high[i + 2] = a_.padding[i].second;
      interior[i + 2] = a_.lhs_dilation[i] - 1;
    }
    return pad(x, 0, low, high, interior);
  }

  /// The elements of x that this element of the window meets, one in each window.
  Tensor met_by(const Tensor& element) const {
    std::vector<Tensor> starts(axes_ + 3, Tensor(0));
    std::vector<std::int64_t> sizes = x_.shape().vector(), from(axes_ + 3, 0),
                              strides(axes_ + 3, 1);
    Tensor left = element;
    for (std::size_t i = axes_; i-- > 0;) {
      starts[i + 2] = left % window_[i] * a_.rhs_dilation[i];
      left = left / window_[i];
      sizes[i + 2] = (windows_[i] - 1) * a_.strides[i] + 1;
      strides[i + 2] = a_.strides[i];
    }
    return slice(dynamic_slice(x_, starts, sizes), from, sizes, strides);
  }

  const ConvolutionAttributes& a_;
  std::int64_t groups_;
  std::size_t axes_;                            // spatial ones
  std::vector<std::int64_t> window_, windows_;  // sizes of the window, and how many there are
  Tensor x_, kernel_;
};

}  // namespace

std::vector<Tensor> convolution_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const TensorType& type = node.type();
  if (type.elements() == 0 || operands[0].type().elements() == 0 ||
      operands[1].type().elements() == 0)
    return {zeros(type)};
  const bool is_half = is_floating(type.dtype) && byte_width(type.dtype) == 2;
  const auto widened = [&](const Tensor& x) { return is_half ? convert(x, DType::kF32) : x; };
  const ConvolutionLoop loop(node, widened(operands[0]), widened(operands[1]));
  const Tensor made = loop.result(type);
  return {is_half ? convert(made, type.dtype) : made};
}

}  // namespace rondo::ops
