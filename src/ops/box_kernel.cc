#include "ops/box_kernel.h"

#include <algorithm>
#include <utility>

#include "ops/support.h"

namespace rondo::ops {

namespace {

class BoxKernel final : public ir::Kernel {
 public:
  BoxKernel(Box box, std::int64_t from) : box_(std::move(box)), from_(from) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host&) const override {
    box_.copy(results[0], operands[0] + from_);
  }

 private:
  Box box_;
  std::int64_t from_;
};

class FillKernel final : public ir::Kernel {
 public:
  FillKernel(const Node& node, std::size_t operand)
      : operand_(operand),
        width_(byte_width(node.type().dtype)),
        elements_(node.type().elements()) {}
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host&) const override {
    fill(results[0], operands[operand_], width_, elements_);
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

void fill(std::byte* to, const std::byte* value, std::int64_t width, std::int64_t count) {
  for_width(width, [&]<class U>() {
    std::fill_n(reinterpret_cast<U*>(to), count, *reinterpret_cast<const U*>(value));
  });
}

}  // namespace rondo::ops
