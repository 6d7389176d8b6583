// Calls the kernel of a node directly.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/kernel.h"
#include "ir/node.h"
#include "rondo/rondo.h"
#include "support/definition.h"

namespace rondo::testing {

/// For kernels that need no host services.
class NoHost : public ir::Host {
 public:
  ir::RegionCall& region(const Function&) override {
    throw InternalError("this test has no regions");
  }
  void poll() override {}
  void tap(std::string_view, const TensorType&, const std::byte*) override {}
  void print(std::string_view, const TensorType&, const std::byte*) override {}
  void progress(std::int64_t, std::int64_t) override {}
};

/// The result of the op on other values; bit i of `last_uses` says that the result may overwrite
/// input i.
inline Literal call_kernel(const Tensor& made, const std::vector<Literal*>& inputs,
                           std::uint64_t last_uses) {
  const Tensor node = definition_of(made);
  const std::unique_ptr<ir::Kernel> kernel = ir::prepare(*node.node());
  std::vector<const std::byte*> operands;
  for (const Literal* input : inputs) operands.push_back(input->bytes());
  Literal output;
  for (std::size_t i = 0; i < inputs.size() && !output.bytes(); i++) {
    if (((last_uses & kernel->overwrites(0)) >> i & 1) && inputs[i]->unique())
      output = std::move(*inputs[i]).reinterpreted(made.type());
  }
  if (!output.bytes()) output = Literal::uninitialized(made.type());
  std::byte* result = output.mutable_bytes();
  NoHost host;
  kernel->run(operands, {&result, 1}, host);
  return output;
}
inline Literal call_kernel(const Tensor& made, std::vector<Literal>& inputs,
                           std::uint64_t last_uses) {
  std::vector<Literal*> places;
  for (Literal& input : inputs) places.push_back(&input);
  return call_kernel(made, places, last_uses);
}

}  // namespace rondo::testing
