#include "executor/runtime/kernels.h"

#include <utility>

namespace rondo::executor {

namespace {

class NodeKernel final : public lower::Kernel {
 public:
  NodeKernel(const ir::Node& node, std::shared_ptr<const ir::Kernel> kernel, std::size_t operands,
             std::size_t results, std::uint32_t loop)
      : node_(Tensor::of(&node)),
        kernel_(std::move(kernel)),
        place_{std::string(node.op->name), node.location()},
        operands_(operands),
        results_(results),
        loop_(loop) {
    if (!kernel_) ir::fail_without_kernel(node);
  }

  void count_held(HeldBytes& held) const override {
    if (held.shared(this, sizeof(*this))) held.shared(kernel_.get(), kernel_->bytes());
  }
  bool run(std::byte* const* buffers, lower::RunFrame& frame) const noexcept override {
    RunHost& host = *static_cast<RunHost*>(frame.host);
    try {
      if (host.times) host.times->begin(place_);
      kernel_->run({buffers, operands_}, {buffers + operands_, results_}, host);
      if (host.times) host.times->end();
      return true;
    } catch (...) {
      host.failure = std::current_exception();
      frame.failed_loop = loop_;
      return false;
    }
  }

 private:
  Tensor node_;  // which the kernel reads
  std::shared_ptr<const ir::Kernel> kernel_;
  ir::TimedPlace place_;
  std::size_t operands_, results_;
  std::uint32_t loop_;
};

}  // namespace

std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node, std::uint32_t loop) {
  return node_kernel(node, ir::prepare(node), node.operands.size(), node.types.size(), loop);
}

std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node,
                                                 std::shared_ptr<const ir::Kernel> kernel,
                                                 std::size_t operands, std::size_t results,
                                                 std::uint32_t loop) {
  return std::make_shared<NodeKernel>(node, std::move(kernel), operands, results, loop);
}

}  // namespace rondo::executor
