#include "ops/kernels/box_kernel.h"

#include <algorithm>
#include <utility>

#include "ops/support.h"

namespace rondo::ops {

namespace {

class BoxKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  BoxKernel(Box box, std::int64_t from) : box_(std::move(box)), from_(from) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    ir::Poller poller(host);
    box_.copy(results[0], operands[0] + from_, poller);
  }

 private:
  Box box_;
  std::int64_t from_;
};

class FillKernel final : public ir::Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  FillKernel(const Node& node, std::size_t operand)
      : operand_(operand),
        width_(byte_width(node.type().dtype)),
        elements_(node.type().elements()) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    ir::Poller poller(host);
    fill(results[0], operands[operand_], width_, elements_, poller);
  }

 private:
  std::size_t operand_;
  std::int64_t width_, elements_;
};

}  // namespace

std::unique_ptr<ir::Kernel> prepare_box(Box box, std::int64_t from) {
  return std::make_unique<BoxKernel>(std::move(box), from);
}

std::unique_ptr<ir::Kernel> prepare_fill(const ir::Node& node, std::size_t operand) {
  return std::make_unique<FillKernel>(node, operand);
}

void fill(std::byte* to, const std::byte* value, std::int64_t width, std::int64_t count,
          ir::Poller& poller) {
  for_width(width, [&]<class U>() {
    U* next = reinterpret_cast<U*>(to);
    for (std::int64_t left = count; left > 0;) {
      const std::int64_t some = std::min(left, ir::Poller::kBlock);
      next = std::fill_n(next, some, *reinterpret_cast<const U*>(value));
      left -= some;
      poller.did(some);
    }
  });
}

}  // namespace rondo::ops
