// Runs a loop over elements in blocks, and loops of f32 on halves.
#include "ops/kernels/elementwise_kernels.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "ir/kernel.h"

namespace rondo::ops {

namespace {

using ElementFunction =
    std::function<void(const std::byte* const* operands, std::byte* result, std::int64_t n)>;

class ElementwiseKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  ElementwiseKernel(const Node& node, ElementFunction loop)
      : loop_(std::move(loop)),
        elements_(node.type().elements()),
        result_width_(byte_width(node.type().dtype)) {
    const DType to = node.type().dtype;
    for (std::size_t i = 0; i < node.operands.size(); i++) {
      const DType dtype = node.operand_type(i).dtype;
      widths_.push_back(byte_width(dtype));
      if (dtype == to || (widths_[i] == result_width_ && !is_pred(to)))
        overwrites_ |= std::uint64_t{1} << i;
    }
  }

  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    // Threshold: Elements between two polls; an element may take a libm call. Not measured.
    constexpr std::int64_t kBlock = ir::Poller::kBlock / 8;
    if (elements_ <= kBlock) return loop_(operands.data(), results[0], elements_);
    absl::InlinedVector<const std::byte*, 3> from(operands.begin(), operands.end());
    std::byte* to = results[0];
    for (std::int64_t left = elements_; left > 0; left -= kBlock) {
      loop_(from.data(), to, std::min(left, kBlock));
      for (std::size_t i = 0; i < from.size(); i++) from[i] += kBlock * widths_[i];
      to += kBlock * result_width_;
      host.poll();
    }
  }
  std::uint64_t overwrites(std::size_t) const override { return overwrites_; }

 private:
  ElementFunction loop_;
  std::int64_t elements_, result_width_;
  absl::InlinedVector<std::int64_t, 3> widths_;
  std::uint64_t overwrites_ = 0;
};

template <class T>
void widen(const std::byte* from, float* to, std::int64_t n) {
  const T* x = reinterpret_cast<const T*>(from);
  for (std::int64_t i = 0; i < n; i++) to[i] = static_cast<float>(x[i]);
}
template <class T>
void round_to(const float* from, std::byte* to, std::int64_t n) {
  T* y = reinterpret_cast<T*>(to);
  for (std::int64_t i = 0; i < n; i++) y[i] = T(from[i]);
}

/// A loop of f32 on operands that are halves.
struct LoopOnHalves {
  ElementLoop loop;
  std::size_t arity;
  std::int64_t result_width;
  void (*widen)(const std::byte* from, float* to, std::int64_t n) = nullptr;
  void (*round)(const float* from, std::byte* to,
                std::int64_t n) = nullptr;  // of a result in halves

  void operator()(const std::byte* const* operands, std::byte* result, std::int64_t n) const {
    // Threshold: Halves that are widened before they are computed: few, so that they stay in the
    // first cache. Not measured.
    constexpr std::int64_t kBlock = 64;
    constexpr std::size_t kMostOperands = 3;
    float x[kMostOperands][kBlock], y[kBlock];
    const std::byte* places[kMostOperands];
    for (std::int64_t at = 0; at < n; at += kBlock, result += kBlock * result_width) {
      const std::int64_t count = std::min(kBlock, n - at);
      for (std::size_t k = 0; k < arity; k++) {
        widen(operands[k] + at * std::int64_t{sizeof(float16)}, x[k], count);
        places[k] = reinterpret_cast<const std::byte*>(x[k]);
      }
      loop(places, round ? reinterpret_cast<std::byte*>(y) : result, count);
      if (round) round(y, result, count);
    }
  }
};

}  // namespace

std::unique_ptr<ir::Kernel> elementwise_kernel(const Node& node, ElementFunction loop) {
  return std::make_unique<ElementwiseKernel>(node, std::move(loop));
}

std::unique_ptr<ir::Kernel> computing_kernel(const Node& node, ElementLoop loop) {
  const DType from = node.operand_type(0).dtype, to = node.type().dtype;
  if (kind_of(from) != kHalves) return elementwise_kernel(node, loop);
  LoopOnHalves on_halves{loop, node.operands.size(), byte_width(to)};
  for_kinds<kHalves>(from, [&]<class T>() { on_halves.widen = widen<T>; });
  if (kind_of(to) == kHalves)
    for_kinds<kHalves>(to, [&]<class T>() { on_halves.round = round_to<T>; });
  return elementwise_kernel(node, on_halves);
}

}  // namespace rondo::ops
