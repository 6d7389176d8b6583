// Calls the kernel of a node by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"
#include "ir/node.h"
#include "rondo/rondo.h"

namespace rondo::testing {

/// For kernels that need nothing from outside.
class NoHost : public ir::Host {
 public:
  void call(const Function&, std::span<const Literal>, std::vector<Literal>&) override {
    throw InternalError("this test has no regions");
  }
  void tap(std::string_view, const Literal&) override {}
  void print(std::string_view, const Literal&) override {}
  void progress(std::int64_t, std::int64_t) override {}
};

/// The result of the op on other values; bit i of `last_uses` says that the kernel may take input i
/// for itself.
inline Literal call_kernel(const Tensor& made, std::vector<Literal>& inputs,
                           std::uint64_t last_uses) {
  std::vector<Literal*> places;
  for (Literal& input : inputs) places.push_back(&input);
  Literal output;
  NoHost host;
  ir::KernelCall call(*made.node(), places, last_uses, {&output, 1}, host);
  made.node()->op->kernel(call);
  return output;
}

}  // namespace rondo::testing
