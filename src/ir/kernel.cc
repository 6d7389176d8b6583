#include "ir/kernel.h"

#include "absl/container/inlined_vector.h"
#include "base/memory.h"

namespace rondo::ir {

namespace {

/// A rule on literals as a kernel on places: copies in and out.
class LiteralKernel final : public Kernel {
 public:
  explicit LiteralKernel(const Node& node) : node_(node) {}
  void run(OperandPlaces operands, ResultPlaces results, Host& host) const override {
    std::vector<Literal> inputs, outputs(results.size());
    std::vector<Literal*> places;
    for (std::size_t i = 0; i < operands.size(); i++) {
      inputs.push_back(Literal::uninitialized(node_.operand_type(i)));
      copy_bytes(inputs.back().mutable_bytes(), operands[i], node_.operand_type(i).bytes());
    }
    for (Literal& input : inputs) places.push_back(&input);
    KernelCall call(node_, places, 0, outputs, host);
    node_.op->kernel(call);
    for (std::size_t i = 0; i < results.size(); i++) {
      if (outputs[i].type() != node_.types[i])
        throw ExecutionError("a value of another size than its type says", node_.location());
      copy_bytes(results[i], outputs[i].bytes(), node_.types[i].bytes());
    }
  }

 private:
  const Node& node_;
};

/// Moves operands whose results lie elsewhere.
class ForwardingKernel final : public Kernel {
 public:
  explicit ForwardingKernel(const Node& node) {
    for (const TensorType& type : node.types) bytes_.push_back(type.bytes());
  }
  void run(OperandPlaces operands, ResultPlaces results, Host&) const override {
    for (std::size_t i = 0; i < results.size(); i++) {
      if (results[i] != operands[i]) copy_bytes(results[i], operands[i], bytes_[i]);
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

void Host::call(const Function& called, std::span<const Literal> arguments,
                std::vector<Literal>& results) {
  absl::InlinedVector<const std::byte*, 4> operands;
  for (const Literal& argument : arguments) operands.push_back(argument.bytes());
  results.clear();
  absl::InlinedVector<std::byte*, 2> places;
  for (const TensorType& type : called.results()) results.push_back(Literal::uninitialized(type));
  for (Literal& result : results) places.push_back(result.mutable_bytes());
  region(called).run(operands, places);
}

std::unique_ptr<Kernel> prepare(const Node& node) {
  if (node.op->prepare) return node.op->prepare(node);
  if (node.op->kernel) return std::make_unique<LiteralKernel>(node);
  return nullptr;
}

}  // namespace rondo::ir
