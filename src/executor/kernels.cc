#include "executor/kernels.h"

namespace rondo::executor {

namespace {

class NodeKernel final : public lower::Kernel {
 public:
  NodeKernel(const ir::Node& node, std::uint32_t loop)
      : node_(Tensor::of(&node)), kernel_(ir::prepare(node)), loop_(loop) {
    if (!kernel_) ir::fail_without_kernel(node);
  }

  bool run(std::byte* const* buffers, lower::RunFrame& frame) const noexcept override {
    RunHost& host = *static_cast<RunHost*>(frame.host);
    const ir::Node& node = *node_.node();
    const std::size_t operands = node.operands.size();
    try {
      kernel_->run({buffers, operands}, {buffers + operands, node.types.size()}, host);
      return true;
    } catch (...) {
      host.failure = std::current_exception();
      frame.failed_loop = loop_;
      return false;
    }
  }

 private:
  Tensor node_;
  std::unique_ptr<ir::Kernel> kernel_;
  std::uint32_t loop_;
};

}  // namespace

std::shared_ptr<const lower::Kernel> node_kernel(const ir::Node& node, std::uint32_t loop) {
  return std::make_shared<NodeKernel>(node, loop);
}

}  // namespace rondo::executor
