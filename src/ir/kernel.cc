#include "ir/kernel.h"

#include "absl/container/inlined_vector.h"
#include "fmt/format.h"

namespace rondo::ir {

namespace {

/// Copies operands whose results have other addresses.
class ForwardingKernel final : public Kernel {
 public:
  std::size_t bytes() const noexcept override { return sizeof(*this); }
  explicit ForwardingKernel(const Node& node) {
    for (const TensorType& type : node.types) bytes_.push_back(type.bytes());
  }
  void run(OperandPlaces operands, ResultPlaces results, Host& host) const override {
    Poller poller(host);
    for (std::size_t i = 0; i < results.size(); i++) {
      if (results[i] != operands[i]) copy_in_blocks(results[i], operands[i], bytes_[i], poller);
    }
  }
  bool forwards() const override { return true; }

 private:
  absl::InlinedVector<std::int64_t, 1> bytes_;
};

}  // namespace

std::unique_ptr<Kernel> prepare_forwarding(const Node& node) {
  return std::make_unique<ForwardingKernel>(node);
}

std::unique_ptr<Kernel> prepare(const Node& node) {
  return node.op->kernel.prepare ? node.op->kernel.prepare(node) : nullptr;
}

void fail_without_kernel(const Node& node) {
  throw ExecutionError(
      fmt::format("{}: no executor can run this op\n  at {}\n  Give its record a kernel, or a rule "
                  "that expands it to ops that have one.",
                  node.op->name, node.location().str()),
      node.location());
}

}  // namespace rondo::ir
